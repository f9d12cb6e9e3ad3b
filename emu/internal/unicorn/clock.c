// The clock: bytes of guest code executed, exact at every instant the guest can see.
//
// A block is charged when it starts; clock is then the time at its end, and end is where
// it ends. When it is cut short, by an exception, a store to its own code or a
// breakpoint, the rest of it is taken off again.
//
// An interrupt may be taken at the start of a block that is not the end of the
// instruction executed last: after a control transfer. Where translation happens to
// split straight code, at page ends, in a full code buffer, or after a breakpoint,
// nothing is looked at. So the instants do not depend on how code was translated, nor
// on the probes in it. In code that is split every instruction is a block and an instant.
//
// Breakpoints and the jumps back from trampolines cost nothing. A displaced instruction
// is charged where it stands.
#include "library.h"

static inline bool in_slots(struct tl_machine *m, uint64_t pc) {
  return pc - m->slot_base < m->hidden;
}

static struct tl_break *slot_owner(struct tl_machine *m, uint64_t pc) {
  uint32_t id = m->slot_id[(pc - m->slot_base) >> m->slot_shift];
  return id ? &m->breaks[id - 1] : NULL;
}

// Where the guest would be, had it not been displaced: the probe as long as the
// displaced instruction has not been completed, the next instruction after that.
uint64_t tl_canonical(struct tl_cpu *c, uint64_t pc) {
  struct tl_break *b;
  if (TL_LIKELY(!in_slots(c->m, pc)) || !(b = slot_owner(c->m, pc)))
    return pc;
  return tl_slot_offset(c->m, pc) ? b->addr + b->len : b->addr;
}

uint64_t tl_exact(struct tl_cpu *c, uint64_t pc) {
  return c->clock - (c->end - tl_canonical(c, pc));
}

// The block under way ended before the instruction at pc.
void tl_cut(struct tl_cpu *c, uint64_t pc) {
  c->clock -= c->end - pc;
  c->end = pc;
}

// trig is the least of all reasons to leave the fast path. tl_stop may come from another
// thread at any time, hence the second look.
static void rearm(struct tl_cpu *c) {
  c->trig = c->line ? 0 : c->deadline < c->slice ? c->deadline : c->slice;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&c->m->stop, __ATOMIC_RELAXED))
    c->trig = 0;
}

// A load exclusive and its store are not parted, if they are as near to each other as a pair has
// to be that is sure to get through (Arm ARM, B2.9.5: 128 bytes; RISC-V, 8.3: 64).
static bool slice_over(struct tl_cpu *c) {
  enum { LONGEST = 128 };
  if (c->clock < c->slice)
    return false;
  return !c->m->t->monitor || *c->m->t->monitor(c) == TL_NO_MONITOR || c->clock - c->slice > LONGEST;
}

// End tl_run with the guest at pc. Does not return.
void tl_leave(struct tl_cpu *c, uint64_t pc, int why) {
  tl_go_to(c, pc);
  c->end_reason = why;
  uc_emu_stop(c->uc);
  tl_lib.loop_exit(c->cs);
}

// Asked for at a hit: end the run in front of the instruction, where nothing else is looked at.
void tl_stop_here(struct tl_cpu *c) {
  c->end = TL_NEVER;
  c->trig = 0;
}

// An exception is about to be delivered. A guest whose handler is not there gets another for it,
// and executes nothing any more: no block begins that could be left.
void tl_trapped(struct tl_cpu *c) {
  enum { MANY = 1000 };
  if (c->clock != c->trapped)
    c->traps = 0;
  c->trapped = c->clock;
  if (++c->traps < MANY)
    return;
  c->traps = 0;
  c->end_reason = TL_HUNG;
  uc_emu_stop(c->uc);
}

