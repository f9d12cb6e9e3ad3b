// The arm64 CPU as a guest finds it: private state located and checked, the state in which
// firmware hands over to a kernel.
//
// Quirks of 2.0.1 that are answered here:
//  - The CPU starts in secure state, from which no exception is taken to AArch64.
//  - Its pages have 1 KiB, the smallest that any Arm CPU has; this one never has less than 4.
#include "arm64.h"

#include <string.h>

#define PAGE_BITS 12

#define SCR_EL3 TL_SYSREG(3, 6, 1, 1, 0)
#define HCR_EL2 TL_SYSREG(3, 4, 1, 1, 0)
#define VMPIDR_EL2 TL_SYSREG(3, 4, 0, 0, 5)
#define SP_EL0 TL_SYSREG(3, 0, 4, 1, 0)
#define TPIDR_EL1 TL_SYSREG(3, 0, 13, 0, 4)
#define SCTLR_EL1 TL_SYSREG(3, 0, 1, 0, 0)
#define TTBR0_EL1 TL_SYSREG(3, 0, 2, 0, 0)
#define TTBR1_EL1 TL_SYSREG(3, 0, 2, 0, 1)
#define TCR_EL1 TL_SYSREG(3, 0, 2, 0, 2)
#define SPSR_EL1 TL_SYSREG(3, 0, 4, 0, 0)
#define ELR_EL1 TL_SYSREG(3, 0, 4, 0, 1)
#define ESR_EL1 TL_SYSREG(3, 0, 5, 2, 0)
#define FAR_EL1 TL_SYSREG(3, 0, 6, 0, 0)
#define VBAR_EL1 TL_SYSREG(3, 0, 12, 0, 0)

struct tl_arm64_library tl_arm64_lib;

static uc_arm64_cp_reg cp_reg(uint32_t reg) {
  return (uc_arm64_cp_reg){
      .op0 = reg >> 14, .op1 = reg >> 11 & 7, .crn = reg >> 7 & 15, .crm = reg >> 3 & 15, .op2 = reg & 7};
}

uint64_t tl_arm64_system(struct tl_cpu *c, uint32_t reg) {
  uc_arm64_cp_reg r = cp_reg(reg);
  uc_reg_read(c->uc, UC_ARM64_REG_CP_REG, &r);
  return r.val;
}

void tl_arm64_set_system(struct tl_cpu *c, uint32_t reg, uint64_t v) {
  uc_arm64_cp_reg r = cp_reg(reg);
  r.val = v;
  uc_reg_write(c->uc, UC_ARM64_REG_CP_REG, &r);
}

uint32_t tl_arm64_pstate(struct tl_cpu *c) {
  uint32_t v = 0;
  uc_reg_read(c->uc, UC_ARM64_REG_PSTATE, &v);
  return v;
}

void tl_arm64_set_pstate(struct tl_cpu *c, uint32_t v) {
  uc_reg_write(c->uc, UC_ARM64_REG_PSTATE, &v);
  tl_arm64_lib.rebuild_hflags(c->env);
}

static const char *prepare(struct tl_cpu *c) {
  int *bits = (int *)((uint8_t *)c->uc + TL_UC_TARGET_BITS);
  uint32_t size = 0;
  if (uc_ctl_set_cpu_model(c->uc, UC_CPU_ARM64_A57))
    return "it has no Cortex-A57";
  int before = *bits;
  *bits = PAGE_BITS;
  uc_ctl_get_page_size(c->uc, &size);
  if (size != TL_PAGE) {
    *bits = before;
    return "its page size is not where it is known to be";
  }
  return NULL;
}

