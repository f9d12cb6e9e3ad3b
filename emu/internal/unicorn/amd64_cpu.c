// The amd64 CPU as a guest finds it: private state located and checked, features,
// the state at the 64-bit entry of a kernel.
#include "amd64.h"

#include <string.h>

#define MSR_STAR 0xc0000081u
#define MSR_KERNEL_GS 0xc0000102u

void tl_amd64_write_msr(struct tl_cpu *c, uint32_t number, uint64_t value) {
  uc_x86_msr m = {number, value};
  uc_reg_write(c->uc, UC_X86_REG_MSR, &m);
}

static const int general[16] = {
    UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX, UC_X86_REG_RSP, UC_X86_REG_RBP,
    UC_X86_REG_RSI, UC_X86_REG_RDI, UC_X86_REG_R8,  UC_X86_REG_R9,  UC_X86_REG_R10, UC_X86_REG_R11,
    UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15,
};

static bool general_registers_match(struct tl_cpu *c) {
  bool ok = true;
  for (unsigned i = 0; i < 16; i++) {
    uint64_t v = 0x0123456789abcd00ull + i, zero = 0;
    uc_reg_write(c->uc, general[i], &v);
    ok = ok && tl_amd64_env(c)->regs[i] == v;
    uc_reg_write(c->uc, general[i], &zero);
  }
  uint64_t pc = 0x7654321076543210ull, got = 0;
  tl_amd64_env(c)->eip = pc;
  uc_reg_read(c->uc, UC_X86_REG_RIP, &got);
  return ok && got == pc;
}

static bool system_registers_match(struct tl_cpu *c) {
  uint64_t fs = 0x1111222233334444ull, gs = 0x5555666677778888ull, zero = 0, cr2 = 0x1234567890ull, flags = 0;
  uc_x86_mmr gdt = {0, 0xabcdef0123456789ull, 0x4321, 0}, idt = {0, 0x3456789abcdef012ull, 0x1234, 0}, none = {0};
  struct tl_amd64_env *e = c->env;
  uc_reg_write(c->uc, UC_X86_REG_FS_BASE, &fs);
  uc_reg_write(c->uc, UC_X86_REG_GS_BASE, &gs);
  uc_reg_write(c->uc, UC_X86_REG_GDTR, &gdt);
  uc_reg_write(c->uc, UC_X86_REG_IDTR, &idt);
  uc_reg_write(c->uc, UC_X86_REG_CR2, &cr2);
  tl_amd64_set_flags(c, 0xcd7 & ~TL_TF);
  uc_reg_read(c->uc, UC_X86_REG_EFLAGS, &flags);
  bool ok = e->segs[TL_FS].base == fs && e->segs[TL_GS].base == gs && e->gdt.base == gdt.base &&
            e->gdt.limit == gdt.limit && e->idt.base == idt.base && e->idt.limit == idt.limit && e->cr[2] == cr2 &&
            (flags & 0xffff) == (0xcd7 & ~TL_TF) && (e->hflags & TL_HF_CS64);
  tl_amd64_set_flags(c, 2);
  uc_reg_write(c->uc, UC_X86_REG_FS_BASE, &zero);
  uc_reg_write(c->uc, UC_X86_REG_GS_BASE, &zero);
  uc_reg_write(c->uc, UC_X86_REG_GDTR, &none);
  uc_reg_write(c->uc, UC_X86_REG_IDTR, &none);
  return ok;
}

// STAR, VM_HSAVE, LSTAR, CSTAR, FMASK, KERNEL_GS_BASE lie side by side.
static bool find_msrs(struct tl_cpu *c) {
  uint64_t *w = (uint64_t *)((uint8_t *)c->env + TL_ENV_MSRS), mark = 0x1122334455667700ull, gs = 0x8877665544332211ull;
  tl_amd64_write_msr(c, MSR_STAR, mark);
  tl_amd64_write_msr(c, MSR_STAR + 1, mark + 1);
  tl_amd64_write_msr(c, MSR_STAR + 2, mark + 2);
  tl_amd64_write_msr(c, MSR_STAR + 3, mark + 3);
  tl_amd64_write_msr(c, MSR_KERNEL_GS, gs);
  if (w[TL_STAR] == mark && w[TL_LSTAR] == mark + 1 && w[TL_CSTAR] == mark + 2 && w[TL_FMASK] == mark + 3 &&
      w[TL_KERNEL_GS] == gs)
    tl_amd64_own(c)->msrs = w;
  for (unsigned i = 0; i < 4; i++)
    tl_amd64_write_msr(c, MSR_STAR + i, 0);
  tl_amd64_write_msr(c, MSR_KERNEL_GS, 0);
  return tl_amd64_own(c)->msrs;
}

