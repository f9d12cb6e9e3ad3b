// Devices in memory: everything in the guest-physical address space below the trampolines
// that is not RAM. What is where, and what is nowhere, the Go side knows.
//
// Nothing may stop or leave the block from here: the library would begin it again, with
// all its side effects. A device that raises its line lowers trig, and the start of the
// next block sees it.
#include "library.h"

// The exact time of the access under way. The library keeps the host's address of it in a
// word of CPUState, which is found at the first access: it is the one by which the
// guest's state can be restored.
static void note_time(struct tl_cpu *c) {
  uintptr_t *w = c->io_pc, *tail = (uintptr_t *)(c->cs + TL_CS_TAIL), *end = (uintptr_t *)(c->cs + TL_CS_END);
  if (w)
    tl_lib.restore_state(c->cs, *w, false);
  else
    for (w = tail; w < end && !c->io_pc; w++)
      if (*w && tl_lib.restore_state(c->cs, *w, false))
        c->io_pc = w;
  c->now = tl_exact(c, *c->pc);
}

static uint64_t load(struct tl_cpu *c, uint64_t pa, unsigned size) {
  note_time(c);
  return tlGoLoad(c->id, pa, size);
}

static void store(struct tl_cpu *c, uint64_t pa, unsigned size, uint64_t v) {
  note_time(c);
  tlGoStore(c->id, pa, size, v);
}

static uint64_t load_low(uc_engine *uc, uint64_t offset, unsigned size, void *cpu) {
  (void)uc;
  return load(cpu, offset, size);
}

static void store_low(uc_engine *uc, uint64_t offset, unsigned size, uint64_t v, void *cpu) {
  (void)uc;
  store(cpu, offset, size, v);
}

static uint64_t load_high(uc_engine *uc, uint64_t offset, unsigned size, void *cpu) {
  struct tl_machine *m = ((struct tl_cpu *)cpu)->m;
  (void)uc;
  return load(cpu, m->ram_base + m->ram_size + offset, size);
}

static void store_high(uc_engine *uc, uint64_t offset, unsigned size, uint64_t v, void *cpu) {
  struct tl_machine *m = ((struct tl_cpu *)cpu)->m;
  (void)uc;
  store(cpu, m->ram_base + m->ram_size + offset, size, v);
}

// NULL, or what went wrong. A machine with RAM at 0 has no devices in memory.
const char *tl_mmio(struct tl_cpu *c) {
  struct tl_machine *m = c->m;
  uint64_t top = m->ram_base + m->ram_size;
  if (!m->ram_base)
    return NULL;
  if (uc_mmio_map(c->uc, 0, m->ram_base, load_low, c, store_low, c) ||
      uc_mmio_map(c->uc, top, m->aux_pa - top, load_high, c, store_high, c))
    return "it does not map the devices";
  return NULL;
}
