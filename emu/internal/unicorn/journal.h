// What comes to the guest besides its instructions: counted, and noted in the journal (journal.c).
#ifndef TL_JOURNAL_H
#define TL_JOURNAL_H

#include "base.h"

enum tl_event_kind { TL_SYSCALL, TL_EXCEPTION, TL_INTERRUPT };

struct tl_event {
  uint64_t clock;  // before its handler
  uint64_t pc;     // that the handler gets
  uint64_t number; // of the system call, or as the architecture counts
  uint64_t kind;   // enum tl_event_kind
};

#define TL_JOURNAL_BLOCK 4096u // events that have a sum together

struct tl_journal {
  uint64_t n;     // events so far
  uint64_t sum;   // of all of them
  uint64_t *sums; // at the end of each block, and of what there is of the last one
  uint64_t keep;  // block of which the events are kept, TL_NEVER for none
  struct tl_event kept[TL_JOURNAL_BLOCK];
};

// What has come to a CPU. Where a system call is an exception (arm64, riscv64) it counts as one.
struct tl_counts {
  uint64_t interrupts, exceptions, syscalls;
};

// What a CPU does changes in between where this does.
static inline uint64_t tl_traps(const struct tl_counts *n) { return n->interrupts + n->exceptions; }

static inline void tl_forget_counts(struct tl_counts *n) { *n = (struct tl_counts){0}; }
static inline void tl_count_firmware_call(struct tl_counts *n) { n->syscalls++; }

bool tl_journal_open(struct tl_machine *m, uint64_t keep);
void tl_journal_close(struct tl_machine *m);
struct tl_journal *tl_journal_swap(struct tl_machine *m, struct tl_journal *j);
uint64_t tl_journal_blocks(const struct tl_journal *j);
void tl_note_interrupt(struct tl_cpu *c, uint64_t number, uint64_t pc);
void tl_note_exception(struct tl_cpu *c, enum tl_event_kind kind, uint64_t number, uint64_t pc);
void tl_note_syscall(struct tl_cpu *c, uint64_t number, uint64_t pc);

#endif
