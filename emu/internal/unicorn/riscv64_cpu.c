// The riscv64 CPU as a guest finds it: private state located and checked, the state in
// which firmware hands over to a kernel.
#include "riscv64.h"

#include <string.h>

struct tl_riscv64_library tl_riscv64_lib;

static bool general_registers_match(struct tl_cpu *c) {
  struct tl_riscv64_env *e = c->env;
  bool ok = true;
  for (unsigned i = 1; i < 32; i++) {
    uint64_t v = 0x0123456789abcd00ull + i, zero = 0;
    uc_reg_write(c->uc, UC_RISCV_REG_X0 + i, &v);
    ok = ok && e->gpr[i] == v;
    uc_reg_write(c->uc, UC_RISCV_REG_X0 + i, &zero);
  }
  uint64_t pc = 0x7654321076543210ull, got = 0;
  e->pc = pc;
  uc_reg_read(c->uc, UC_RISCV_REG_PC, &got);
  return ok && got == pc;
}

// Write v to a control register and see whether it arrives in word. After a reset the CPU
// is in M-mode, where all of them can be written.
static bool lands(struct tl_cpu *c, int reg, uint64_t v, uint64_t *word) {
  uint64_t before = *word, zero = before;
  uc_reg_write(c->uc, reg, &v);
  bool ok = *word == v;
  uc_reg_write(c->uc, reg, &zero);
  return ok && *word == before;
}

static bool machine_registers_match(struct tl_cpu *c) {
  struct tl_riscv64_env *e = c->env;
  return lands(c, UC_RISCV_REG_MTVEC, 0x123456789abcdef0ull, &e->mtvec) &&
         lands(c, UC_RISCV_REG_MEPC, 0x123456789abcdef4ull, &e->mepc) &&
         lands(c, UC_RISCV_REG_MCAUSE, 0x123456789abcdef8ull, &e->mcause) &&
         lands(c, UC_RISCV_REG_MTVAL, 0x123456789abcdefaull, &e->mtval) &&
         lands(c, UC_RISCV_REG_MSCRATCH, 0x123456789abcdefcull, &e->mscratch) &&
         lands(c, UC_RISCV_REG_MEDELEG, 0xb109, &e->medeleg) &&
         lands(c, UC_RISCV_REG_MCOUNTEREN, 5, &e->mcounteren) && lands(c, UC_RISCV_REG_SCOUNTEREN, 6, &e->scounteren);
}

static bool control_registers_match(struct tl_cpu *c) {
  struct tl_riscv64_env *e = c->env;
  return e->priv == TL_MACHINE && lands(c, UC_RISCV_REG_STVEC, 0x123456789abcdef0ull, &e->stvec) &&
         lands(c, UC_RISCV_REG_SEPC, 0x123456789abcdef4ull, &e->sepc) &&
         lands(c, UC_RISCV_REG_SCAUSE, 0x123456789abcdef8ull, &e->scause) &&
         lands(c, UC_RISCV_REG_STVAL, 0x123456789abcdefaull, &e->stval) &&
         lands(c, UC_RISCV_REG_SSCRATCH, 0x123456789abcdefcull, &e->sscratch) &&
         lands(c, UC_RISCV_REG_SATP, 0x8000000000012345ull, &e->satp) &&
         lands(c, UC_RISCV_REG_MIDELEG, 0x222, &e->mideleg) && lands(c, UC_RISCV_REG_MIE, 0x220, &e->mie) &&
         lands(c, UC_RISCV_REG_MIP, 0x220, &e->mip) && machine_registers_match(c);
}

static bool float_flags_match(struct tl_cpu *c) {
  enum { FS = 3 << 13, ALL = 0x1f };
  struct tl_riscv64_env *e = c->env;
  const uint8_t *flags = (uint8_t *)c->env + TL_RISCV64_FLOAT_FLAGS;
  uint64_t before = e->mstatus, all = ALL, none = 0;
  e->mstatus |= FS;
  uc_reg_write(c->uc, UC_RISCV_REG_FFLAGS, &all);
  bool ok = *flags;
  uc_reg_write(c->uc, UC_RISCV_REG_FFLAGS, &none);
  e->mstatus = before;
  return ok && !*flags;
}

static const char *find(struct tl_cpu *c) {
  if (!general_registers_match(c))
    return "its registers are not laid out as known";
  if (!control_registers_match(c))
    return "its control registers are not laid out as known";
  if (!float_flags_match(c))
    return "its floating point is not laid out as known";
  *tl_interrupt_request(c) &= ~TL_INTERRUPT_HARD;
  return NULL;
}

// Machine mode is the guest's: it can change what translations depend on, and where its kernel lies.
void tl_riscv64_set_bare(struct tl_cpu *c) {
  tl_riscv64_own(c)->bare = true;
  tl_use_single_pages(&c->tlb);
  tl_keep_never(&c->keep);
}

// As the SBI leaves it: S-mode, no paging, interrupts off, the hart and the device tree in
// a0 and a1 (SBI, chapter 2; Linux, Documentation/riscv/boot.rst). Without firmware as after
// a reset, in M-mode (Privileged Architecture, 3.4), with the same registers.
void tl_riscv64_start(struct tl_cpu *c, uint64_t pc, uint64_t a0, uint64_t a1) {
  struct tl_riscv64_env *e = c->env;
  memset(e->gpr, 0, sizeof e->gpr);
  e->mstatus = 0;
  e->mideleg = tl_riscv64_own(c)->bare ? 0 : TL_SSIP | TL_STIP | TL_SEIP;
  e->medeleg = tl_riscv64_own(c)->bare ? 0 : ~0ull;
  e->mie = e->mip = e->satp = e->stvec = 0;
  e->load_res = TL_NO_MONITOR;
  e->priv = tl_riscv64_own(c)->bare ? TL_MACHINE : TL_SUPERVISOR;
  e->gpr[10] = a0;
  e->gpr[11] = a1;
  e->pc = pc;
}

