// Devices in memory: everything in the guest-physical address space below the trampolines
// that is not RAM. What is where, and what is nowhere, the Go side knows.
//
// Nothing may stop or leave the block from here: the library would begin it again, with
// all its side effects. A device that raises its line lowers tl_clock.due, and the start of the
// next block sees it.
#include "library.h"

// The exact time of the access under way. A fetch is none of an instruction's: it comes between two
// blocks, for the translation of the next.
static void note_time(struct tl_cpu *c) {
  uintptr_t host = *(uintptr_t *)(c->cs + TL_CS_IO_PC);
  if (host)
    tl_lib.restore_state(c->cs, host, false);
  tl_callback_at(&c->clock, host ? tl_exact(c, tl_address(c)) : c->clock.ns);
}

static uint64_t load(struct tl_cpu *c, uint64_t pa, unsigned size) {
  note_time(c);
  if (!c->run.trying)
    return tlGoLoad(c->id, pa, size);
  tl_tried_access(&c->run, c->clock.now);
  return 0;
}

static void store(struct tl_cpu *c, uint64_t pa, unsigned size, uint64_t v) {
  note_time(c);
  if (!c->run.trying)
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

static const char *mapped(int err) { return err ? "it does not map the devices" : NULL; }

// Devices above RAM. NULL, or what went wrong.
const char *tl_mmio_above(struct tl_cpu *c) {
  struct tl_machine *m = c->m;
  uint64_t top = m->ram_base + m->ram_size;
  return mapped(uc_mmio_map(c->uc, top, m->aux_pa - top, load_high, c, store_high, c));
}

// Devices around RAM. Where RAM is at 0 there are none, unless tl_mmio_above is asked for them.
const char *tl_mmio(struct tl_cpu *c) {
  struct tl_machine *m = c->m;
  if (!m->ram_base)
    return NULL;
  const char *err = mapped(uc_mmio_map(c->uc, 0, m->ram_base, load_low, c, store_low, c));
  return err ? err : tl_mmio_above(c);
}
