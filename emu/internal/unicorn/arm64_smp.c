// What CPUs of arm64 do to each other without an interrupt: that translations have changed, and
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

// Where there are several CPUs, ns of the time of one pass that says that it waits for another: what
// it waits for happens when that has run, and kernels wait for a time that way too. The pc is already
// that of the next instruction. Returns only if this is none of ours.
static void let_others_run(void *env, uint64_t ns) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live || c->m->ncpus == 1)
    return;
  uint64_t next = *c->pc = tl_canonical(c, *c->pc);
  tl_pass_time(c, ns);
  tl_look_for_interrupts(&c->clock);
  if (c->clock.ns >= c->clock.slice)
    tl_leave(c, next, TL_SLICED);
  tl_lib.loop_exit(c->cs);
}

// It may go on without an event (Arm ARM, D1.6.1).
void TL_ARM64(helper_wfe)(void *env) {
  let_others_run(env, 20000);
  tl_arm64_lib.yield(env);
}

void TL_ARM64(helper_yield)(void *env) {
  let_others_run(env, 1000);
  tl_arm64_lib.yield(env);
}
