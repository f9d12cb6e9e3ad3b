// What the engines of a machine know of each other's code (coherence.c).
#ifndef TL_COHERENCE_H
#define TL_COHERENCE_H

#include "breaks.h"

struct tl_code {
  uint8_t *engines; // by page of the library's RAM: set of engines that have translated code from it
  uint64_t pages;
  uint64_t marked;  // times that translation has marked one
};

bool tl_code_open(struct tl_machine *m);
void tl_code_close(struct tl_machine *m);
bool tl_has_code(const struct tl_machine *m, uint64_t ra);
void tl_protect_code(struct tl_cpu *c, uint64_t ra);
void tl_unprotect_code(struct tl_cpu *c, uint64_t ra);
void tl_no_code(struct tl_cpu *c);
void tl_invalidate(struct tl_machine *m, uint64_t from, uint64_t to);
void tl_notice_stores(struct tl_machine *m, uint64_t ra);
void tl_flush_tlbs(struct tl_machine *m);
void tl_forget_fetches(struct tl_machine *m, struct tl_page *p);
void tl_stored_elsewhere(struct tl_cpu *storing, void *pages, uint64_t ra, int len);

#endif
