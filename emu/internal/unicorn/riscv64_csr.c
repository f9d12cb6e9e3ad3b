// Control and status registers that mean something to the machine: the time, the timer, and
// what masks interrupts or changes how addresses are translated.
//
// Quirks of 2.0.1 that are answered here:
//  - rdtime is illegal; rdcycle and rdinstret read the host's counter.
//  - A change of satp's mode does not flush the TLB.
//  - Every engine is hart 0.
//  - It has no Sstc: stimecmp and menvcfg are illegal. The Go side has the timer.
#include "riscv64.h"

enum {
  CSR_SSTATUS = 0x100, CSR_SIE = 0x104, CSR_SIP = 0x144, CSR_STIMECMP = 0x14d, CSR_SATP = 0x180,
  CSR_MSTATUS = 0x300, CSR_MIDELEG = 0x303, CSR_MIE = 0x304, CSR_MENVCFG = 0x30a, CSR_MIP = 0x344,
  CSR_MCYCLE = 0xb00, CSR_MINSTRET = 0xb02,
  CSR_CYCLE = 0xc00, CSR_TIME = 0xc01, CSR_INSTRET = 0xc02, CSR_MHARTID = 0xf14,
};

enum { ILLEGAL = -1 }; // what riscv_csrrw returns

#define NS_PER_TICK 100 // timebase-frequency 10 MHz
#define COUNTEREN_TM 2
#define MENVCFG_STCE (1ull << 63)

// May this mode read the counter (3.1.11, 4.1.5)? Our firmware allows those that it can.
static bool may_read(struct tl_cpu *c, int csr) {
  struct tl_riscv64_env *e = c->env;
  int n = csr - CSR_CYCLE;
  if (e->priv == TL_MACHINE || n < 0)
    return e->priv == TL_MACHINE;
  return !tl_riscv64_own(c)->bare || ((e->mcounteren >> n & 1) && (e->priv == TL_SUPERVISOR || (e->scounteren >> n & 1)));
}

// A read of a counter: 0, or ILLEGAL.
static int counter(struct tl_cpu *c, int csr, uint64_t *old) {
  if (!may_read(c, csr))
    return ILLEGAL;
  if (old)
    *old = csr == CSR_TIME ? tl_read_clock(c) / NS_PER_TICK : tl_exact(c, *c->pc);
  return 0;
}

static bool is_counter(int csr) {
  return csr == CSR_TIME || csr == CSR_CYCLE || csr == CSR_INSTRET || csr == CSR_MCYCLE || csr == CSR_MINSTRET;
}

static bool compares_time(struct tl_cpu *c) { return tlGoReadSystem(c->id, CSR_MENVCFG) & MENVCFG_STCE; }

// The supervisor's timer (Sstc, chapter 2): 0, or ILLEGAL.
static int timer(struct tl_cpu *c, int csr, uint64_t *old, uint64_t value, uint64_t mask) {
  struct tl_riscv64_env *e = c->env;
  bool machine = e->priv == TL_MACHINE;
  if (csr == CSR_MENVCFG ? !machine
                         : e->priv == TL_USER ||
                               (!machine && !(compares_time(c) && (e->mcounteren & COUNTEREN_TM))))
    return ILLEGAL;
  tl_callback_at(&c->clock, tl_exact(c, *c->pc));
  uint64_t was = tlGoReadSystem(c->id, csr);
  if (old)
    *old = was;
  if (mask) {
    tlGoWriteSystem(c->id, csr, (was & ~mask) | (value & mask));
    tl_look_for_interrupts(&c->clock);
  }
  return 0;
}

// Interrupts have to be looked at after a write to these (Privileged Architecture, 4.1.3).
// Such an instruction ends its block.
static bool masks_interrupts(int csr) {
  return csr == CSR_SSTATUS || csr == CSR_SIE || csr == CSR_SIP || csr == CSR_MSTATUS || csr == CSR_MIDELEG ||
         csr == CSR_MIE || csr == CSR_MIP;
}

// The guest has written mip or sip: the supervisor's software interrupt is what it says, and
// in mip its timer interrupt, unless stimecmp decides that. The others are their devices'.
static void pending_written(struct tl_cpu *c, int csr) {
  uint64_t mip = tl_riscv64_env(c)->mip;
  uint8_t own = TL_LINE_SOFTWARE, lines = mip & TL_SSIP ? TL_LINE_SOFTWARE : 0;
  if (csr == CSR_MIP && tl_riscv64_own(c)->bare && !compares_time(c)) {
    own |= TL_LINE_TIMER;
    lines |= mip & TL_STIP ? TL_LINE_TIMER : 0;
  }
  tl_riscv64_lines(c, (c->clock.lines & ~own) | lines);
}

int TL_RISCV64(riscv_csrrw)(void *env, int csr, uint64_t *old, uint64_t value, uint64_t mask) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live)
    return tl_riscv64_lib.csrrw(env, csr, old, value, mask);
  struct tl_riscv64_env *e = c->env;
  if (!mask && is_counter(csr))
    return counter(c, csr, old);
  if (tl_riscv64_own(c)->bare && (csr == CSR_STIMECMP || csr == CSR_MENVCFG))
    return timer(c, csr, old, value, mask);
  if (csr == CSR_MHARTID && !mask && e->priv == TL_MACHINE) {
    if (old)
      *old = c->id;
    return 0;
  }
  uint64_t satp = e->satp;
  int err = tl_riscv64_lib.csrrw(env, csr, old, value, mask);
  if (csr == CSR_SATP && (satp ^ e->satp) >> 60)
    tl_lib.flush_tlb(c->cs);
  if ((csr == CSR_SIP || csr == CSR_MIP) && mask)
    pending_written(c, csr);
  if (!err && mask && masks_interrupts(csr))
    tl_look_for_interrupts(&c->clock);
  return err;
}
