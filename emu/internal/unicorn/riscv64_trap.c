// Exceptions, interrupts, CSRs with a meaning of their own, and waiting: what the library
// leaves to its user, or answers with the host's.
//
// Quirks of 2.0.1 that are answered here:
//  - Exceptions go to a hook and nowhere else, with 4 added to the pc; EBREAK ends the run.
//    All of them pass riscv_raise_exception, with an exact pc: they are delivered there.
//  - rdtime is illegal; rdcycle and rdinstret read the host's counter.
//  - A change of satp's mode does not flush the TLB.
//  - WFI ends the run.
#include "riscv64.h"

enum {
  CAUSE_ILLEGAL = 2,
  CAUSE_BREAKPOINT = 3,
  CAUSE_ECALL = 8, // the library's number, from every mode
};

enum {
  CSR_SSTATUS = 0x100, CSR_SIE = 0x104, CSR_SIP = 0x144, CSR_SATP = 0x180,
  CSR_MSTATUS = 0x300, CSR_MIE = 0x304, CSR_MIP = 0x344,
  CSR_MCYCLE = 0xb00, CSR_MINSTRET = 0xb02,
  CSR_CYCLE = 0xc00, CSR_TIME = 0xc01, CSR_INSTRET = 0xc02,
};

#define NS_PER_TICK 100 // timebase-frequency 10 MHz

// Privileged Architecture, 4.1: trap entry into S-mode.
static void deliver(struct tl_cpu *c, uint64_t cause, uint64_t tval) {
  struct tl_riscv64_env *e = c->env;
  uint64_t st = e->mstatus & ~(TL_SPIE | TL_SPP | TL_SIE);
  if (e->mstatus & TL_SIE)
    st |= TL_SPIE;
  if (e->priv)
    st |= TL_SPP;
  e->mstatus = st;
  e->scause = cause;
  e->sepc = e->pc;
  e->stval = tval;
  e->pc = e->stvec & ~3ull;
  e->priv = TL_SUPERVISOR;
  e->load_res = ~0ull;
}

static void call_firmware(struct tl_cpu *c) {
  c->syscalls++;
  *c->pc = tl_canonical(c, *c->pc + 4);
  c->now = tl_exact(c, *c->pc);
  tlGoCall(c->id);
  if (c->stop)
    tl_leave(c, *c->pc, TL_STOPPED);
}

static void exception(struct tl_cpu *c, uint32_t cause) {
  struct tl_riscv64_env *e = c->env;
  // A fetch fault comes after a complete block: there is nothing to take off the clock.
  bool fetching = c->filling == 1 + TL_FETCH, user = e->priv == TL_USER;
  c->filling = 0;
  if (cause == CAUSE_BREAKPOINT && !user && tl_trap(c) == TL_TRAP_DONE)
    return;
  if (cause == CAUSE_ECALL && !user) {
    call_firmware(c);
    return;
  }
  tl_settle(c);
  if (!fetching)
    tl_cut(c, e->pc);
  uint64_t tval = e->badaddr;
  if (cause == CAUSE_ILLEGAL || cause == CAUSE_ECALL)
    tval = 0;
  if (cause == CAUSE_BREAKPOINT)
    tval = e->pc;
  c->exceptions++;
  deliver(c, cause, tval);
}

void TL_RISCV64(riscv_raise_exception)(void *env, uint32_t cause, uintptr_t retaddr) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->m->live)
    tl_riscv64_lib.raise(env, cause, retaddr);
  tl_lib.restore_state(c->cs, retaddr, true);
  exception(c, cause);
  tl_lib.loop_exit(c->cs);
}

// The interrupt to take now, as a bit of mip, or 0 (Privileged Architecture, 4.1.3).
static uint64_t pending(struct tl_cpu *c) {
  struct tl_riscv64_env *e = c->env;
  uint64_t p = e->mip & e->mie & (TL_SEIP | TL_SSIP | TL_STIP);
  if (e->priv != TL_USER && !(e->mstatus & TL_SIE))
    return 0;
  return p & TL_SEIP ? TL_SEIP : p & TL_SSIP ? TL_SSIP : p & TL_STIP;
}

bool tl_riscv64_interruptible(struct tl_cpu *c) { return pending(c); }