static uint8_t *vector(struct tl_cpu *c, unsigned i) { return (uint8_t *)c->env + TL_ENV_XMM + 64 * i; }

static bool vectors_match(struct tl_cpu *c) {
  static const uint8_t mark[16] = "vector register", zero[16];
  bool ok = true;
  for (unsigned i = 0; i < 16; i += 15) {
    uc_reg_write(c->uc, UC_X86_REG_XMM0 + (int)i, mark);
    ok = ok && !memcmp(vector(c, i), mark, sizeof mark);
    uc_reg_write(c->uc, UC_X86_REG_XMM0 + (int)i, zero);
  }
  return ok;
}

static bool find_dr6(struct tl_cpu *c) {
  uint64_t *w = (uint64_t *)((uint8_t *)c->env + TL_ENV_DR6), mark = 0x1234467, was = 0;
  uc_reg_read(c->uc, UC_X86_REG_DR6, &was);
  uc_reg_write(c->uc, UC_X86_REG_DR6, &mark);
  if (*w == mark)
    tl_amd64_own(c)->dr6 = w;
  uc_reg_write(c->uc, UC_X86_REG_DR6, &was);
  return tl_amd64_own(c)->dr6;
}

// The words that a reset leaves in 1.EDX and 1.ECX.
static bool find_features(struct tl_cpu *c) {
  uint64_t *w = (uint64_t *)((uint8_t *)c->env + TL_ENV_FEATURES);
  if (w[0] == 0x07088100 && w[1] == 0x02182200)
    tl_amd64_own(c)->features = w;
  return tl_amd64_own(c)->features;
}

#define BIT(n) (1ull << (n))

// What CPUID reports is also what the decoder accepts and what EFER and CR4 may hold.
// Left out: RDRAND and RDSEED (the host's randomness), XSAVE and AVX (not emulated),
// APIC (amd64_apic.c), SMEP, SMAP and PCID.
static void features(struct tl_cpu *c) {
  uint64_t *f = tl_amd64_own(c)->features;
  memset(f, 0, 13 * sizeof *f);
  f[0] = BIT(0) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(8) |            // FPU DE PSE TSC MSR PAE CX8
         BIT(13) | BIT(15) | BIT(16) | BIT(17) | BIT(19) |                         // PGE CMOV PAT PSE36 CLFLUSH
         BIT(23) | BIT(24) | BIT(25) | BIT(26);                                    // MMX FXSR SSE SSE2
  f[1] = BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23);                  // SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT
  f[6] = BIT(11) | BIT(20) | BIT(27) | BIT(29);                                    // SYSCALL NX RDTSCP LM
  f[7] = BIT(0);                                                                   // LAHF
  f[8] = BIT(8);                                                                   // invariant TSC
}

// Locate and check all private state. NULL, or what does not match.
static const char *find(struct tl_cpu *c) {
  if (!general_registers_match(c))
    return "its registers are not laid out as known";
  if (!system_registers_match(c))
    return "its segment and control registers are not laid out as known";
  if (!vectors_match(c))
    return "its vector registers are not laid out as known";
  if (!find_msrs(c))
    return "its system call registers are not laid out as known";
  if (!find_dr6(c))
    return "its debug registers are not laid out as known";
  if (!find_features(c))
    return "its CPUID words are not laid out as known";
  if (*tl_interrupt_request(c) & TL_INTERRUPT_HARD)
    return "its interrupt request is not where it is known to be";
  features(c);
  return NULL;
}

static struct tl_seg segment(uint32_t selector, uint32_t flags) {
  return (struct tl_seg){selector, 0, 0xffffffff, flags};
}

