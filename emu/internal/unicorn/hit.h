// Hits of breakpoints, and displaced instructions in their slots (hit.c).
#ifndef TL_HIT_H
#define TL_HIT_H

#include "breaks.h"

// What a breakpoint instruction turns out to be.
enum tl_trap {
  TL_TRAP_GUEST, // the guest's own, to be delivered to it
  TL_TRAP_DONE,  // of the tracer; the guest goes on at *pc
};

struct tl_hits {
  uint64_t hits, slot_faults, resyncs; // how many there were
  bool first;           // the next block of a slot is the start of the displaced instruction
  uint64_t left;        // time at which a block of a slot other than its first began
  uint64_t round;       // address of the repeated instruction whose next round was the newest instant in a slot,
  uint64_t round_ns;    // its time,
  uint64_t round_traps; // and the interrupts and exceptions up to it
};

static inline void tl_hits_start(struct tl_hits *h) {
  h->first = false;
  h->left = TL_NEVER;
}

static inline void tl_count_resync(struct tl_hits *h) { h->resyncs++; }

struct tl_break *tl_hit(struct tl_cpu *c, struct tl_page *p, struct tl_break *b);
void tl_enter_slot(struct tl_cpu *c, const struct tl_break *b);
void tl_slot_block(struct tl_cpu *c, uint64_t pc);
enum tl_trap tl_trap(struct tl_cpu *c);
void tl_leave_slot(struct tl_cpu *c);

#endif
