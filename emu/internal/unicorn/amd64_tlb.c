// Guest memory: the page tables of the guest, the two views of a page with breakpoints,
// the trampolines, and stores at full speed.
//
// Quirks of 2.0.1 that are answered here:
//  - The x86 MMU walks the guest's tables for rights and then forces paddr = vaddr. The
//    true address is looked up again when the entry is made.
//  - A page that holds no code is still on the slow store path; has_code says which do.
//  - Reads and writes ask memory_mapping about the virtual address; the answer is always
//    the one region.
#include "amd64.h"
#include "library.h"

#define PTE_PRESENT 1ull
#define PTE_LARGE 0x80ull
#define PTE_FRAME 0x000ffffffffff000ull
#define NOT_MAPPED (~0ull)

enum { ACCESS_LOAD, ACCESS_STORE, ACCESS_FETCH };
enum { PROT_R = 1, PROT_W = 2, PROT_X = 4 };
enum { MMU_USER = 1 };

static uint64_t entry(struct tl_machine *m, uint64_t table, unsigned index) {
  uint64_t pa = table + index * 8;
  return pa + 8 <= m->ram_size ? *(uint64_t *)(m->ram + pa) : 0;
}

// SDM vol. 3, 4.5: four-level paging. The library has checked rights and set A and D.
static uint64_t translate(struct tl_cpu *c, uint64_t va) {
  uint64_t table = c->env->cr[3] & PTE_FRAME;
  if (!(c->env->cr[0] >> 31))
    return va;
  for (int level = 3; level >= 0; level--) {
    unsigned shift = 12 + 9 * level;
    uint64_t e = entry(c->m, table, va >> shift & 511);
    if (!(e & PTE_PRESENT))
      return NOT_MAPPED;
    table = e & PTE_FRAME;
    if (level && level < 3 && (e & PTE_LARGE)) {
      uint64_t within = (1ull << shift) - 1;
      return (table & ~within) | (va & within);
    }
  }
  return table | (va & (TL_PAGE - 1));
}

// The word of guest memory at va, NULL if it is not mapped or not aligned.
uint64_t *tl_amd64_word(struct tl_cpu *c, uint64_t va) {
  uint64_t pa = va & 7 ? NOT_MAPPED : translate(c, va);
  return pa < c->m->ram_size ? (uint64_t *)(c->m->ram + pa) : NULL;
}

static struct tl_page *split_page(struct tl_machine *m, uint64_t pa) {
  uint32_t i = pa < m->ram_size ? m->page_by_pa[pa / TL_PAGE] : 0;
  return i ? &m->pages[i - 1] : NULL;
}

// A fetch through the kernel's mapping sees the page with breakpoints. A TLB entry has one
// address for all kinds of access, so the entry is for fetches alone, and that of a data
// access is for data alone: each evicts the other.
static bool fill_text(struct tl_cpu *c, struct tl_page *p, uint64_t va, uint32_t attrs, int mmu) {
  if (va != p->va)
    return false; // another mapping of the same page, as in early boot: the guest's bytes
  if (p->stale)
    tl_resync(c, p);
  p->exec_va = va;
  uint64_t pa = c->m->inplace ? p->pa : c->m->aux_pa + (uint64_t)(p->text - c->m->aux);
  tl_lib.set_page(c->cs, va, pa, attrs, PROT_X, mmu, TL_PAGE);
  return true;
}

// Stores to a page with breakpoints need not be noticed while its text is stale anyway and
// nothing was translated from it: a page of init text that the guest has freed.
static bool unread(struct tl_machine *m, struct tl_page *p) {
  return p->stale && !m->has_code[p->text_ra / TL_PAGE];
}

void TL_AMD64(tlb_set_page_with_attrs)(void *cs, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu,
                                       uint64_t size) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (!c || !c->m->live) {
    tl_lib.set_page(cs, va, pa, attrs, prot, mmu, size);
    return;
  }
  uint64_t true_pa = translate(c, va);
  if (true_pa != NOT_MAPPED)
    pa = true_pa;
  va &= ~(TL_PAGE - 1);
  pa &= ~(TL_PAGE - 1);
  struct tl_page *p = split_page(c->m, pa);
  if (p) {
    if (c->filling == 1 + ACCESS_FETCH && fill_text(c, p, va, attrs, mmu))
      return;
    if (c->filling != 1 + ACCESS_FETCH) {
      if (p->exec_va == va)
        p->exec_va = 0;
      prot &= ~PROT_X;
    }
  }
  tl_lib.set_page(cs, va, pa, attrs, prot, mmu, TL_PAGE);
  if ((prot & PROT_W) && pa < c->m->ram_size && !c->m->has_code[pa / TL_PAGE] && (!p || unread(c->m, p)))
    tl_lib.set_dirty(cs, va);
}

bool TL_AMD64(x86_cpu_tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (!c || !c->m->live)
    return tl_lib.tlb_fill(cs, va, size, access, mmu, probe, ra);
  struct tl_machine *m = c->m;
  if (access == ACCESS_FETCH && va - m->slot_base < m->slot_size && mmu != MMU_USER && m->nbreaks) {
    uint64_t page = va & ~(TL_PAGE - 1);
    tl_lib.set_page(cs, page, m->aux_pa + (page - m->slot_base), 0, PROT_X, mmu, TL_PAGE);
    return true;
  }
  // A fault longjmps out of the library: filling is then still set in the hook.
  c->filling = 1 + access;
  bool ok = tl_lib.tlb_fill(cs, va, size, access, mmu, probe, ra);
  c->filling = 0;
  return ok;
}

void *memory_mapping(void *uc, uint64_t va) {
  struct tl_cpu *c = tl_by_uc(uc);
  return c && c->m->live ? c->m->region : tl_lib.memory_mapping(uc, va);
}

void TL_AMD64(tlb_protect_code)(void *uc, uint64_t ra) {
  struct tl_cpu *c = tl_by_uc(uc);
  if (!c)
    return;
  if (ra / TL_PAGE < c->m->pages_of_ram)
    c->m->has_code[ra / TL_PAGE] = 1;
  if (ra < c->m->ram_size)
    tl_lib.reset_dirty(c->cs, (uint64_t)c->m->ram + (ra & ~(TL_PAGE - 1)), TL_PAGE);
}

void TL_AMD64(tlb_unprotect_code)(void *uc, uint64_t ra) {
  struct tl_cpu *c = tl_by_uc(uc);
  if (c && ra / TL_PAGE < c->m->pages_of_ram)
    c->m->has_code[ra / TL_PAGE] = 0;
}

// The guest is about to store to a page that holds code, or to one with breakpoints.
void TL_AMD64(tb_invalidate_phys_page_fast)(void *uc, void *pages, uint64_t ra, int len, uintptr_t retaddr) {
  struct tl_cpu *c = tl_by_uc(uc);
  struct tl_page *p = c && c->m->live ? split_page(c->m, ra) : NULL;
  if (p) {
    // First, because it may leave the block when that stores to its own code.
    if (!c->m->inplace)
      tl_lib.page_stored(uc, pages, p->text_ra + (ra & (TL_PAGE - 1)), len, retaddr);
    tl_page_stored(c, p);
  }
  tl_lib.page_stored(uc, pages, ra, len, retaddr);
}
