// How a CPU translates addresses (tlb.c).
#ifndef TL_TLB_H
#define TL_TLB_H

#include "base.h"

enum { TL_LOAD, TL_STORE, TL_FETCH };

struct tl_tlb {
  uint8_t filling;   // 1 + access type of the fill under way, 0 for none
  bool single_pages; // large pages are entered page by page everywhere
  uint64_t made;     // entries
};

// A fault leaves the library in the middle of a fill. Ends that, and reports whether it was for
// a fetch: then there is no instruction under way.
static inline bool tl_end_fill(struct tl_tlb *t) {
  bool fetching = t->filling == 1 + TL_FETCH;
  t->filling = 0;
  return fetching;
}

static inline void tl_use_single_pages(struct tl_tlb *t) { t->single_pages = true; }

void tl_set_page(struct tl_cpu *c, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu, uint64_t size);
bool tl_fill(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra);
void tl_store_to_text(struct tl_cpu *c, void *pages, uint64_t ra, int len, uintptr_t retaddr);

#endif
