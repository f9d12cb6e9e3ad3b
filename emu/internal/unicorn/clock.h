// The clock of a CPU, and what the CPUs of a machine share of the time (clock.c).
#ifndef TL_CLOCK_H
#define TL_CLOCK_H

#include "base.h"

#define TL_SPLITS 64 // ranges of code, at most

enum { TL_LINE = 1 }; // in tl_clock.lines: the request of the interrupt controller

struct tl_clock {
  uint64_t ns;       // virtual time: bytes of guest code executed up to end, and time spent waiting
  uint64_t due;      // a block that starts at this time or later calls tl_on_block; never later than
                     // any reason to, and 0 to look at all of them
  uint64_t end;      // where the instruction executed last ended, as if it had not been displaced
  uint64_t deadline; // next event of the devices or of the tracer
  uint64_t slice;    // from here on another CPU may run
  uint64_t now;      // exact time of the callback under way
  uint8_t lines;     // interrupt requests that stand
  bool look;         // interrupts may be taken at the next block, wherever it begins
  bool stop_here;    // the run ends before the next block
  bool taking;       // the interrupt that is due is being taken
};

// What all CPUs share of the time.
struct tl_time {
  uint64_t seen; // latest time that the guest has read: no CPU reads an earlier one
  // Code in which an interrupt may be taken, and a slice end, at each instruction.
  struct { uint64_t lo, hi; } split[TL_SPLITS];
  unsigned nsplit;
};

// The clock stands at ns and the guest at end, and nothing is due.
static inline void tl_clock_start(struct tl_clock *k, uint64_t ns, uint64_t end) {
  *k = (struct tl_clock){.ns = ns, .end = end, .due = TL_NEVER, .deadline = TL_NEVER, .slice = TL_NEVER};
}

// Asked for at a hit: end the run before the instruction.
static inline void tl_stop_here(struct tl_clock *k) {
  k->stop_here = true;
  k->due = 0;
}

// Have the next block look at all that may be due. May be called from any thread.
static inline void tl_look_around(struct tl_clock *k) { __atomic_store_n(&k->due, 0, __ATOMIC_SEQ_CST); }

// The guest may have unmasked an interrupt: one may be taken wherever the guest goes on. The
// instruction that did so must end its block. Where nothing is due there is nothing to look for.
static inline void tl_look_for_interrupts(struct tl_clock *k) { k->look = k->look || k->ns >= k->due; }

// Bytes of code that ended at end have been executed by other means than a block.
static inline void tl_clock_add(struct tl_clock *k, uint64_t bytes, uint64_t end) {
  k->ns += bytes;
  k->end = end;
}

// A callback to Go is about to be made, at this time.
static inline void tl_callback_at(struct tl_clock *k, uint64_t ns) { k->now = ns; }

static inline void tl_set_lines(struct tl_clock *k, uint8_t lines) {
  k->lines = lines;
  if (lines)
    tl_look_around(k);
}

// Reports whether the interrupt that is due is to be taken, once.
static inline bool tl_take_interrupt(struct tl_clock *k) {
  bool taking = k->taking;
  k->taking = false;
  return taking;
}

static inline void tl_set_seen(struct tl_time *t, uint64_t ns) { t->seen = ns; }

void tl_on_block(const struct tl_block *block);
void tl_instant(struct tl_cpu *c, uint64_t pc);
void tl_cut(struct tl_cpu *c, uint64_t pc);
uint64_t tl_exact(struct tl_cpu *c, uint64_t pc);
void tl_pass_time(struct tl_cpu *c, uint64_t ns);
uint64_t tl_read_clock(struct tl_cpu *c);
bool tl_clock_stopped(struct tl_cpu *c);
bool tl_split(struct tl_machine *m, uint64_t lo, uint64_t hi);
bool tl_is_split(const struct tl_machine *m, uint64_t pc);

#endif
