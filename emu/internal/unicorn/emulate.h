// What the machine does for a displaced instruction besides running it (emulate.c).
#ifndef TL_EMULATE_H
#define TL_EMULATE_H

#include "breaks.h"

// A register that the displaced instruction has been lent.
struct tl_loan {
  uint8_t reg; // 1 + its number, 0 for none
  uint64_t was;
};

static inline void tl_forget_loan(struct tl_loan *l) { l->reg = 0; }

void tl_lend(struct tl_cpu *c, struct tl_break *b);
void tl_end_loan(struct tl_cpu *c, const struct tl_break *b, bool completed);
bool tl_emulate(struct tl_cpu *c, struct tl_break *b);

#endif
