// Running the guest, and the ways in which a run ends.
#include "library.h"

// Run until something ends the run, or the library fails with the error returned.
int tl_run_once(struct tl_cpu *c) {
  struct tl_cpu *outer = tl_enter(c);
  int err = 0;
  c->run.why = TL_RUNNING;
  c->run.delivering = false;
  while (c->run.why == TL_RUNNING && !err) {
    err = uc_emu_start(c->uc, *c->pc, 0, 0, 0); // ends by itself after #UD and a flush
    if (c->run.delivering)
      c->run.why = TL_TRIPLE;
    if (c->run.trying)
      break; // a library that ends otherwise is not the one that is known
  }
  tl_enter(outer);
  return err;
}

// Run code that a target tries. True if it ended as it should, after bytes of clock.
bool tl_try(struct tl_cpu *c, int end, uint64_t bytes) {
  c->run.trying = true;
  int err = tl_run_once(c);
  c->run.trying = false;
  bool ok = !err && c->run.why == end && c->clock.ns == bytes;
  tl_clock_start(&c->clock, 0, 0);
  tl_set_seen(&c->m->time, 0);
  tl_forget_counts(&c->counts);
  tl_flush(c);
  return ok;
}

void tl_set_stop(struct tl_machine *m, uint32_t stop) { __atomic_store_n(&m->stop, stop, __ATOMIC_SEQ_CST); }

// Run until something ends the run, an enum tl_end; *err says more for TL_FAILED.
// A stop that comes while nothing runs ends the next run at once.
// Where other CPUs may have run since the last, a store exclusive fails whose load was in that: the
// library would compare values, and not see that the old one has come back.
int tl_run(struct tl_cpu *c, const char **err) {
  if (c->m->ncpus > 1 && c->m->t->monitor)
    *c->m->t->monitor(c) = TL_NO_MONITOR;
  tl_look_around(&c->clock); // at everything that may have changed
  int code = tl_run_once(c);
  if (!tl_clock_stopped(c) && c->run.why == TL_STOPPED)
    tl_set_stop(c->m, 0);
  *err = code ? uc_strerror(code) : NULL;
  return code ? TL_FAILED : c->run.why;
}

// May be called from any thread.
void tl_stop(struct tl_machine *m) {
  tl_set_stop(m, 1);
  for (unsigned i = 0; i < m->ncpus; i++)
    tl_look_around(&m->cpus[i]->clock);
}

// End the run when the block under way has been left.
void tl_end_run(struct tl_cpu *c, int why) {
  c->run.why = why;
  uc_emu_stop(c->uc);
}

// End the run with the guest at pc. Does not return.
void tl_leave(struct tl_cpu *c, uint64_t pc, int why) {
  tl_go_to(c, pc);
  tl_end_run(c, why);
  tl_lib.loop_exit(c->cs);
}

// An exception is about to be delivered. A guest whose handler is not there gets another for it,
// and executes nothing any more: no block begins that could be left.
void tl_trapped(struct tl_cpu *c) {
  enum { MANY = 1000 };
  struct tl_run *r = &c->run;
  if (c->clock.ns != r->trapped)
    r->traps = 0;
  r->trapped = c->clock.ns;
  if (++r->traps < MANY)
    return;
  r->traps = 0;
  tl_end_run(c, TL_HUNG);
}

void tl_forget_traps(struct tl_run *r) { r->traps = 0; }

// The guest waits for an interrupt; the instruction that says so, of len bytes, has been executed and
// ends at next. Returns when there is one. A CPU that is parked has executed the instruction; where
// the run ends otherwise, it stays at it.
void tl_wait(struct tl_cpu *c, uint64_t next, unsigned len) {
  tl_callback_at(&c->clock, c->clock.ns);
  int why = c->run.trying ? TL_HUNG : tlGoIdle(c->id);
  if (why == TL_RUNNING)
    return;
  if (why == TL_PARKED) {
    tl_look_around(&c->clock); // another CPU may interrupt it
    tl_look_for_interrupts(&c->clock);
    tl_leave(c, next, why);
  }
  tl_cut(c, next - len);
  tl_leave(c, next - len, why);
}

// The guest calls its firmware and goes on at next. Why the run ends then, or TL_RUNNING.
int tl_call_firmware(struct tl_cpu *c, uint64_t next) {
  *c->pc = next;
  tl_callback_at(&c->clock, tl_exact(c, next));
  tlGoCall(c->id);
  bool park = c->run.park;
  c->run.park = false;
  return c->m->stop ? TL_STOPPED : park ? TL_PARKED : TL_RUNNING;
}
