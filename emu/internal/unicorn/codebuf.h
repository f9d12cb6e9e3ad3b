// The buffer of translated code of a CPU (codebuf.c).
#ifndef TL_CODEBUF_H
#define TL_CODEBUF_H

#include "base.h"

struct tl_codebuf {
  unsigned long size; // bytes that it is to have, 0 for what the library wants
  bool making;        // the library is about to map it
  void *tcg;          // the library's TCGContext, once it has translated something
  void *first;        // the first block
  bool flushed;       // it has been flushed once
  uint64_t flushes;
};

static inline void tl_codebuf_size(struct tl_codebuf *b, unsigned long size) { b->size = size; }

void tl_codebuf_make(void *uc, unsigned long size);
void *tl_codebuf_first(void *tcg, void *tb);
void tl_codebuf_flushed(struct tl_cpu *c);

#endif
