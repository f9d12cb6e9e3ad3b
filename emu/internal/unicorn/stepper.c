// One instruction at a time, always from a state that is given: in place, or displaced by
// its breakpoint. What comes of it is kept aside, and memory is put back as it was, so that
// two ways to execute an instruction can be compared (package verify).
//
// In place is the guest's own page, seen without breakpoints (tl_machine.hooked). The code
// hook ends the run before the instruction that is next, wherever it is: behind it, at the
// target of a branch, or at the start of a handler that an exception went to.
//
// The last pages of the range of trampolines are memory while instructions are stepped, so that
// there are addresses to load from and store to; the page behind them is not there.
#include "stepper.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TRAPS 8        // one after the other, before an instruction is executed
#define START (1ull << 40) // the time at which each step begins

bool tl_step_window(struct tl_cpu *c, uint64_t va, uint8_t **host) {
  struct tl_machine *m = c->m;
  uint64_t at = va - m->slots.base, end = m->slots.size - TL_PAGE;
  if (!c->step || at >= end || at < end - TL_STEP_WINDOW)
    return false;
  *host = m->aux + at;
  return true;
}

// Memory at host, a page, may be stored to from now on.
void tl_step_page(struct tl_cpu *c, uint8_t *host) {
  struct tl_outcome *o = c->step->out;
  if (!o)
    return;
  for (unsigned i = 0; i < o->npages; i++)
    if (o->pages[i].host == host)
      return;
  if (o->npages == TL_STEP_PAGES) {
    o->overflow = true;
    return;
  }
  struct tl_step_page *p = &o->pages[o->npages++];
  p->host = host;
  memcpy(p->before, host, TL_PAGE);
}

// The library looks for a translation: true if it has been given one.
bool tl_step_fill(struct tl_cpu *c, uint64_t va, int access, int mmu) {
  struct tl_step *s = c->step;
  uint64_t page = va & ~(TL_PAGE - 1);
  uint8_t *host;
  if (!s->out)
    return false;
  if (access == TL_FETCH && tl_traps(&c->counts) - s->traps > MAX_TRAPS)
    tl_leave(c, *c->pc, TL_HUNG); // a handler that is not there
  if (access == TL_FETCH || !tl_step_window(c, page, &host))
    return false;
  tl_step_page(c, host);
  tl_lib.set_page(c->cs, page, c->m->aux_pa + (page - c->m->slots.base), 0, PROT_R | PROT_W, mmu, TL_PAGE);
  return true;
}

// Is pc in the trampoline of the instruction? The guest may jump anywhere else in the range of the
// trampolines, the window included: that is where it goes on.
static bool in_trampoline(struct tl_cpu *c, uint64_t pc) {
  struct tl_step *s = c->step;
  if (!s->displaced || pc - c->m->slots.base >= c->m->slots.size - TL_PAGE - TL_STEP_WINDOW)
    return false;
  struct tl_break *b = tl_slot_break(c->m, pc);
  return b && b == tl_find_break(c->m, s->pc);
}

// A string instruction in place begins again for each round.
static bool next_round(struct tl_cpu *c, uint64_t pc) {
  struct tl_step *s = c->step;
  if (!s->begun || pc != s->pc || tl_traps(&c->counts) != s->traps)
    return false;
  struct tl_break *b = tl_find_break(c->m, pc);
  return b && tl_repeats(c, tl_page_of(c->m, pc), b);
}

static void on_step(uc_engine *uc, uint64_t pc, uint32_t size, void *cpu) {
  struct tl_cpu *c = cpu;
  struct tl_step *s = c->step;
  (void)uc;
  (void)size;
  if (!s || !s->out || in_trampoline(c, pc) || next_round(c, pc))
    return;
  if (!s->begun && pc == s->pc) {
    s->begun = true;
    return;
  }
  tl_cut(c, pc);
  tl_leave(c, pc, TL_STEPPED);
}

// Get ready to step. False if there is no memory for it, or the library refuses the hook.
bool tl_step_open(struct tl_cpu *c) {
  c->step = calloc(1, sizeof *c->step);
  if (!c->step || tl_hook_code(c, (void *)on_step, c, 1, 0))
    return false;
  c->step->env_size = uc_context_size(c->uc) - TL_CONTEXT_HEAD;
  tl_flush(c);
  return true;
}

