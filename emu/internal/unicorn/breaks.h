// Breakpoints, and the pages of text that hold them (breaks.c).
#ifndef TL_BREAKS_H
#define TL_BREAKS_H

#include "base.h"

#define TL_TEXT_PAGES 16384 // that may hold breakpoints

// A breakpoint: 48 bytes, indexed by id.
struct tl_break {
  uint64_t addr;         // of the displaced instruction
  uint64_t slot;         // of its trampoline, 0 if there is none
  uint8_t len;           // bytes of the displaced instruction
  uint8_t guest;         // the displaced instruction is a breakpoint of the guest's
  uint8_t op, a, b, c;   // what is done for it besides, an arch.Emulation (emulate.c)
  uint8_t counting;      // hits are counted here, and the tracer is not called
  uint8_t deferred;      // 1 + number of the tl_want with which its hits are deferred, 0: they are not
  uint8_t planted_on[4]; // inplace: the guest's bytes under it when it was planted
  int64_t imm;
  uint64_t hits;         // counted
};

// A page of guest text that holds breakpoints. Fetches see text, data accesses see the
// guest's page; with tl_breaks.inplace both are the guest's page.
struct tl_page {
  uint64_t va, pa;   // virtual page by which breakpoints are found, and its offset in RAM
  uint32_t *id;      // 1 + id of the breakpoint at each byte, 0 for none
  uint8_t *text;     // what fetches see
  uint8_t *original; // inplace: the guest's bytes, while breakpoints stand in its page
  uint64_t *executed; // by CPU and byte: executions that the code hook has seen; NULL without crosscheck
  uint64_t text_ra;  // the library's ram_addr of text
  uint64_t alias;    // another address at which the guest has executed it, 0 for none (hooks.c)
  uint64_t passed;   // executions there of instructions with breakpoints
  uint8_t hooked_at_alias; // set of engines
  uint8_t fetched;   // set of engines: the newest TLB entry of va is for fetches
  bool stale;        // the guest has stored to it since text was made
  bool gone;         // nothing is known of what lies there: tl_forget_pages
  bool touched;      // breakpoints changed since text was made: in the list of such pages
  struct tl_page *next_touched;
};

struct tl_breaks {
  struct tl_break *all; // cap of them, never moved
  uint32_t n, cap, free;
  struct tl_page *pages; // cappages of them, never moved
  uint32_t npages, cappages;
  struct tl_page *touched;
  uint64_t changes;  // of text, by breakpoints that were planted or taken away
  uint32_t *by_pa;   // 1 + index of a page
  uint32_t *by_va;   // open addressing, 1 + index
  uint32_t va_mask;
  bool inplace;
};

bool tl_breaks_open(struct tl_machine *m);
void tl_breaks_close(struct tl_machine *m);
struct tl_page *tl_page_of(struct tl_machine *m, uint64_t va);
struct tl_page *tl_page_at(struct tl_machine *m, uint64_t ra);
struct tl_break *tl_break_on(struct tl_machine *m, struct tl_page *p, uint64_t addr);
struct tl_break *tl_find_break(struct tl_machine *m, uint64_t addr);
const char *tl_set_break(struct tl_cpu *c, uint64_t pa, const struct tl_break *like);
const char *tl_watch(struct tl_cpu *c, uint64_t va, uint64_t pa);
void tl_clear_break(struct tl_cpu *c, uint64_t addr);
bool tl_count_hits(struct tl_cpu *c, uint64_t addr);
uint64_t tl_take_hits(struct tl_cpu *c, uint64_t addr);
void tl_commit_breaks(struct tl_cpu *c);
void tl_forget_pages(struct tl_cpu *c, uint64_t lo, uint64_t hi);
void tl_before_store(struct tl_cpu *c, uint64_t pa);
void tl_after_store(struct tl_cpu *c, uint64_t pa, uint64_t n);
void tl_resync(struct tl_cpu *c, struct tl_page *p);
void tl_page_stored(struct tl_cpu *c, struct tl_page *p);

#endif