// Long mode, paging on, interrupts off, flat segments: CS 0x10, the others 0x18.
void tl_amd64_start(struct tl_cpu *c, uint64_t rip, uint64_t rsi, uint64_t rsp, uint64_t cr3, uint64_t gdt,
                    uint16_t gdt_limit) {
  enum { PE = 1, ET = 0x10, PAE = 0x20, LME = 0x100 };
  struct tl_amd64_env *e = c->env;
  memset(e->regs, 0, sizeof e->regs);
  e->gdt = (struct tl_seg){.base = gdt, .limit = gdt_limit};
  e->idt = (struct tl_seg){0};
  tl_amd64_lib.update_cr0(e, PE | ET);
  tl_amd64_write_msr(c, TL_EFER, 0);
  tl_amd64_write_msr(c, TL_EFER, LME);
  tl_amd64_lib.update_cr4(e, PAE);
  tl_amd64_lib.update_cr3(e, cr3);
  tl_amd64_lib.update_cr0(e, 0x80000000u | PE | ET);
  for (int i = 0; i < 6; i++)
    e->segs[i] = segment(0x18, 0x00cf9200);
  e->segs[TL_CS] = segment(0x10, 0x00af9a00);
  e->hflags = (e->hflags & ~TL_HF_CPL) | TL_HF_CS64 | TL_HF_CS32 | TL_HF_SS32 | TL_HF_LMA;
  tl_amd64_set_flags(c, 2);
  e->regs[TL_RSI] = rsi;
  e->regs[TL_RSP] = rsp;
  e->eip = rip;
}

// One page of code at an address that is not its physical one, which stores to itself:
// translation of addresses, precise self-modification and halting in one.
static const char *try_code(struct tl_cpu *c) {
  static const uint8_t code[] = {
      0xc6, 0x05, 0x01, 0x00, 0x00, 0x00, 0x02, // movb $2, 1(%rip): the operand of the next
      0xb0, 0x01,                               // mov $1, %al
      0xf4,                                     // hlt
  };
  enum { PML4 = 0x1000, PDPT = 0x2000, PD = 0x3000, PT = 0x4000, CODE = 0x5000, GDT = 0x6000 };
  const uint64_t va = 0xffffffff80007000ull;
  uint8_t *ram = c->m->ram;
  *(uint64_t *)(ram + PML4 + 511 * 8) = PDPT | 3;
  *(uint64_t *)(ram + PDPT + 510 * 8) = PD | 3;
  *(uint64_t *)(ram + PD) = PT | 3;
  *(uint64_t *)(ram + PT + 7 * 8) = CODE | 3;
  memcpy(ram + CODE, code, sizeof code);
  tl_amd64_start(c, va, 0, 0, PML4, GDT, 31);
  bool ok = tl_try(c, TL_HALTED, sizeof code) && (tl_amd64_env(c)->regs[TL_RAX] & 0xff) == 2;
  memset(ram + PML4, 0, GDT - PML4);
  return ok ? NULL : "it does not run a page of self-modifying code right";
}

static bool takes_nmi(struct tl_cpu *c) {
  return (c->clock.lines & TL_LINE_NMI) && !(tl_amd64_env(c)->hflags2 & TL_HF2_NMI);
}

static bool interruptible(struct tl_cpu *c) {
  struct tl_amd64_env *e = c->env;
  return !(e->hflags & TL_HF_INHIBIT) && (takes_nmi(c) || ((c->clock.lines & TL_LINE) && (e->eflags & TL_IF)));
}

static uint32_t request(struct tl_cpu *c) { return takes_nmi(c) ? TL_INTERRUPT_NMI : TL_INTERRUPT_HARD; }

static const uint8_t *breakpoint(unsigned len, unsigned room, unsigned *n) {
  static const uint8_t int3 = 0xcc;
  (void)len;
  (void)room;
  *n = 1;
  return &int3;
}

