// Where trampolines lie, whose they are, and where the guest is that runs in one.
//
// They may be shared, as a live tracer has them that keeps one for each thread: what is in a slot, and
// whose it is, is decided at each hit. They hide nothing then. To the clock and to exceptions they are
// code of the guest's like any other, so it takes interrupts in them, and its handlers see their
// addresses. What then goes wrong is what they are for (docs/trampolines.md).
#include "library.h"

#include <string.h>

static uint64_t index_bytes(const struct tl_slots *s) { return (s->size >> s->shift) * sizeof *s->id; }

bool tl_slots_open(struct tl_machine *m) {
  struct tl_slots *s = &m->slots;
  s->size = s->hidden = TL_SLOTS_SIZE;
  s->shift = m->t->slot_shift;
  return (s->id = tl_reserve(index_bytes(s)));
}

void tl_slots_close(struct tl_machine *m) { tl_release(m->slots.id, index_bytes(&m->slots)); }

void tl_place_slots(struct tl_machine *m, uint64_t base) { m->slots.base = base; }

// slot, 0 for none, belongs to the breakpoint with that id, 0 for none.
void tl_own_slot(struct tl_machine *m, uint64_t slot, uint32_t id) {
  if (slot && m->slots.hidden)
    *tl_slot_owner(&m->slots, slot) = id;
}

// Where the guest would be, had it not been displaced: the probe as long as the
// displaced instruction has not been completed, the next instruction after that.
uint64_t tl_canonical(struct tl_cpu *c, uint64_t pc) {
  const struct tl_slots *s = &c->m->slots;
  struct tl_break *b;
  if (TL_LIKELY(!tl_in_hidden_slots(s, pc)) || !(b = tl_slot_break(c->m, pc)))
    return pc;
  return tl_slot_offset(s, pc) ? b->addr + b->len : b->addr;
}

void tl_write_slots(struct tl_machine *m, uint64_t addr, const uint8_t *code, uint64_t n) {
  uint64_t at = addr - m->slots.base;
  if (!memcmp(m->aux + at, code, n))
    return;
  memcpy(m->aux + at, code, n);
  tl_invalidate(m, m->aux_ra + at, m->aux_ra + at + n);
}

// Only before the first breakpoint.
void tl_share_slots(struct tl_machine *m) { m->slots.hidden = 0; }

// The hit under way, of the breakpoint at addr, goes on in slot, whose owner it becomes. It stays
// the owner of others that it had, where other threads may be. Nothing if it has been cleared.
void tl_use_slot(struct tl_machine *m, uint64_t addr, uint64_t slot) {
  struct tl_break *b = tl_find_break(m, addr);
  if (!b)
    return;
  b->slot = slot;
  *tl_slot_owner(&m->slots, slot) = (uint32_t)(b - m->breaks.all) + 1;
}