static bool general_registers_match(struct tl_cpu *c) {
  struct tl_arm64_env *e = c->env;
  bool ok = e->aarch64 == 1;
  for (unsigned i = 0; i < 29; i++) {
    uint64_t v = 0x0123456789abcd00ull + i, zero = 0;
    uc_reg_write(c->uc, UC_ARM64_REG_X0 + i, &v);
    ok = ok && e->x[i] == v;
    uc_reg_write(c->uc, UC_ARM64_REG_X0 + i, &zero);
  }
  uint64_t sp = 0x1122334455667788ull, pc = 0x7654321076543210ull, got = 0;
  uc_reg_write(c->uc, UC_ARM64_REG_SP, &sp);
  e->pc = pc;
  uc_reg_read(c->uc, UC_ARM64_REG_PC, &got);
  return ok && e->x[31] == sp && got == pc;
}

static bool system_registers_match(struct tl_cpu *c) {
  tl_arm64_set_pstate(c, 0x60000000 | TL_PSTATE_KERNEL);
  bool ok = tl_arm64_pstate(c) == (0x60000000 | TL_PSTATE_KERNEL) &&
            (tl_arm64_env(c)->pstate & TL_PSTATE_EL) == 4;
  tl_arm64_set_system(c, VBAR_EL1, 0xffff000012345800ull);
  ok = ok && tl_arm64_system(c, VBAR_EL1) == 0xffff000012345800ull;
  tl_arm64_set_system(c, VBAR_EL1, 0);
  return ok;
}

static const uint32_t places[TL_ARM64_PLACES] = {SP_EL0, TPIDR_EL1, SCTLR_EL1, TTBR0_EL1, TTBR1_EL1, TCR_EL1};

uint32_t tl_arm64_place(const struct tl_cpu *c, uint32_t reg) {
  for (unsigned i = 0; i < TL_ARM64_PLACES; i++)
    if (places[i] == reg)
      return tl_arm64_own(c)->places[i];
  return 0;
}

// The offset of the only word of the state that has this value, or 0.
static uint32_t only_word(struct tl_cpu *c, uint64_t v) {
  const uint64_t *words = c->env;
  uint32_t at = 0;
  for (uint32_t i = 0; i < TL_ARM64_EXCLUSIVE / sizeof *words; i++)
    if (words[i] == v && at)
      return 0;
    else if (words[i] == v)
      at = i * (uint32_t)sizeof *words;
  return at;
}

// A value that a register is given through the public API shows where it is.
static void find_places(struct tl_cpu *c) {
  for (unsigned i = 0; i < TL_ARM64_PLACES; i++) {
    uint64_t was = tl_arm64_system(c, places[i]), marked = 0x5a3c000000c50838ull + ((i + 1ull) << 32);
    tl_arm64_set_system(c, places[i], marked);
    tl_arm64_own(c)->places[i] = only_word(c, marked);
    tl_arm64_set_system(c, places[i], was);
  }
}

static const char *find(struct tl_cpu *c) {
  enum { NS = 1, FIXED = 0x30, HCE = 0x100, RW = 0x400 };
  tl_arm64_set_system(c, SCR_EL3, NS | FIXED | HCE | RW);
  tl_arm64_set_system(c, HCR_EL2, 1ull << 31); // EL1 is AArch64
  if (c->id) // what EL1 reads as MPIDR_EL1
    tl_arm64_set_system(c, VMPIDR_EL2, tl_arm64_system(c, VMPIDR_EL2) | (uint64_t)c->id);
  if (!general_registers_match(c))
    return "its registers are not laid out as known";
  if (!system_registers_match(c))
    return "its system registers are not laid out as known";
  find_places(c);
  if (*tl_interrupt_request(c) & TL_INTERRUPT_HARD)
    return "its interrupt request is not where it is known to be";
  return NULL;
}

// EL1, MMU off, interrupts masked, the device tree in x0 (Linux,
// Documentation/arm64/booting.rst).
void tl_arm64_start(struct tl_cpu *c, uint64_t pc, uint64_t x0) {
  struct tl_arm64_env *e = c->env;
  memset(e->x, 0, sizeof e->x);
  tl_arm64_set_system(c, SCTLR_EL1, 0x00c50838);
  tl_arm64_set_pstate(c, TL_PSTATE_KERNEL);
  e->x[0] = x0;
  e->pc = pc;
  e->exclusive_addr = TL_NO_MONITOR;
}

