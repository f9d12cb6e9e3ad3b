// Hits that are delivered later than they happen (defer.c, defer.go).
#ifndef TL_DEFER_H
#define TL_DEFER_H

#include "breaks.h"

#define TL_MEMO_WORDS 96
#define TL_WANTS 255
#define TL_WANT_REGS 16
#define TL_DEFERRED_WORDS (1u << 15)
#define TL_DEFERRED_HEAD 3u // words in front of the registers of a deferred hit

// A word of the CPU's state or of guest memory; mask says which bits of it count.
struct tl_word {
  const uint64_t *at;
  uint64_t mask, value;
};

// What the tracer knows of a CPU follows from these words as long as they are what they were.
struct tl_memo {
  bool known;
  unsigned n;
  struct tl_word words[TL_MEMO_WORDS];
};

// What the tracer wants to know of a deferred hit.
struct tl_want {
  uint16_t n, memo;           // registers; 1: what it knows of the CPU has to be unchanged
  uint32_t at[TL_WANT_REGS];  // offsets in the library's CPU state; 0 beyond n
};

struct tl_deferrals {
  struct tl_want *wants; // TL_WANTS
  unsigned nwants;
  // The hits that wait: address, time, number of the want, registers.
  uint64_t *words; // TL_DEFERRED_WORDS
  uint32_t nwords;
};

bool tl_deferrals_open(struct tl_machine *m);
void tl_deferrals_close(struct tl_machine *m);
bool tl_defer(struct tl_cpu *c, const struct tl_break *b);
int tl_defer_hits(struct tl_cpu *c, uint64_t addr, const struct tl_want *w);

#endif
