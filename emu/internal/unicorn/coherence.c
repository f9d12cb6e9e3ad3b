// Several engines, one memory. What one of them stores, all execute: translated code, and the
// TLB entries that let a store pass unseen, are dropped in every engine that has them.
//
// One engine runs at a time, in one thread. The others stand between two blocks, with nothing of
// theirs on the host's stack, so that they can be operated on from the one that runs.
//
// tl_code.engines has a bit for each engine. A store is fast where no bit is set; where one
// is, the store is also one of the others (tl_stored_elsewhere).
#include "library.h"

#define EACH_CPU(m, c) \
  for (struct tl_cpu **at = (m)->cpus, *c; at < (m)->cpus + (m)->ncpus && (c = *at); at++)

bool tl_code_open(struct tl_machine *m) {
  m->code.pages = (m->ram_size + m->aux_size) / TL_PAGE;
  return (m->code.engines = tl_reserve(m->code.pages));
}

void tl_code_close(struct tl_machine *m) { tl_release(m->code.engines, m->code.pages); }

// Reports whether there are translations of the page at ra, the library's ram_addr.
bool tl_has_code(const struct tl_machine *m, uint64_t ra) { return m->code.engines[ra / TL_PAGE]; }

// c has translated code from the page at ra.
void tl_protect_code(struct tl_cpu *c, uint64_t ra) {
  struct tl_machine *m = c->m;
  m->code.marked++;
  if (ra / TL_PAGE >= m->code.pages)
    return;
  uint8_t *have = &m->code.engines[ra / TL_PAGE];
  if (!*have && ra < m->ram_size)
    tl_notice_stores(m, ra);
  *have |= tl_bit(c);
}

// c has no code from there any more.
void tl_unprotect_code(struct tl_cpu *c, uint64_t ra) {
  if (ra / TL_PAGE < c->m->code.pages)
    c->m->code.engines[ra / TL_PAGE] &= ~tl_bit(c);
}

// Drop what was translated from the library's ram_addr [from, to).
void tl_invalidate(struct tl_machine *m, uint64_t from, uint64_t to) {
  EACH_CPU(m, c)
    tl_lib.invalidate(c->uc, from, to);
}

// Have stores to a page of RAM noticed, ra being an address on it.
void tl_notice_stores(struct tl_machine *m, uint64_t ra) {
  EACH_CPU(m, c)
    tl_lib.reset_dirty(c->cs, (uint64_t)m->ram + (ra & ~(TL_PAGE - 1)), TL_PAGE);
}

void tl_flush_tlbs(struct tl_machine *m) {
  EACH_CPU(m, c)
    tl_lib.flush_tlb(c->cs);
}

// No engine fetches from p by an entry that it has.
void tl_forget_fetches(struct tl_machine *m, struct tl_page *p) {
  EACH_CPU(m, c)
    if (p->fetched & tl_bit(c))
      tl_lib.flush_page(c->cs, p->va);
  p->fetched = 0;
}

// c is about to store to [ra, ra + len), on a page of which others may have code.
void tl_stored_elsewhere(struct tl_cpu *storing, void *pages, uint64_t ra, int len) {
  struct tl_machine *m = storing->m;
  uint8_t have = ra / TL_PAGE < m->code.pages ? m->code.engines[ra / TL_PAGE] : 0;
  EACH_CPU(m, c)
    if (c != storing && (have & tl_bit(c)))
      tl_lib.page_stored(c->uc, pages, ra, len, 0);
}

// c has no translated code any more.
void tl_no_code(struct tl_cpu *c) {
  for (uint64_t i = 0; i < c->m->code.pages; i++)
    c->m->code.engines[i] &= ~tl_bit(c);
}
