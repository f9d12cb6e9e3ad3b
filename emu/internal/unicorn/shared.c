// Trampolines that breakpoints share, as a live tracer has them that keeps one for each thread:
// what is in a slot, and whose it is, is decided at each hit. They hide nothing. To the clock and
// to exceptions they are code of the guest's like any other, so it takes interrupts in them, and its
// handlers see their addresses. What then goes wrong is what they are for (docs/trampolines.md).
#include "shim.h"

// Only before the first breakpoint.
void tl_share_slots(struct tl_machine *m) { m->hidden = 0; }

// The hit under way, of the breakpoint at addr, goes on in slot, whose owner it becomes. It stays
// the owner of others that it had, where other threads may be. Nothing if it has been cleared.
void tl_use_slot(struct tl_machine *m, uint64_t addr, uint64_t slot) {
  struct tl_page *p = tl_page_of(m, addr);
  struct tl_break *b = p ? tl_break_on(m, p, addr) : NULL;
  if (!b)
    return;
  b->slot = slot;
  m->slot_id[(slot - m->slot_base) >> m->slot_shift] = (uint32_t)(b - m->breaks) + 1;
}
