// A run of a CPU, and the ways in which it ends (run.c).
#ifndef TL_RUN_H
#define TL_RUN_H

#include "base.h"

// Why tl_run returned.
enum tl_end {
  TL_RUNNING = 0,
  TL_STOPPED, // asked to: tl_machine.stop
  TL_HALTED,  // halted with interrupts off: a power-off on a machine without ACPI
  TL_HUNG,    // idle, and no event can wake it
  TL_TRIPLE,  // triple fault
  TL_FAILED,  // the library returned an error
  TL_STEPPED, // at the next instruction (stepper.c)
  TL_SLICED,  // at the end of its slice
  TL_PARKED,  // it waits, behind the instruction that says so, and others may run
};

struct tl_run {
  int why;           // enum tl_end
  bool delivering;   // an exception or interrupt is being delivered
  bool park;         // end the run when the call of the firmware is done: this CPU stands still
  bool trying;       // the library is being tried: the Go side is not there yet
  uint64_t tried_io; // time of the access to a device meanwhile
  uint64_t trapped;  // time of the newest exception, and how many there were at it
  uint32_t traps;
};

// A triple fault ends the run while something is delivered.
static inline void tl_delivering(struct tl_run *r, bool on) { r->delivering = on; }

static inline void tl_tried_access(struct tl_run *r, uint64_t ns) { r->tried_io = ns; }

int tl_run(struct tl_cpu *c, const char **err);
int tl_run_once(struct tl_cpu *c);
void tl_stop(struct tl_machine *m);
void tl_set_stop(struct tl_machine *m, uint32_t stop);
bool tl_try(struct tl_cpu *c, int end, uint64_t bytes);
void tl_end_run(struct tl_cpu *c, int why);
void tl_leave(struct tl_cpu *c, uint64_t pc, int why);
void tl_trapped(struct tl_cpu *c);
void tl_forget_traps(struct tl_run *r);
void tl_wait(struct tl_cpu *c, uint64_t next, unsigned len);
int tl_call_firmware(struct tl_cpu *c, uint64_t next);

#endif