// One page of code at an address that is not its physical one: translation, an exception
// that takes its time off the clock, a load exclusive, a device, a fault with its registers,
// the time.
static const char *try_code(struct tl_cpu *c) {
  static const uint32_t code[] = {
      0x10000006, // adr x6, .
      0x885f7cc7, // ldxr w7, [x6]
      0x10007fc1, // adr x1, .+4088: the next page
      0xb9400021, // ldr w1, [x1]: a device
      0xd2800001, // mov x1, #0
      0xf9400022, // ldr x2, [x1]: no such page
      0xd4200000, // brk, not reached
  };
  static const uint32_t handler[] = {
      0xd5385203, // mrs x3, esr_el1
      0xd5384024, // mrs x4, elr_el1
      0xd53be045, // mrs x5, cntvct_el0
      0xd503207f, // wfi
  };
  enum { L0 = 0x1000, L1 = 0x2000, L2 = 0x3000, L3 = 0x4000, CODE = 0x5000, NONE = 0x6000, DEVICE = 0x1000 };
  const uint64_t va = 0xffffff8000007000ull, base = c->m->ram_base;
  struct tl_arm64_env *e = c->env;
  uint8_t *ram = c->m->ram;
  *(uint64_t *)(ram + L0 + 511 * 8) = (base + L1) | 3;
  *(uint64_t *)(ram + L1) = (base + L2) | 3;
  *(uint64_t *)(ram + L2) = (base + L3) | 3;
  *(uint64_t *)(ram + L3 + 7 * 8) = (base + CODE) | 0x703; // accessed, inner shareable
  *(uint64_t *)(ram + L3 + 8 * 8) = DEVICE | 0x703;
  memcpy(ram + CODE, code, sizeof code);
  memcpy(ram + CODE + 0x200, handler, sizeof handler); // VBAR + 0x200
  tl_arm64_start(c, va, 0);
  tl_arm64_set_system(c, VBAR_EL1, va);
  tl_arm64_set_system(c, TTBR0_EL1, base + NONE);
  tl_arm64_set_system(c, TTBR1_EL1, base + L0);
  tl_arm64_set_system(c, TCR_EL1, 16 | 16 << 16 | 2u << 30);
  tl_arm64_set_system(c, SCTLR_EL1, 0x00c50839);
  tl_arm64_lib.rebuild_hflags(e);
  tl_lib.flush_tlb(c->cs);
  bool ok = tl_try(c, TL_HUNG, 20 + 12) && e->x[3] >> 26 == 0x25 && e->x[4] == va + 20 && e->x[5] == 28 &&
            c->run.tried_io == 12 && e->exclusive_addr == va;
  e->exclusive_addr = TL_NO_MONITOR;
  memset(ram + L0, 0, NONE + TL_PAGE - L0);
  static const uint32_t reset[] = {SCTLR_EL1, TTBR0_EL1, TTBR1_EL1, TCR_EL1, SPSR_EL1, ELR_EL1, ESR_EL1, FAR_EL1, VBAR_EL1};
  for (unsigned i = 0; i < sizeof reset / sizeof reset[0]; i++)
    tl_arm64_set_system(c, reset[i], 0);
  return ok ? NULL : "it does not run a page of code right";
}

// BRK #0x7472, as in package arch.
static const uint8_t *breakpoint(unsigned len, unsigned room, unsigned *n) {
  static const uint8_t brk[] = {0x40, 0x8e, 0x2e, 0xd4};
  (void)len;
  (void)room;
  *n = sizeof brk;
  return brk;
}

static uint64_t *monitor(struct tl_cpu *c) { return &tl_arm64_env(c)->exclusive_addr; }

