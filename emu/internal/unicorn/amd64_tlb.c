// The page tables of an amd64 guest, and the functions of the library that are replaced
// for every architecture.
//
// A quirk of 2.0.1: the x86 MMU walks the guest's tables for rights and then forces paddr =
// vaddr. The true address is looked up again when a TLB entry is made.
#include "amd64.h"
#include "stepper.h"
#define TARGET(f) TL_AMD64(f)
#include "replaced.h"

#include <string.h>

#define PTE_PRESENT 1ull
#define PTE_LARGE 0x80ull
#define PTE_FRAME 0x000ffffffffff000ull

static uint64_t entry(struct tl_machine *m, uint64_t table, unsigned index) {
  uint64_t pa = table + index * 8;
  return pa + 8 <= m->ram_size ? *(uint64_t *)(m->ram + pa) : 0;
}

// SDM vol. 3, 4.5: four-level paging. The library has checked rights and set A and D.
uint64_t tl_amd64_translate(struct tl_cpu *c, uint64_t va) {
  struct tl_amd64_env *e = c->env;
  uint64_t table = e->cr[3] & PTE_FRAME;
  if (!(e->cr[0] >> 31))
    return va;
  for (int level = 3; level >= 0; level--) {
    unsigned shift = 12 + 9 * level;
    uint64_t pte = entry(c->m, table, va >> shift & 511);
    if (!(pte & PTE_PRESENT))
      return TL_NOT_MAPPED;
    table = pte & PTE_FRAME;
    if (level && level < 3 && (pte & PTE_LARGE)) {
      uint64_t within = (1ull << shift) - 1;
      return (table & ~within) | (va & within);
    }
  }
  return table | (va & (TL_PAGE - 1));
}

static uint8_t *host(struct tl_cpu *c, uint64_t va) {
  uint8_t *p;
  if (tl_step_window(c, va, &p))
    return p;
  uint64_t pa = tl_amd64_translate(c, va);
  return pa < c->m->ram_size ? c->m->ram + pa : NULL;
}

// Put v, of n bytes, in the place of what is at va, on one page.
static uint64_t exchange(struct tl_cpu *c, uint64_t va, uint64_t v, unsigned n) {
  uint64_t was = 0;
  uint8_t *p = host(c, va);
  if (p) { // otherwise a device: there is nothing to read back
    memcpy(&was, p, n);
    memcpy(p, &v, n);
  }
  return was;
}

// Put v in the place of the word at va, which the guest has just stored there.
uint64_t tl_amd64_exchange(struct tl_cpu *c, uint64_t va, uint64_t v) {
  unsigned room = TL_PAGE - (va & (TL_PAGE - 1)), here = room < sizeof v ? room : sizeof v;
  uint64_t was = exchange(c, va, v, here);
  if (here < sizeof v)
    was |= exchange(c, va + here, v >> 8 * here, sizeof v - here) << 8 * here;
  return was;
}

bool TL_AMD64(x86_cpu_tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  return tl_fill(cs, va, size, access, mmu, probe, ra);
}
