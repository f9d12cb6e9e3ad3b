// A breakpoint that was executed: whose it is, the call of the tracer, and the way on
// through the displaced instruction.
//
// On amd64 a trampoline ends in a jump back (amd64_trap.c). Elsewhere it ends in a second
// breakpoint, as in the paper: eight bytes hold the instruction and the breakpoint.
//
//	text:   ... | BRK | ...        first:  the tracer is called, pc = slot
//	slot:   the instruction | BRK  second: pc = the next instruction of the text
//
// Between the two the guest's interrupt mask is as the guest has set it: interrupts are
// held back by the clock (clock.c), for which nothing in a slot is an instant of its own.
#include "library.h"

// A block that ends in a breakpoint covers the breakpoint alone; the guest may have changed
// the rest of the instruction. NULL if the breakpoint does not stand there any more.
static struct tl_break *bring_up_to_date(struct tl_cpu *c, struct tl_page *p, struct tl_break *b) {
  uint64_t addr = b->addr, last = addr + b->len - 1;
  struct tl_page *second = last / TL_PAGE == addr / TL_PAGE ? NULL : tl_page_of(c->m, last);
  if (!p->stale && !(second && second->stale))
    return b;
  if (p->stale)
    tl_resync(c, p);
  if (second && second->stale)
    tl_resync(c, second);
  return tl_break_on(c->m, p, addr);
}

// Has the guest only been put back to addr in the middle of an instruction that repeats itself,
// because another CPU had a turn or breakpoints have changed? The hit has been delivered.
static bool resumes_round(const struct tl_cpu *c, uint64_t addr) {
  const struct tl_hits *h = &c->hit;
  return h->round == addr && h->round_ns == c->clock.ns && h->round_traps == tl_traps(&c->counts);
}

// A breakpoint of ours on page p was hit: count it, defer it, or call the tracer. NULL if it does not
// stand there any more, or not after this; what stands there now is run.
struct tl_break *tl_hit(struct tl_cpu *c, struct tl_page *p, struct tl_break *b) {
  uint64_t addr = b->addr;
  if (!c->m->hooks.fire) // a hook is called in the middle of its block
    tl_cut(c, addr);
  *c->pc = addr;
  if (!(b = bring_up_to_date(c, p, b))) {
    tl_not_executed(c, addr);
    return NULL;
  }
  if (resumes_round(c, addr)) {
    tl_not_executed(c, addr);
    return b;
  }
  c->hit.hits++;
  if (b->counting) {
    b->hits++;
    return b;
  }
  if (b->deferred && tl_defer(c, b))
    return b;
  tl_callback_at(&c->clock, tl_exact(c, addr));
  tlGoHit(c->id, addr);
  return c->clock.stop_here ? NULL : tl_break_on(c->m, p, addr);
}

// The guest goes on with the displaced instruction of b.
void tl_enter_slot(struct tl_cpu *c, const struct tl_break *b) {
  *c->pc = b->slot;
  c->hit.first = true;
}

// The next round of the instruction at addr, which repeats itself in its slot. The guest may have
// to begin it at addr again, where the breakpoint is: tl_hit knows it by what is kept here.
static void next_round(struct tl_cpu *c, uint64_t addr) {
  c->hit.round = addr;
  c->hit.round_ns = c->clock.ns;
  c->hit.round_traps = tl_traps(&c->counts);
  tl_instant(c, addr);
}

// A block in a trampoline. Only the one at the start of a slot is the guest's: the
// displaced instruction, or the next round of one that repeats itself.
void tl_slot_block(struct tl_cpu *c, uint64_t pc) {
  struct tl_break *b = tl_slot_break(c->m, pc);
  if (!b || tl_slot_offset(&c->m->slots, pc)) {
    c->hit.left = c->clock.ns;
    return;
  }
  if (c->hit.first)
    c->hit.first = false;
  else if (c->clock.ns >= c->clock.due && b->addr != c->clock.end)
    next_round(c, b->addr);
  tl_clock_add(&c->clock, b->len, b->addr + b->len);
}

// What tl_trap does at the breakpoint in front of a displaced instruction.
static enum tl_trap first_trap(struct tl_cpu *c, struct tl_page *p, struct tl_break *b) {
  if (!(b = tl_hit(c, p, b)))
    return TL_TRAP_DONE;
  if (b->guest)
    return TL_TRAP_GUEST;
  if (tl_emulate(c, b)) {
    tl_clock_add(&c->clock, b->len, b->addr + b->len);
    return TL_TRAP_DONE;
  }
  tl_lend(c, b);
  tl_enter_slot(c, b);
  return TL_TRAP_DONE;
}

// A breakpoint instruction at *pc, in the kernel; pc is exact.
enum tl_trap tl_trap(struct tl_cpu *c) {
  uint64_t pc = *c->pc;
  if (c->m->hooks.fire)
    return TL_TRAP_GUEST;
  struct tl_break *b = tl_slot_break(c->m, pc);
  if (b && tl_slot_offset(&c->m->slots, pc)) { // the second one
    tl_end_loan(c, b, true);
    *c->pc = b->addr + b->len;
    return TL_TRAP_DONE;
  }
  struct tl_page *p = tl_page_of(c->m, pc);
  return p && (b = tl_break_on(c->m, p, pc)) ? first_trap(c, p, b) : TL_TRAP_GUEST;
}

// The instruction at *pc did not complete: put the guest where it would be without
// trampolines.
void tl_leave_slot(struct tl_cpu *c) {
  uint64_t at = tl_canonical(c, *c->pc);
  if (at == *c->pc)
    return;
  c->hit.slot_faults++;
  tl_end_loan(c, tl_slot_break(c->m, *c->pc), false);
  *c->pc = at;
}
