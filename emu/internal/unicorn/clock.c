// The clock: bytes of guest code executed, exact at every instant the guest can see.
//
// A block is charged when it starts; ns is then the time at its end, and end is where
// it ends. When it is cut short, by an exception, a store to its own code or a
// breakpoint, the rest of it is taken off again.
//
// An interrupt may be taken at the start of a block that is not the end of the
// instruction executed last: after a control transfer. Where translation happens to
// split straight code, at page ends, in a full code buffer, or after a breakpoint,
// nothing is looked at. So the instants do not depend on how code was translated, nor
// on the probes in it. In code that is split every instruction is a block and an instant,
// and so is what follows an instruction that unmasks interrupts (tl_look_for_interrupts).
//
// Breakpoints and the jumps back from trampolines cost nothing. A displaced instruction
// is charged where it stands.
#include "library.h"

uint64_t tl_exact(struct tl_cpu *c, uint64_t pc) { return c->clock.ns - (c->clock.end - tl_canonical(c, pc)); }

// The block under way ended before the instruction at pc.
void tl_cut(struct tl_cpu *c, uint64_t pc) {
  c->clock.ns -= c->clock.end - pc;
  c->clock.end = pc;
}

// due is the least of all reasons to leave the fast path. tl_stop may come from another
// thread at any time, hence the second look.
static void rearm(struct tl_cpu *c) {
  struct tl_clock *k = &c->clock;
  k->due = k->lines || k->look ? 0 : k->deadline < k->slice ? k->deadline : k->slice;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&c->m->stop, __ATOMIC_RELAXED))
    k->due = 0;
}

// A load exclusive and its store are not parted, if they are as near to each other as a pair has
// to be that is sure to get through (Arm ARM, B2.9.5: 128 bytes; RISC-V, 8.3: 64).
static bool slice_over(struct tl_cpu *c) {
  enum { LONGEST = 128 };
  if (c->clock.ns < c->clock.slice)
    return false;
  return !c->m->t->monitor || *c->m->t->monitor(c) == TL_NO_MONITOR || c->clock.ns - c->clock.slice > LONGEST;
}

// Reports whether the run has ended by tl_stop_here. What it goes on with is no instant then.
bool tl_clock_stopped(struct tl_cpu *c) {
  struct tl_clock *k = &c->clock;
  bool stopped = k->stop_here;
  k->stop_here = false;
  if (stopped)
    k->end = tl_address(c);
  return stopped;
}

static bool interrupted(struct tl_cpu *c) { return c->clock.lines && c->m->t->interruptible(c); }

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Let ns of time pass. What is due meanwhile comes in time, and an interrupt ends the wait. What is due
// to the tracer does not, nor does the slice: where it ends must not matter to the guest.
void tl_pass_time(struct tl_cpu *c, uint64_t ns) {
  struct tl_clock *k = &c->clock;
  uint64_t until = k->ns + ns;
  while (k->ns < until && !interrupted(c) && !c->m->stop) {
    uint64_t to = earliest(until, k->deadline);
    if (to > k->ns)
      k->ns = to;
    if (k->ns < k->deadline)
      continue;
    k->now = k->ns;
    tlGoDeadline(c->id);
  }
}

// The clock as the guest reads it now, at pc: that of this CPU, but not earlier than what any
// CPU has read.
uint64_t tl_read_clock(struct tl_cpu *c) {
  uint64_t now = tl_exact(c, tl_address(c));
  if (now > c->m->time.seen)
    c->m->time.seen = now;
  return c->m->time.seen;
}

// Split the code in [lo, hi), of which none has been translated. False if there is no room.
bool tl_split(struct tl_machine *m, uint64_t lo, uint64_t hi) {
  struct tl_time *t = &m->time;
  if (t->nsplit == TL_SPLITS)
    return false;
  t->split[t->nsplit].lo = lo;
  t->split[t->nsplit++].hi = hi;
  return true;
}

bool tl_is_split(const struct tl_machine *m, uint64_t pc) {
  const struct tl_time *t = &m->time;
  for (unsigned i = 0; i < t->nsplit; i++)
    if (pc >= t->split[i].lo && pc < t->split[i].hi)
      return true;
  return false;
}

// An event is due. If that changes breakpoints, the block may be of text that is not there any more:
// it is begun again.
static void meet_deadline(struct tl_cpu *c, uint64_t pc) {
  uint64_t changes = c->m->breaks.changes;
  c->clock.now = c->clock.ns;
  tl_go_to(c, pc);
  tlGoDeadline(c->id);
  if (c->m->breaks.changes == changes)
    return;
  rearm(c);
  tl_go_to(c, pc);
  tl_lib.loop_exit(c->cs);
}

// An interrupt is raised only where it is taken at once: a request left standing would be seen at
// whatever exit the translated code happens to make next.
static void raise_interrupt(struct tl_cpu *c, uint64_t pc) {
  *tl_interrupt_request(c) |= c->m->t->request ? c->m->t->request(c) : TL_INTERRUPT_HARD;
  c->clock.taking = true;
  c->clock.due = 0;
  tl_go_to(c, pc);
  tl_lib.loop_exit(c->cs);
}

// The start of a block, at pc, at which an interrupt could be taken: carry out what is due. Does not
// return where the block is not to be run now.
void tl_instant(struct tl_cpu *c, uint64_t pc) {
  struct tl_clock *k = &c->clock;
  if (k->stop_here)
    tl_leave(c, pc, TL_STOPPED);
  if (k->ns >= k->deadline)
    meet_deadline(c, pc);
  if (c->m->stop)
    tl_leave(c, pc, TL_STOPPED);
  if (slice_over(c))
    tl_leave(c, pc, TL_SLICED);
  if (interrupted(c))
    raise_interrupt(c, pc);
  k->look = false;
  rearm(c);
}

// Called at the start of a block, where more is to be done than to charge it (charge.c), or it
// is one of a trampoline.
void tl_on_block(const struct tl_block *block) {
  struct tl_cpu *c = tl_current();
  const struct tl_clock *k = &c->clock;
  if (tl_in_hidden_slots(&c->m->slots, block->pc))
    tl_slot_block(c, block->pc);
  else if (block->pc != k->end || k->look || k->stop_here || tl_is_split(c->m, block->pc))
    tl_instant(c, block->pc);
}
