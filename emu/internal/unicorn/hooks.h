// The library's code hook (hooks.c).
#ifndef TL_HOOKS_H
#define TL_HOOKS_H

#include "breaks.h"

// What it has seen on a CPU.
struct tl_hook {
  uint64_t seen;        // instruction that it was called for last
  uint64_t fired;       // address of the breakpoint that fired last,
  uint64_t fired_ns;    // the time after it
  uint64_t fired_traps; // and the interrupts and exceptions up to it
};

// How a machine uses it.
struct tl_hooks {
  bool fire;    // breakpoints are not planted: the hook stands for them
  bool watched; // translated code calls the hook (tl_hook_code)
};

static inline void tl_fire_by_hook(struct tl_hooks *h, bool on) { h->fire = on; }

int tl_hook_code(struct tl_cpu *c, void *f, void *data, uint64_t lo, uint64_t hi);
int tl_hook_page(struct tl_machine *m, uint64_t va);
void tl_hook_alias(struct tl_cpu *c, struct tl_page *p, uint64_t va);
bool tl_repeats(struct tl_cpu *c, const struct tl_page *p, const struct tl_break *b);
void tl_hook_undecoded(struct tl_cpu *c, uint64_t pc);
int tl_crosscheck(struct tl_cpu *c, uint64_t lo, uint64_t hi);
uint64_t tl_executed(struct tl_cpu *c, uint64_t addr); // by c
void tl_not_executed(struct tl_cpu *c, uint64_t addr);

#endif
