// Stepping (stepper.c).
#ifndef TL_STEPPER_H
#define TL_STEPPER_H

#include "library.h"

#define TL_STEP_PAGES 64                // that one instruction, and a fault of it, may store to
#define TL_STEP_WINDOW (16 * TL_PAGE)   // bytes of memory to load from and store to
#define TL_CONTEXT_HEAD 16              // bytes of a uc_context before the CPU state

struct tl_step_page {
  uint8_t *host;
  bool changed;
  uint8_t before[TL_PAGE], after[TL_PAGE];
};

// What came of an instruction.
struct tl_outcome {
  int end;            // enum tl_end: TL_STEPPED if there is a next instruction
  int error;          // of the library
  uint64_t pc, clock; // where it goes on, and the time that it took
  uint64_t interrupts, exceptions;
  uint8_t *env;       // the CPU state, comparable
  struct tl_step_page *pages;
  unsigned npages;
  bool overflow;      // there were more
};

struct tl_step {
  uint64_t env_size;  // bytes of the CPU state that are a state
  uint64_t pc;        // of the instruction under way
  uint64_t traps;     // interrupts and exceptions before it
  bool begun;         // it has been seen
  bool displaced;     // it is executed by way of its breakpoint
  struct tl_outcome *out; // NULL while nothing is stepped
};

bool tl_step_open(struct tl_cpu *c);
void tl_step(struct tl_cpu *c, const uint8_t *env, bool displaced, bool interrupt, struct tl_outcome *o);
struct tl_aside *tl_step_begin(struct tl_cpu *c);
void tl_step_end(struct tl_cpu *c, struct tl_aside *a);
bool tl_step_window(struct tl_cpu *c, uint64_t va, uint8_t **host);
bool tl_step_fill(struct tl_cpu *c, uint64_t va, int access, int mmu);
void tl_step_page(struct tl_cpu *c, uint8_t *host);
struct tl_outcome *tl_outcome_new(struct tl_cpu *c);
void tl_outcome_free(struct tl_outcome *o);

#endif