// The library asks at many places; the answer is yes only where the clock has said so.
bool TL_RISCV64(riscv_cpu_exec_interrupt)(void *cs, int request) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (!c || !c->m->live)
    return tl_riscv64_lib.exec_interrupt(cs, request);
  *tl_interrupt_request(c) &= ~TL_INTERRUPT_HARD;
  uint64_t p = c->taking ? pending(c) : 0;
  c->taking = 0;
  if (!p)
    return false;
  c->interrupts++;
  deliver(c, 1ull << 63 | (uint64_t)__builtin_ctzll(p), 0);
  return true;
}

// The interrupt requests of devices and firmware, as the guest reads them.
void tl_riscv64_lines(struct tl_cpu *c, uint8_t lines) {
  struct tl_riscv64_env *e = c->env;
  e->mip &= ~(TL_SEIP | TL_STIP | TL_SSIP);
  e->mip |= (lines & TL_LINE_EXTERNAL ? TL_SEIP : 0) | (lines & TL_LINE_TIMER ? TL_STIP : 0) |
            (lines & TL_LINE_SOFTWARE ? TL_SSIP : 0);
  c->line = lines;
  if (lines)
    c->trig = 0;
}

static bool counter(struct tl_cpu *c, int csr, uint64_t *old) {
  uint64_t now = tl_exact(c, *c->pc);
  switch (csr) {
  case CSR_TIME:
    now /= NS_PER_TICK; // fall through
  case CSR_CYCLE: case CSR_INSTRET: case CSR_MCYCLE: case CSR_MINSTRET:
    if (old)
      *old = now;
    return true;
  }
  return false;
}

// Interrupts have to be looked at after a write to these (Privileged Architecture, 4.1.3).
// Such an instruction ends its block.
static bool masks_interrupts(int csr) {
  return csr == CSR_SSTATUS || csr == CSR_SIE || csr == CSR_SIP || csr == CSR_MSTATUS || csr == CSR_MIE ||
         csr == CSR_MIP;
}

int TL_RISCV64(riscv_csrrw)(void *env, int csr, uint64_t *old, uint64_t value, uint64_t mask) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->m->live)
    return tl_riscv64_lib.csrrw(env, csr, old, value, mask);
  struct tl_riscv64_env *e = c->env;
  if (!mask && counter(c, csr, old))
    return 0;
  uint64_t satp = e->satp;
  int err = tl_riscv64_lib.csrrw(env, csr, old, value, mask);
  if (csr == CSR_SATP && (satp ^ e->satp) >> 60)
    tl_lib.flush_tlb(c->cs);
  if ((csr == CSR_SIP || csr == CSR_MIP) && mask)
    tl_riscv64_lines(c, (c->line & ~TL_LINE_SOFTWARE) | (e->mip & TL_SSIP ? TL_LINE_SOFTWARE : 0));
  if (!err && mask && masks_interrupts(csr))
    c->end = 0; // wherever it goes on, an interrupt may be taken there
  return err;
}

uint64_t TL_RISCV64(helper_sret)(void *env, uint64_t pc) {
  struct tl_cpu *c = tl_by_env(env);
  uint64_t to = tl_riscv64_lib.sret(env, pc);
  if (c && c->m->live)
    c->end = 0; // as after those CSRs
  return to;
}

// The pc is already that of the next instruction.
void TL_RISCV64(helper_wfi)(void *env) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->m->live) {
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
  int why = e->mip & e->mie ? TL_RUNNING : tl_idle(c); // it goes on, whatever sstatus says
  if (why != TL_RUNNING) {
    tl_cut(c, next - 4); // not woken: stay at the instruction
    tl_leave(c, next - 4, why);
  }
  c->end = 0; // wherever it goes on, an interrupt may be taken there
  tl_lib.loop_exit(c->cs);
}

bool TL_RISCV64(riscv_cpu_tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  struct tl_cpu *c = tl_by_cs(cs);
  return c && c->m->live ? tl_fill(c, va, size, access, mmu, probe, ra)
                         : tl_lib.tlb_fill(cs, va, size, access, mmu, probe, ra);
}
#define TARGET(f) TL_RISCV64(f)
#include "replaced.h"

void tl_riscv64_hooks(struct tl_cpu *c) {
  uc_hook hook;
  uc_hook_add(c->uc, &hook, UC_HOOK_BLOCK, (void *)tl_on_block, c, 1, 0);
}
