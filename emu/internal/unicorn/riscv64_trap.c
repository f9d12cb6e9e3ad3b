// Exceptions, interrupts and waiting: what the library leaves to its user.
//
// Quirks of 2.0.1 that are answered here:
//  - Exceptions go to a hook and nowhere else, with 4 added to the pc; EBREAK ends the run.
//    All of them pass riscv_raise_exception, with an exact pc: they are delivered there.
//  - WFI ends the run.
#include "riscv64.h"

enum {
  CAUSE_ILLEGAL = 2,
  CAUSE_BREAKPOINT = 3,
  CAUSE_ECALL = 8, // the library's number, from every mode
};

#define CAUSE_INTERRUPT (1ull << 63)

// Where a handler begins: interrupts may have one each (3.1.7, 4.1.2).
static uint64_t handler(uint64_t tvec, uint64_t cause) {
  bool vectored = (tvec & 3) == 1 && (cause & CAUSE_INTERRUPT);
  return (tvec & ~3ull) + (vectored ? 4 * (cause & ~CAUSE_INTERRUPT) : 0);
}

// Privileged Architecture, 4.1: trap entry into S-mode.
static void to_supervisor(struct tl_riscv64_env *e, uint64_t cause, uint64_t tval) {
  uint64_t st = e->mstatus & ~(TL_SPIE | TL_SPP | TL_SIE);
  if (e->mstatus & TL_SIE)
    st |= TL_SPIE;
  if (e->priv)
    st |= TL_SPP;
  e->mstatus = st;
  e->scause = cause;
  e->sepc = e->pc;
  e->stval = tval;
  e->pc = handler(e->stvec, cause);
  e->priv = TL_SUPERVISOR;
}

// Privileged Architecture, 3.1: trap entry into M-mode.
static void to_machine(struct tl_riscv64_env *e, uint64_t cause, uint64_t tval) {
  uint64_t st = e->mstatus & ~(TL_MPIE | TL_MPP | TL_MIE);
  if (e->mstatus & TL_MIE)
    st |= TL_MPIE;
  e->mstatus = st | e->priv << TL_MPP_SHIFT;
  e->mcause = cause;
  e->mepc = e->pc;
  e->mtval = tval;
  e->pc = handler(e->mtvec, cause);
  e->priv = TL_MACHINE;
}

// A trap goes to S-mode if it is delegated and does not come from M-mode (3.1.8).
static void deliver(struct tl_cpu *c, uint64_t cause, uint64_t tval) {
  struct tl_riscv64_env *e = c->env;
  uint64_t delegated = cause & CAUSE_INTERRUPT ? e->mideleg : e->medeleg;
  if (e->priv != TL_MACHINE && (delegated >> (cause & 63) & 1))
    to_supervisor(e, cause, tval);
  else
    to_machine(e, cause, tval);
  e->load_res = ~0ull;
}

static void call_firmware(struct tl_cpu *c) {
  tl_count_firmware_call(&c->counts);
  int why = tl_call_firmware(c, tl_canonical(c, *c->pc + 4));
  if (why != TL_RUNNING)
    tl_leave(c, *c->pc, why);
}

static void exception(struct tl_cpu *c, uint32_t cause) {
  struct tl_riscv64_env *e = c->env;
  // A fetch fault comes after a complete block: there is nothing to take off the clock.
  bool fetching = tl_end_fill(&c->tlb), user = e->priv == TL_USER;
  if (cause == CAUSE_BREAKPOINT && !user && tl_trap(c) == TL_TRAP_DONE)
    return;
  if (cause == CAUSE_ECALL && !user && !tl_riscv64_own(c)->bare) {
    call_firmware(c);
    return;
  }
  if (cause == CAUSE_ILLEGAL)
    tl_hook_undecoded(c, e->pc);
  tl_leave_slot(c);
  if (!fetching)
    tl_cut(c, e->pc);
  uint64_t tval = e->badaddr;
  if (cause == CAUSE_ILLEGAL || cause == CAUSE_ECALL)
    tval = 0;
  if (cause == CAUSE_BREAKPOINT)
    tval = e->pc;
  if (cause == CAUSE_ECALL)
    tl_note_exception(c, TL_SYSCALL, e->gpr[17], e->pc); // a7 has Linux's number
  else
    tl_note_exception(c, TL_EXCEPTION, cause, e->pc);
  tl_trapped(c);
  deliver(c, cause == CAUSE_ECALL ? CAUSE_ECALL + e->priv : cause, tval);
}

