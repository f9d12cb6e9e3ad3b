// Guest memory: the two views of a page with breakpoints, the trampolines, and stores at
// full speed.
//
// Quirks of 2.0.1 that are answered here:
//  - A page that holds no code is still on the slow store path; has_code says which do.
//  - Reads and writes ask memory_mapping about the virtual address; the answer is always
//    the one region.
#include "stepper.h"

// A fetch through the kernel's mapping sees the page with breakpoints. A TLB entry has one
// address for all kinds of access, so the entry is for fetches alone, and that of a data
// access is for data alone: each evicts the other.
static bool fill_text(struct tl_cpu *c, struct tl_page *p, uint64_t va, uint32_t attrs, int mmu) {
  if (va != p->va) { // another mapping of the same page, as in early boot: the guest's bytes
    if (!p->stale) // otherwise it may have become something else
      tl_hook_alias(c, p, va);
    return false;
  }
  if (c->m->hooks.fire) {
    p->fetched &= ~tl_bit(c); // one entry for all kinds of access
    return false;
  }
  if (p->stale)
    tl_resync(c, p);
  p->fetched |= tl_bit(c);
  uint64_t pa = c->m->breaks.inplace ? c->m->ram_base + p->pa : c->m->aux_pa + (uint64_t)(p->text - c->m->aux);
  tl_lib.set_page(c->cs, va, pa, attrs, PROT_X, mmu, TL_PAGE);
  return true;
}

// Stores to a page with breakpoints need not be noticed while its text is stale anyway and
// nothing was translated from it: a page of init text that the guest has freed.
static bool unread(struct tl_machine *m, struct tl_page *p) {
  return p->stale && !tl_has_code(m, p->text_ra);
}

void tl_set_page(struct tl_cpu *c, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu, uint64_t size) {
  struct tl_machine *m = c->m;
  c->tlb.made++;
  if (m->t->translate) {
    uint64_t true_pa = m->t->translate(c, va);
    if (true_pa != TL_NOT_MAPPED)
      pa = true_pa;
  }
  // The library flushes everything of a mode when a page within a large one is to go. In the
  // kernel's half that must not be: tl_page_stored lets a page go in the middle of a store
  // to another. Kernels flush their own mappings page by page; users' large ones they do not.
  // (single_pages: a riscv64 kernel in the lower half, without firmware. Any flush is of all.)
  if (va >> 63 || c->tlb.single_pages)
    size = TL_PAGE;
  va &= ~(TL_PAGE - 1);
  pa &= ~(TL_PAGE - 1);
  uint64_t ra = pa - m->ram_base;
  struct tl_page *p = tl_page_at(m, ra);
  if (p) {
    if (c->tlb.filling == 1 + TL_FETCH && fill_text(c, p, va, attrs, mmu))
      return;
    if (c->tlb.filling != 1 + TL_FETCH) {
      if (va == p->va)
        p->fetched &= ~tl_bit(c);
      prot &= ~PROT_X;
    }
  }
  if (c->step && (prot & PROT_W) && ra < m->ram_size)
    tl_step_page(c, m->ram + ra);
  tl_lib.set_page(c->cs, va, pa, attrs, prot, mmu, size);
  if ((prot & PROT_W) && ra < m->ram_size && !tl_has_code(m, ra) && (!p || unread(m, p)))
    tl_lib.set_dirty(c->cs, va);
}

// The library looks for a translation.
static bool fill(struct tl_cpu *c, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  struct tl_machine *m = c->m;
  if (access == TL_FETCH && tl_in_slots(&m->slots, va) && (m->t->kernel_mmu >> mmu & 1) && m->breaks.n) {
    uint64_t page = va & ~(TL_PAGE - 1);
    tl_lib.set_page(c->cs, page, m->aux_pa + (page - m->slots.base), 0, PROT_X, mmu, TL_PAGE);
    return true;
  }
  if (TL_UNLIKELY(c->step) && tl_step_fill(c, va, access, mmu))
    return true;
  // A fault longjmps out of the library: filling is then still set in the hook.
  c->tlb.filling = 1 + access;
  bool ok = tl_lib.tlb_fill(c->cs, va, size, access, mmu, probe, ra);
  c->tlb.filling = 0;
  return ok;
}

// What each target has in the place of the library's tlb_fill.
bool tl_fill(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  struct tl_cpu *c = tl_by_cs(cs);
  return c && c->live ? fill(c, va, size, access, mmu, probe, ra) : tl_lib.tlb_fill(cs, va, size, access, mmu, probe, ra);
}

void *memory_mapping(void *uc, uint64_t va) {
  struct tl_cpu *c = tl_by_uc(uc);
  return c && c->live ? c->region : tl_lib.memory_mapping(uc, va);
}

// The guest is about to store to a page that holds code, or to one with breakpoints.
void tl_store_to_text(struct tl_cpu *c, void *pages, uint64_t ra, int len, uintptr_t retaddr) {
  struct tl_page *p = tl_page_at(c->m, ra);
  if (!p)
    return;
  // First, because it may leave the block when that stores to its own code.
  uint64_t copy = p->text_ra + (ra & (TL_PAGE - 1));
  if (!c->m->breaks.inplace) {
    tl_stored_elsewhere(c, pages, copy, len);
    tl_lib.page_stored(c->uc, pages, copy, len, retaddr);
  }
  tl_page_stored(c, p);
}
