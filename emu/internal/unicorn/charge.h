// The clock in translated code (charge.c).
#ifndef TL_CHARGE_H
#define TL_CHARGE_H

#include "base.h"

struct tl_op; // of the library's intermediate code

struct tl_charge {
  uc_hook hook;   // by which the library gets to know tl_on_block
  bool described; // it knows how to call that
  bool known;     // its operations are those that are known
  bool off;       // translated code does not keep the clock: what that costs is measured

  // The block under translation. A fault in its code leaves this as it is.
  const struct tl_block *block; // NULL: without a clock
  bool begins;                  // nothing of it has been translated
  void *back;                   // label of what is done in any case
  struct tl_op *size, *end;     // constants without a value yet
  uint64_t shift;               // how far from its place tl_cpu is taken to be (kept_make.c)
};

static inline void tl_charge_off(struct tl_charge *g) { g->off = true; }

void tl_charge_hook(struct tl_cpu *c);
void tl_charge_begin(struct tl_cpu *c, const struct tl_block *block, uint64_t shift);
bool tl_charge_fast_path(void *exit);
bool tl_charge_slow_path(void);
void tl_charge_end(struct tl_cpu *c);

#endif
