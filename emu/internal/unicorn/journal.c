// The journal: when what comes to the guest besides its instructions has come, as a sum of all
// events with its values on the way, so that two runs are compared without keeping either. The
// events themselves are kept for one block.
#include "shim.h"

#include <stdlib.h>

#define MAX_BLOCKS (1u << 20) // 4 billion events: more than a day of a guest's work

bool tl_journal_open(struct tl_machine *m, uint64_t keep) {
  tl_journal_close(m);
  struct tl_journal *j = calloc(1, sizeof *j);
  if (!j || !(j->sums = calloc(MAX_BLOCKS, sizeof *j->sums))) {
    free(j);
    return false;
  }
  j->keep = keep;
  m->journal = j;
  return true;
}

void tl_journal_close(struct tl_machine *m) {
  if (m->journal)
    free(m->journal->sums);
  free(m->journal);
  m->journal = NULL;
}

// Make j, or none, the journal. Returns the one that it was.
struct tl_journal *tl_journal_swap(struct tl_machine *m, struct tl_journal *j) {
  struct tl_journal *before = m->journal;
  m->journal = j;
  return before;
}

// How many of the sums there are.
uint64_t tl_journal_blocks(const struct tl_journal *j) {
  uint64_t blocks = (j->n + TL_JOURNAL_BLOCK - 1) / TL_JOURNAL_BLOCK;
  return blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
}

// Each step is a bijection of the sum, and another one for another value.
static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
  return sum ^ sum >> 29;
}

// Something has come to the guest, the clock being exact. Beyond the last block only the sum
// goes on.
static void note(struct tl_cpu *c, enum tl_event_kind kind, uint64_t number, uint64_t pc) {
  struct tl_journal *j = c->m->journal;
  if (TL_LIKELY(!j))
    return;
  uint64_t block = j->n / TL_JOURNAL_BLOCK;
  if (block == j->keep)
    j->kept[j->n % TL_JOURNAL_BLOCK] = (struct tl_event){c->clock.ns, pc, number, kind};
  j->sum = mix(mix(mix(mix(j->sum, c->clock.ns), pc), number), kind);
  j->sums[block < MAX_BLOCKS ? block : MAX_BLOCKS - 1] = j->sum;
  j->n++;
}

void tl_note_interrupt(struct tl_cpu *c, uint64_t number, uint64_t pc) {
  c->counts.interrupts++;
  note(c, TL_INTERRUPT, number, pc);
}

// A system call is one where kind says so.
void tl_note_exception(struct tl_cpu *c, enum tl_event_kind kind, uint64_t number, uint64_t pc) {
  c->counts.exceptions++;
  note(c, kind, number, pc);
}

// A system call that is not an exception.
void tl_note_syscall(struct tl_cpu *c, uint64_t number, uint64_t pc) {
  c->counts.syscalls++;
  note(c, TL_SYSCALL, number, pc);
}