// Nothing is left of what came before, but memory and translated code.
static void load_state(struct tl_cpu *c, const uint8_t *env) {
  memcpy(c->env, env, c->step->env_size);
  tl_clock_start(&c->clock, START, *c->pc);
  tl_set_seen(&c->m->time, 0);
  tl_set_stop(c->m, 0);
  tl_hits_start(&c->hit);
  tl_forget_loan(&c->loan);
  tl_forget_traps(&c->run); // those of other states, at the same time
  tl_end_fill(&c->tlb);
  *tl_interrupt_request(c) &= ~TL_INTERRUPT_HARD;
  tl_lib.flush_tlb(c->cs);
}

static void undo(struct tl_cpu *c, struct tl_outcome *o) {
  struct tl_machine *m = c->m;
  for (unsigned i = 0; i < o->npages; i++) {
    struct tl_step_page *p = &o->pages[i];
    memcpy(p->after, p->host, TL_PAGE);
    p->changed = memcmp(p->before, p->after, TL_PAGE);
    if (!p->changed)
      continue;
    memcpy(p->host, p->before, TL_PAGE);
    uint64_t ra = (uint64_t)(p->host - m->ram);
    if (ra < m->ram_size)
      tl_invalidate(m, ra, ra + TL_PAGE);
  }
}

// Execute the instruction at which the state env stands.
void tl_step(struct tl_cpu *c, const uint8_t *env, bool displaced, bool interrupt, struct tl_outcome *o) {
  struct tl_step *s = c->step;
  o->npages = 0;
  o->overflow = false;
  load_state(c, env);
  if (interrupt) {
    c->m->t->raise(c);
  }
  s->pc = *c->pc;
  s->begun = false;
  s->displaced = displaced;
  uint64_t interrupts = c->counts.interrupts, exceptions = c->counts.exceptions;
  s->traps = tl_traps(&c->counts);
  tl_fire_by_hook(&c->m->hooks, !displaced);
  s->out = o;
  o->error = tl_run_once(c);
  s->out = NULL;
  tl_fire_by_hook(&c->m->hooks, false);
  *c->pc = tl_canonical(c, *c->pc);
  c->m->t->normalize(c);
  o->end = c->run.why;
  o->pc = *c->pc;
  o->clock = c->clock.ns - START;
  o->interrupts = c->counts.interrupts - interrupts;
  o->exceptions = c->counts.exceptions - exceptions;
  memcpy(o->env, c->env, s->env_size);
  undo(c, o);
}

// What steps disturb of a guest that is to go on.
struct tl_aside {
  struct tl_cpu cpu;
  struct tl_journal *journal;
  uint64_t seen;
  uint32_t stop, request;
  uint8_t env[];
};

struct tl_aside *tl_step_begin(struct tl_cpu *c) {
  struct tl_aside *a = malloc(sizeof *a + c->step->env_size);
  if (!a)
    return NULL;
  a->cpu = *c;
  a->seen = c->m->time.seen;
  a->stop = c->m->stop;
  a->request = *tl_interrupt_request(c);
  memcpy(a->env, c->env, c->step->env_size);
  a->journal = tl_journal_swap(c->m, NULL); // nothing of this is of the guest's history
  return a;
}

// Put it back, but for the code buffer's own state.
void tl_step_end(struct tl_cpu *c, struct tl_aside *a) {
  a->cpu.buffer = c->buffer;
  *c = a->cpu;
  tl_journal_swap(c->m, a->journal);
  tl_set_seen(&c->m->time, a->seen);
  tl_set_stop(c->m, a->stop);
  memcpy(c->env, a->env, c->step->env_size);
  *tl_interrupt_request(c) = a->request;
  tl_lib.flush_tlb(c->cs);
  free(a);
}

struct tl_outcome *tl_outcome_new(struct tl_cpu *c) {
  struct tl_outcome *o = calloc(1, sizeof *o);
  if (o && (o->env = calloc(1, c->step->env_size)) && (o->pages = calloc(TL_STEP_PAGES, sizeof *o->pages)))
    return o;
  tl_outcome_free(o);
  return NULL;
}

void tl_outcome_free(struct tl_outcome *o) {
  if (!o)
    return;
  free(o->env);
  free(o->pages);
  free(o);
}
