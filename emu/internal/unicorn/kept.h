// Translations that are kept from one process to the next (kept.c, kept_make.c).
#ifndef TL_KEPT_H
#define TL_KEPT_H

#include "base.h"

#define TL_STORE_SIZE (128ull << 20) // bytes at most
#define TL_KEPT_IDENTITY 160               // bytes that tl_kept_identity needs

struct tl_kept;
struct tl_store;

// What a CPU needs to use kept translations, and to make others.
struct tl_keep {
  const uint8_t *library, *library_end; // where it lies
  bool near;       // all of it can be named by 32 bits in translated code
  bool never;      // the guest can change what never changes on other CPUs
  uint64_t placed; // translations that were kept, and have been used

  // The block under translation.
  int max;                     // instructions, at most
  const struct tl_kept *found; // NULL: there is none
  bool learning;               // and may be kept
  uint64_t read;               // the end of the guest's code that has been read
};

// The translations of a machine.
struct tl_keeping {
  struct tl_store *store; // NULL: none are kept
  bool checking;          // they are not used but compared with what is translated
  uint64_t differing, differs_at; // how many were not the same, and where the first is
};

static inline void tl_keep_never(struct tl_keep *k) { k->never = true; }
static inline void tl_check_kept(struct tl_keeping *k) { k->checking = true; }

uint8_t *tl_keep_open(struct tl_machine *m, uint64_t n);
uint8_t *tl_kept_all(const struct tl_machine *m);
bool tl_kept_load(struct tl_cpu *c, uint64_t n);
void tl_keep_close(struct tl_machine *m);
uint64_t tl_kept_blocks(const struct tl_machine *m);
uint64_t tl_kept_bytes(const struct tl_machine *m);
void tl_kept_identity(char *text);
void tl_keep_locate(struct tl_cpu *c);
bool tl_kept_find(struct tl_cpu *c, struct tl_block *b, int max);
int tl_kept_code(void *translator, struct tl_block *b);
void tl_keep_read(uint64_t end);
void tl_keep_skip(void);

#endif