static uint64_t *general(struct tl_cpu *c, unsigned reg) { return &tl_arm64_env(c)->x[reg % 32]; }

// Arm ARM, C1.2.4.
static bool condition(struct tl_cpu *c, unsigned number) {
  uint32_t p = tl_arm64_pstate(c);
  bool n = p >> 31 & 1, z = p >> 30 & 1, carry = p >> 29 & 1, v = p >> 28 & 1, holds = true;
  switch (number >> 1) {
  case 0: holds = z; break;
  case 1: holds = carry; break;
  case 2: holds = n; break;
  case 3: holds = v; break;
  case 4: holds = carry && !z; break;
  case 5: holds = n == v; break;
  case 6: holds = n == v && !z; break;
  case 7: return true;
  }
  return holds != (number & 1);
}

// Arm ARM, AArch64.BranchAddr: where the top byte of addresses is ignored, and not for data alone
// (TCR_EL1, TBI and TBID), a branch takes bit 55 for it.
static uint64_t branch(struct tl_cpu *c, uint64_t to) {
  uint64_t plain = (uint64_t)((int64_t)(to << 8) >> 8);
  if (plain == to)
    return to;
  enum { TBI0 = 37, TBID0 = 51 };
  uint64_t tcr = tl_arm64_system(c, TCR_EL1) >> (to >> 55 & 1);
  return (tcr >> TBI0 & 1) && !(tcr >> TBID0 & 1) ? plain : to;
}

static void raise_line(struct tl_cpu *c) { tl_set_lines(&c->clock, TL_LINE); }

static void normalize(struct tl_cpu *c) { (void)c; }

static const struct tl_symbol symbols[] = {
#define SYMBOL(field, name) {name, (void **)&tl_arm64_lib.field}
    {"arm_cpu_tlb_fill", (void **)&tl_lib.tlb_fill},
    SYMBOL(exec_interrupt, "arm_cpu_exec_interrupt"),
    SYMBOL(breakpoint, "helper_exception_bkpt_insn"),
    SYMBOL(wfi, "helper_wfi"),
    SYMBOL(yield, "helper_yield"),
    SYMBOL(flush_all, "tlb_flush_by_mmuidx_all_cpus_synced"),
    SYMBOL(flush_page_all, "tlb_flush_page_by_mmuidx_all_cpus_synced"),
    SYMBOL(daifclr, "helper_msr_i_daifclear"),
    SYMBOL(eret, "helper_exception_return"),
    SYMBOL(sysreg, "get_arm_cp_reginfo"),
    SYMBOL(do_interrupt, "arm_cpu_do_interrupt"),
    SYMBOL(rebuild_hflags, "arm_rebuild_hflags"),
#undef SYMBOL
    {NULL, NULL},
};

const struct tl_target tl_arm64 = {
    .name = "arm64",
    .suffix = "_aarch64",
    .uc_arch = UC_ARCH_ARM64,
    .uc_mode = UC_MODE_ARM,
    .ram_base = 0x40000000,
    .slot_shift = 3,
    .kernel_mmu = 1u << 2 | 1u << 3, // EL1, without and with PAN
    .pc_offset = offsetof(struct tl_arm64_env, pc),
    .operations = TL_TCG_OPERATIONS_ARM64,
    .insn_words = 3,
    .symbols = symbols,
    .prepare = prepare,
    .find = find,
    .hooks = tl_arm64_hooks,
    .try_code = try_code,
    .interruptible = tl_arm64_interruptible,
    .breakpoint = breakpoint,
    .monitor = monitor,
    .general = general,
    .condition = condition,
    .branch = branch,
    .raise = raise_line,
    .normalize = normalize,
    .env_size = TL_ARM64_ENV_SIZE,
    .state = tl_arm64_state,
    .sound = tl_arm64_sound,
    .restored = tl_arm64_restored,
    .notes = tl_arm64_notes,
    .unequal = {{2064, 2072}}, // of the cycle counter: the host's time at an exception
};