// REP and REPNE before a string instruction (SDM vol. 2, REP).
static bool repeats(const uint8_t *code, unsigned len) {
  bool rep = false;
  for (unsigned i = 0; i < len; i++) {
    uint8_t op = code[i];
    if (op == 0xf2 || op == 0xf3)
      rep = true;
    else if ((op >= 0x6c && op <= 0x6f) || (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf))
      return rep;
    else if (op != 0x66 && op != 0x67 && op != 0x2e && op != 0x36 && op != 0x3e && op != 0x26 && (op & 0xfe) != 0x64 &&
             (op & 0xf0) != 0x40)
      return false; // neither a prefix nor a string instruction
  }
  return false;
}

static void raise_line(struct tl_cpu *c) { tl_set_lines(&c->clock, TL_LINE); }

// The arithmetic flags are kept as operands and an operation, in more than one way. Behind the
// guest's part of a vector register some helpers leave what was on the host's stack.
static void normalize(struct tl_cpu *c) {
  tl_amd64_set_flags(c, tl_amd64_flags(c));
  tl_amd64_env(c)->cc_dst = tl_amd64_env(c)->cc_src2 = 0;
  for (unsigned i = 0; i < 16; i++)
    memset(vector(c, i) + 16, 0, 48);
  // The shadow of sti covers the next instruction. Interrupts are taken at branches alone, so that
  // what it shields is shielded anyway, behind the jump back as well.
  tl_amd64_env(c)->hflags &= ~TL_HF_INHIBIT;
}

struct tl_amd64_library tl_amd64_lib;

static const struct tl_symbol symbols[] = {
#define SYMBOL(field, name) {name, (void **)&tl_amd64_lib.field}
    {"x86_cpu_tlb_fill", (void **)&tl_lib.tlb_fill},
    SYMBOL(hardirq, "do_interrupt_x86_hardirq"),
    SYMBOL(hlt, "helper_hlt"),
    SYMBOL(syscall, "helper_syscall"),
    SYMBOL(tsc, "cpu_get_tsc"),
    SYMBOL(inb, "helper_inb"),
    SYMBOL(inw, "helper_inw"),
    SYMBOL(inl, "helper_inl"),
    SYMBOL(outb, "helper_outb"),
    SYMBOL(outw, "helper_outw"),
    SYMBOL(outl, "helper_outl"),
    SYMBOL(idivl, "helper_idivl_EAX"),
    SYMBOL(cpuid, "cpu_x86_cpuid"),
    SYMBOL(pause, "helper_pause"),
    SYMBOL(rdmsr, "helper_rdmsr"),
    SYMBOL(wrmsr, "helper_wrmsr"),
    SYMBOL(code_byte, "cpu_ldub_code"),
    SYMBOL(translate, "translator_loop"),
    SYMBOL(do_interrupt, "x86_cpu_do_interrupt"),
    SYMBOL(update_cr0, "cpu_x86_update_cr0"),
    SYMBOL(update_cr3, "cpu_x86_update_cr3"),
    SYMBOL(update_cr4, "cpu_x86_update_cr4"),
    SYMBOL(read_eflags, "helper_read_eflags"),
    SYMBOL(write_eflags, "helper_write_eflags"),
    SYMBOL(raise_exception, "raise_exception_err_ra"),
#undef SYMBOL
    {NULL, NULL},
};

const struct tl_target tl_amd64 = {
    .name = "amd64",
    .suffix = "_x86_64",
    .uc_arch = UC_ARCH_X86,
    .uc_mode = UC_MODE_64,
    .slot_shift = 5,
    .kernel_mmu = ~(1u << 1), // 1 is user mode
    .pc_offset = offsetof(struct tl_amd64_env, eip),
    .code_base_offset = offsetof(struct tl_amd64_env, segs[TL_CS].base),
    .operations = TL_TCG_OPERATIONS_AMD64,
    .insn_words = 2,
    .symbols = symbols,
    .find = find,
    .hooks = tl_amd64_hooks,
    .try_code = try_code,
    .translate = tl_amd64_translate,
    .interruptible = interruptible,
    .request = request,
    .breakpoint = breakpoint,
    .raise = raise_line,
    .normalize = normalize,
    .env_size = TL_ENV_SIZE,
    .state = tl_amd64_state,
    .sound = tl_amd64_sound,
    .notes = tl_amd64_notes,
    .unequal = {{5352, 5368}}, // exception_is_int, exception_next_eip
    .repeats = repeats,
};