// The guest waits for an interrupt; the instruction that says so, of len bytes, ends at next.
// Returns when there is one. A CPU that is parked has executed the instruction; where the run
// ends otherwise, it stays at it.
void tl_wait(struct tl_cpu *c, uint64_t next, unsigned len) {
  c->now = c->clock;
  int why = c->trying ? TL_HUNG : tlGoIdle(c->id);
  if (why == TL_RUNNING)
    return;
  if (why == TL_PARKED) {
    c->end = 0; // wherever it goes on, an interrupt may be taken there
    tl_leave(c, next, why);
  }
  tl_cut(c, next - len);
  tl_leave(c, next - len, why);
}

// The clock as the guest reads it now, at pc: that of this CPU, but not earlier than what any
// CPU has read.
uint64_t tl_read_clock(struct tl_cpu *c) {
  uint64_t now = tl_exact(c, tl_address(c));
  if (now > c->m->seen)
    c->m->seen = now;
  return c->m->seen;
}

// Split the code in [lo, hi), of which none has been translated. False if there is no room.
bool tl_split(struct tl_machine *m, uint64_t lo, uint64_t hi) {
  if (m->nsplit == TL_SPLITS)
    return false;
  m->split[m->nsplit].lo = lo;
  m->split[m->nsplit++].hi = hi;
  return true;
}

bool tl_is_split(const struct tl_machine *m, uint64_t pc) {
  for (unsigned i = 0; i < m->nsplit; i++)
    if (pc >= m->split[i].lo && pc < m->split[i].hi)
      return true;
  return false;
}

// The start of a block at which an interrupt could be taken, and something is due.
static void attend(struct tl_cpu *c, uint64_t pc) {
  if (c->end == TL_NEVER)
    tl_leave(c, pc, TL_STOPPED);
  if (c->clock >= c->deadline) {
    c->now = c->clock;
    c->m->replanted = false;
    tl_go_to(c, pc);
    tlGoAttend(c->id);
    if (c->m->replanted) { // the block may be of text that is no more: begin it again
      rearm(c);
      tl_go_to(c, pc);
      tl_lib.loop_exit(c->cs);
    }
  }
  if (c->m->stop)
    tl_leave(c, pc, TL_STOPPED);
  if (slice_over(c))
    tl_leave(c, pc, TL_SLICED);
  if (c->line && c->m->t->interruptible(c)) {
    // Raised only where it is taken at once: a request left standing would be seen at
    // whatever exit the translated code happens to make next.
    *tl_interrupt_request(c) |= c->m->t->request ? c->m->t->request(c) : TL_INTERRUPT_HARD;
    c->taking = 1;
    c->trig = 0;
    tl_go_to(c, pc);
    tl_lib.loop_exit(c->cs);
  }
  rearm(c);
}

// The next round of the instruction at addr, which repeats itself in its slot. The guest may have
// to begin it at addr again, where the breakpoint is: tl_hit knows it by what is kept here.
static void attend_round(struct tl_cpu *c, uint64_t addr) {
  c->round = addr;
  c->round_now = c->clock;
  c->round_traps = c->interrupts + c->exceptions;
  attend(c, addr);
}

// A block in a trampoline. Only the one at the start of a slot is the guest's: the
// displaced instruction, or the next round of one that repeats itself.
static void slot_block(struct tl_cpu *c, uint64_t pc) {
  struct tl_break *b = slot_owner(c->m, pc);
  if (!b || tl_slot_offset(c->m, pc)) {
    c->slot_left = c->clock;
    return;
  }
  if (c->slot_first)
    c->slot_first = 0;
  else if (c->clock >= c->trig && b->addr != c->end)
    attend_round(c, b->addr);
  c->clock += b->len;
  c->end = b->addr + b->len;
}

// Called at the start of a block, where more is to be done than to charge it (charge.c), or it
// is one of a trampoline.
void tl_on_block(const struct tl_block *block) {
  struct tl_cpu *c = tl_current();
  if (in_slots(c->m, block->pc))
    slot_block(c, block->pc);
  else if (block->pc != c->end || tl_is_split(c->m, block->pc))
    attend(c, block->pc);
}