// One page of code at an address that is not its physical one: translation, an exception
// that is delivered with an exact pc and takes its time off the clock, a device, the time.
static const char *try_code(struct tl_cpu *c) {
  static const uint32_t code[] = {
      0x00000517, // auipc a0, 0
      0x02850513, // addi a0, a0, 40: handler
      0x10551073, // csrw stvec, a0
      0x00001297, // auipc t0, 1: the next page
      0x0002a283, // lw t0, 0(t0): a device
      0x00003583, // ld a1, 0(zero): no such page
      0x00100073, // ebreak, not reached
      0x00000013, 0x00000013, 0x00000013, // nop
      // handler:
      0x14202673, // csrr a2, scause
      0x141026f3, // csrr a3, sepc
      0xc0102773, // rdtime a4
      0x10500073, // wfi
  };
  enum { ROOT = 0x1000, MIDDLE = 0x2000, LEAF = 0x3000, CODE = 0x5000, DEVICE = 0x1000 };
  const uint64_t va = 0xffffffff80007000ull, base = c->m->ram_base;
  struct tl_riscv64_env *e = c->env;
  uint8_t *ram = c->m->ram;
  *(uint64_t *)(ram + ROOT + 510 * 8) = (base + MIDDLE) >> 2 | 1;
  *(uint64_t *)(ram + MIDDLE) = (base + LEAF) >> 2 | 1;
  *(uint64_t *)(ram + LEAF + 7 * 8) = (base + CODE) >> 2 | 0xcf; // D A X W R V
  *(uint64_t *)(ram + LEAF + 8 * 8) = DEVICE >> 2 | 0xcf;
  memcpy(ram + CODE, code, sizeof code);
  tl_riscv64_start(c, va, 0, 0);
  e->satp = 8ull << 60 | (base + ROOT) >> 12;
  tl_lib.flush_tlb(c->cs);
  bool ok = tl_try(c, TL_HUNG, 20 + 12) && e->gpr[12] == 13 && e->gpr[13] == va + 20 && e->gpr[14] == 0 &&
            e->pc == va + 52 && e->stval == 0 && c->run.tried_io == 16;
  memset(ram + ROOT, 0, CODE + TL_PAGE - ROOT);
  tl_riscv64_start(c, 0, 0, 0);
  return ok ? NULL : "it does not run a page of code right";
}

static const uint8_t *breakpoint(unsigned len, unsigned room, unsigned *n) {
  static const uint8_t ebreak[] = {0x73, 0x00, 0x10, 0x00}, c_ebreak[] = {0x02, 0x90};
  // Across the end of a page the short one does as well: what follows it is not reached.
  *n = len == 4 && room >= 4 ? 4 : 2;
  return *n == 4 ? ebreak : c_ebreak;
}

// x0 may be written, and reads as zero.
static uint64_t *general(struct tl_cpu *c, unsigned reg) {
  if (reg % 32)
    return &tl_riscv64_env(c)->gpr[reg % 32];
  tl_riscv64_own(c)->zero = 0;
  return &tl_riscv64_own(c)->zero;
}

static uint64_t *monitor(struct tl_cpu *c) { return &tl_riscv64_env(c)->load_res; }

static void raise_line(struct tl_cpu *c) { tl_riscv64_lines(c, TL_LINE_TIMER); }

static void normalize(struct tl_cpu *c) { (void)c; }

static const struct tl_symbol symbols[] = {
#define SYMBOL(field, name) {name, (void **)&tl_riscv64_lib.field}
    {"riscv_cpu_tlb_fill", (void **)&tl_lib.tlb_fill},
    SYMBOL(exec_interrupt, "riscv_cpu_exec_interrupt"),
    SYMBOL(raise, "riscv_raise_exception"),
    SYMBOL(csrrw, "riscv_csrrw"),
    SYMBOL(wfi, "helper_wfi"),
    SYMBOL(sret, "helper_sret"),
    SYMBOL(mret, "helper_mret"),
    SYMBOL(page_addr_code, "get_page_addr_code"),
    SYMBOL(smax, "tcg_gen_smax_i64"),
    SYMBOL(smin, "tcg_gen_smin_i64"),
    SYMBOL(fetch_smax, "tcg_gen_atomic_fetch_smax_i64"),
    SYMBOL(fetch_smin, "tcg_gen_atomic_fetch_smin_i64"),
    SYMBOL(ext32s, "tcg_gen_ext32s_i64"),
#undef SYMBOL
    {NULL, NULL},
};

const struct tl_target tl_riscv64 = {
    .name = "riscv64",
    .suffix = "_riscv64",
    .uc_arch = UC_ARCH_RISCV,
    .uc_mode = UC_MODE_RISCV64,
    .ram_base = 0x80000000,
    .slot_shift = 3,
    .kernel_mmu = 1u << TL_SUPERVISOR | 1u << TL_MACHINE,
    .pc_offset = offsetof(struct tl_riscv64_env, pc),
    .operations = TL_TCG_OPERATIONS_RISCV64,
    .insn_words = 1,
    .symbols = symbols,
    .find = find,
    .try_code = try_code,
    .env_size = TL_RISCV64_ENV_SIZE,
    .state = tl_riscv64_state,
    .sound = tl_riscv64_sound,
    .restored = tl_riscv64_restored,
    .notes = tl_riscv64_notes,
    .interruptible = tl_riscv64_interruptible,
    .breakpoint = breakpoint,
    .monitor = monitor,
    .general = general,
    .raise = raise_line,
    .normalize = normalize,
};
