// What CPUs of arm64 tell each other without an interrupt: that translations have changed, and
// events.
//
// Quirks of 2.0.1 that are answered here:
//  - TLB maintenance for all CPUs (TLBI ...IS) is done on one, as it knows no others.
//  - WFE and YIELD leave the run, to begin it anew.
#include "arm64.h"

void TL_ARM64(tlb_flush_by_mmuidx_all_cpus_synced)(void *cs, uint16_t mmus) {
  struct tl_cpu *c = tl_by_cs(cs);
  for (unsigned i = 0; c && i < c->m->ncpus; i++)
    tl_arm64_lib.flush_all(c->m->cpus[i]->cs, mmus);
}

void TL_ARM64(tlb_flush_page_by_mmuidx_all_cpus_synced)(void *cs, uint64_t va, uint16_t mmus) {
  struct tl_cpu *c = tl_by_cs(cs);
  for (unsigned i = 0; c && i < c->m->ncpus; i++)
    tl_arm64_lib.flush_page_all(c->m->cpus[i]->cs, va, mmus);
}

static bool interrupted(struct tl_cpu *c) { return c->line && tl_arm64_interruptible(c); }

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

// What is due meanwhile comes in time. That of the tracer does not end the wait, nor does the slice:
// where it ends must not matter to the guest.
static void wait_until(struct tl_cpu *c, uint64_t until) {
  while (c->clock < until && !interrupted(c) && !c->m->stop) {
    uint64_t to = earliest(until, c->deadline);
    if (to > c->clock)
      c->clock = to;
    if (c->clock < c->deadline)
      continue;
    c->now = c->clock;
    tlGoAttend(c->id);
  }
}

// Where there are several CPUs, ns of the time of one pass that says that it waits for another: what
// it waits for happens when that has run, and kernels wait for a time that way too. The pc is already that of the next instruction. Returns only if
// this is none of ours.
static void pass(void *env, uint64_t ns) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live || c->m->ncpus == 1)
    return;
  uint64_t next = *c->pc = tl_canonical(c, *c->pc);
  wait_until(c, c->clock + ns);
  tl_arm64_look_again(c);
  if (c->clock >= c->slice)
    tl_leave(c, next, TL_SLICED);
  tl_lib.loop_exit(c->cs);
}

// It may go on without an event (Arm ARM, D1.6.1).
void TL_ARM64(helper_wfe)(void *env) {
  pass(env, 20000);
  tl_arm64_lib.yield(env);
}

void TL_ARM64(helper_yield)(void *env) {
  pass(env, 1000);
  tl_arm64_lib.yield(env);
}