void TL_RISCV64(riscv_raise_exception)(void *env, uint32_t cause, uintptr_t retaddr) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live)
    tl_riscv64_lib.raise(env, cause, retaddr);
  tl_lib.restore_state(c->cs, retaddr, true);
  exception(c, cause);
  tl_lib.loop_exit(c->cs);
}

static uint64_t first_of(uint64_t set) {
  static const uint64_t order[] = {TL_MEIP, TL_MSIP, TL_MTIP, TL_SEIP, TL_SSIP, TL_STIP};
  for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
    if (set & order[i])
      return order[i];
  return 0;
}

// The interrupt to take now, as a bit of mip, or 0 (Privileged Architecture, 3.1.9, 4.1.3).
static uint64_t pending(struct tl_cpu *c) {
  struct tl_riscv64_env *e = c->env;
  uint64_t p = e->mip & e->mie, machine = p & ~e->mideleg, supervisor = p & e->mideleg;
  if (machine && (e->priv != TL_MACHINE || (e->mstatus & TL_MIE)))
    return first_of(machine);
  if (e->priv == TL_USER || (e->priv == TL_SUPERVISOR && (e->mstatus & TL_SIE)))
    return first_of(supervisor);
  return 0;
}

bool tl_riscv64_interruptible(struct tl_cpu *c) { return pending(c); }

// The library asks at many places; the answer is yes only where the clock has said so.
bool TL_RISCV64(riscv_cpu_exec_interrupt)(void *cs, int request) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (!c || !c->live)
    return tl_riscv64_lib.exec_interrupt(cs, request);
  *tl_interrupt_request(c) &= ~TL_INTERRUPT_HARD;
  uint64_t p = tl_take_interrupt(&c->clock) ? pending(c) : 0;
  if (!p)
    return false;
  tl_note_interrupt(c, (uint64_t)__builtin_ctzll(p), tl_riscv64_env(c)->pc);
  deliver(c, CAUSE_INTERRUPT | (uint64_t)__builtin_ctzll(p), 0);
  return true;
}

// What the lines are in mip, from bit 0 of a set of lines on.
static const uint64_t in_mip[] = {TL_SEIP, TL_STIP, TL_SSIP, TL_MEIP, TL_MTIP, TL_MSIP};
enum { LINES = sizeof in_mip / sizeof in_mip[0] };

// The interrupt requests of devices and firmware, as the guest reads them.
void tl_riscv64_lines(struct tl_cpu *c, uint8_t lines) {
  struct tl_riscv64_env *e = c->env;
  for (unsigned i = 0; i < LINES; i++)
    e->mip = (e->mip & ~in_mip[i]) | (lines >> i & 1 ? in_mip[i] : 0);
  tl_set_lines(&c->clock, lines);
}

// The lines that stand are those that the guest sees.
void tl_riscv64_restored(struct tl_cpu *c) {
  uint64_t mip = tl_riscv64_env(c)->mip;
  uint8_t lines = 0;
  for (unsigned i = 0; i < LINES; i++)
    lines |= (mip & in_mip[i] ? 1 : 0) << i;
  tl_riscv64_lines(c, lines);
}

uint64_t TL_RISCV64(helper_sret)(void *env, uint64_t pc) {
  struct tl_cpu *c = tl_by_env(env);
  uint64_t to = tl_riscv64_lib.sret(env, pc);
  if (c && c->live)
    tl_look_for_interrupts(&c->clock);
  return to;
}

uint64_t TL_RISCV64(helper_mret)(void *env, uint64_t pc) {
  struct tl_cpu *c = tl_by_env(env);
  uint64_t to = tl_riscv64_lib.mret(env, pc);
  if (c && c->live)
    tl_look_for_interrupts(&c->clock);
  return to;
}

// The pc is already that of the next instruction.
void TL_RISCV64(helper_wfi)(void *env) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live) {
    tl_riscv64_lib.wfi(env);
    return;
  }
  struct tl_riscv64_env *e = c->env;
  uint64_t next = tl_canonical(c, e->pc);
  if (e->priv == TL_USER) {
    e->pc = next - 4;
    exception(c, CAUSE_ILLEGAL);
    tl_lib.loop_exit(c->cs);
  }
  e->pc = next;
  tl_cut(c, next); // it does not end the block
  if (!(e->mip & e->mie)) // otherwise it goes on, whatever sstatus says
    tl_wait(c, next, 4);
  tl_look_for_interrupts(&c->clock);
  tl_lib.loop_exit(c->cs);
}

bool TL_RISCV64(riscv_cpu_tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  return tl_fill(cs, va, size, access, mmu, probe, ra);
}
#define TARGET(f) TL_RISCV64(f)
#include "replaced.h"
