// Exceptions, interrupts, the timers' registers, firmware calls and waiting: what the
// library leaves to its user, done with its own exported functions where it has them.
//
// Quirks of 2.0.1 that are answered here:
//  - Exceptions go to a hook and nowhere else.
//  - The generic timer counts the host's time and never interrupts. Its registers are given
//    other functions: a hook of MRS and MSR would be called for each of them, and a kernel
//    has one wherever it asks for the current task.
//  - WFI ends the run.
#include <string.h>

#include "arm64.h"

enum { EXCEPTION_SVC = 2, EXCEPTION_HVC = 11, EXCEPTION_SMC = 13 };

static bool user(struct tl_cpu *c) { return !(tl_arm64_env(c)->pstate & TL_PSTATE_EL); }

// The pc is that of the next instruction.
static void call_firmware(struct tl_cpu *c) {
  int why = tl_call_firmware(c, tl_canonical(c, *c->pc));
  if (why != TL_RUNNING)
    tl_end_run(c, why);
}

static void note(struct tl_cpu *c, uint32_t number) {
  if (number == EXCEPTION_SVC)
    tl_note_exception(c, TL_SYSCALL, tl_arm64_env(c)->x[8], *c->pc); // X8 has Linux's number
  else
    tl_note_exception(c, TL_EXCEPTION, number, *c->pc);
}

// The pc is that to return to: of the instruction, or of the next for SVC, HVC and SMC.
static void on_exception(uc_engine *uc, uint32_t number, void *cpu) {
  struct tl_cpu *c = cpu;
  bool fetching = tl_end_fill(&c->tlb);
  (void)uc;
  if ((number == EXCEPTION_HVC || number == EXCEPTION_SMC) && !c->run.trying) {
    call_firmware(c);
    return;
  }
  tl_leave_slot(c);
  if (!fetching)
    tl_cut(c, *c->pc); // a fetch fault comes after a complete block
  note(c, number);
  tl_trapped(c);
  tl_arm64_lib.do_interrupt(c->cs);
}

// The syndrome of the guest's own BRK at the pc: it has the immediate, by which the guest
// knows whose it is (Arm ARM, D17.2.37), and under one of ours that is not the executed one.
static uint32_t own_syndrome(struct tl_cpu *c, uint32_t syndrome) {
  if (!tl_find_break(c->m, *c->pc))
    return syndrome;
  const struct tl_page *p = tl_page_of(c->m, *c->pc);
  const uint8_t *page = p->original ? p->original : c->m->ram + p->pa;
  uint32_t brk;
  memcpy(&brk, page + (*c->pc & (TL_PAGE - 1)), sizeof brk);
  return (syndrome & ~0xffffu) | (brk >> 5 & 0xffff);
}

void TL_ARM64(helper_exception_bkpt_insn)(void *env, uint32_t syndrome) {
  struct tl_cpu *c = tl_by_env(env);
  if (c && c->live && !user(c)) {
    if (tl_trap(c) == TL_TRAP_DONE)
      tl_lib.loop_exit(c->cs);
    syndrome = own_syndrome(c, syndrome);
  }
  tl_arm64_lib.breakpoint(env, syndrome);
}

bool tl_arm64_interruptible(struct tl_cpu *c) { return !(tl_arm64_pstate(c) & TL_PSTATE_I); }

// The library asks at many places; the answer is yes only where the clock has said so.
bool TL_ARM64(arm_cpu_exec_interrupt)(void *cs, int request) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (!c || !c->live)
    return tl_arm64_lib.exec_interrupt(cs, request);
  uint64_t pc = *c->pc;
  bool taken = tl_take_interrupt(&c->clock) && tl_arm64_lib.exec_interrupt(cs, TL_INTERRUPT_HARD);
  *tl_interrupt_request(c) &= ~TL_INTERRUPT_HARD;
  if (taken)
    tl_note_interrupt(c, 0, pc);
  return taken;
}

void TL_ARM64(helper_msr_i_daifclear)(void *env, uint32_t mask) {
  struct tl_cpu *c = tl_by_env(env);
  tl_arm64_lib.daifclr(env, mask);
  if (c && c->live)
    tl_look_for_interrupts(&c->clock);
}

void TL_ARM64(helper_exception_return)(void *env, uint64_t pc) {
  struct tl_cpu *c = tl_by_env(env);
  tl_arm64_lib.eret(env, pc);
  if (c && c->live)
    tl_look_for_interrupts(&c->clock);
}

#define DAIF TL_SYSREG(3, 3, 4, 2, 1)

static uint32_t name(const struct tl_arm64_sysreg *r) { return TL_SYSREG(r->op0, r->op1, r->crn, r->crm, r->op2); }

// The generic timer (Arm ARM, D11) as EL1 and EL0 see it, without the counter's frequency.
static bool is_timer(uint32_t reg) { return reg > TL_SYSREG(3, 3, 14, 0, 0) && reg <= TL_SYSREG(3, 3, 14, 3, 7); }

static bool is_counter(uint32_t reg) { return (reg >> 3 & 15) == 0; }

// The access has been found to be allowed, and for that the pc is exact.
static uint64_t read_timer(void *env, const struct tl_arm64_sysreg *r) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c)
    return 0;
  tl_callback_at(&c->clock, is_counter(name(r)) ? tl_read_clock(c) : tl_exact(c, *c->pc));
  return c->run.trying ? c->clock.now : tlGoReadSystem(c->id, name(r));
}

static void write_timer(void *env, const struct tl_arm64_sysreg *r, uint64_t v) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c)
    return;
  tl_callback_at(&c->clock, tl_exact(c, *c->pc));
  tlGoWriteSystem(c->id, name(r), v);
}

static void write_daif(void *env, const struct tl_arm64_sysreg *r, uint64_t v) {
  struct tl_cpu *c = tl_by_env(env);
  tl_arm64_lib.write_daif(env, r, v);
  if (c && c->live && !user(c))
    tl_look_for_interrupts(&c->clock);
}

// The library asks for the register of an MRS or MSR when it translates that.
struct tl_arm64_sysreg *TL_ARM64(get_arm_cp_reginfo)(void *table, uint32_t key) {
  struct tl_arm64_sysreg *r = tl_arm64_lib.sysreg(table, key);
  tl_keep_skip(); // r itself may be named in translated code
  if (!r || key >> 16 != TL_ARM64_SYSREG_KEY || name(r) != (key & 0xffff))
    return r;
  if (is_timer(name(r))) {
    r->read = read_timer;
    r->write = write_timer;
  } else if (name(r) == DAIF && r->write != write_daif) {
    tl_arm64_lib.write_daif = r->write;
    r->write = write_daif;
  }
  return r;
}

// The pc is already that of the next instruction.
void TL_ARM64(helper_wfi)(void *env, uint32_t len) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live || user(c)) {
    tl_arm64_lib.wfi(env, len);
    return;
  }
  uint64_t next = tl_canonical(c, *c->pc);
  *c->pc = next;
  if (!c->clock.lines)
    tl_wait(c, next, 4);
  tl_look_for_interrupts(&c->clock);
  tl_lib.loop_exit(c->cs);
}

bool TL_ARM64(arm_cpu_tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra) {
  return tl_fill(cs, va, size, access, mmu, probe, ra);
}
#define TARGET(f) TL_ARM64(f)
#include "replaced.h"

void tl_arm64_hooks(struct tl_cpu *c) {
  uc_hook hook;
  uc_hook_add(c->uc, &hook, UC_HOOK_INTR, (void *)on_exception, c, 1, 0);
}
