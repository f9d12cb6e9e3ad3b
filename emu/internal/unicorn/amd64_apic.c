// What a CPU with a local APIC has besides its registers, which are a device in memory: its number
// and the feature bit in CPUID, the MSR that says where it is, and the start of a CPU that another
// one asks for.
#include "amd64.h"

#include <string.h>

#define MSR_APIC_BASE 0x1bu
#define APIC_ADDRESS 0xfee00000u

enum { LEAF_FEATURES = 1 };

// Give c a local APIC. NULL, or why not.
const char *tl_amd64_apic(struct tl_cpu *c) {
  enum { APIC = 1 << 9 }; // 1.EDX
  tl_amd64_own(c)->features[0] |= APIC;
  tl_amd64_own(c)->apic = true;
  return tl_mmio_above(c);
}

void TL_AMD64(cpu_x86_cpuid)(void *env, uint32_t leaf, uint32_t n, uint32_t *eax, uint32_t *ebx, uint32_t *ecx,
                             uint32_t *edx) {
  struct tl_cpu *c = tl_by_env(env);
  tl_amd64_lib.cpuid(env, leaf, n, eax, ebx, ecx, edx);
  if (c && tl_amd64_own(c)->apic && leaf == LEAF_FEATURES)
    *ebx = (*ebx & 0xffffff) | (uint32_t)c->id << 24;
}

// IA32_APIC_BASE (SDM vol. 3, "Local APIC Status and Location"): it stays where it is, and enabled.
static bool is_apic_base(struct tl_cpu *c) {
  return c && tl_amd64_own(c)->apic && (uint32_t)tl_amd64_env(c)->regs[TL_RCX] == MSR_APIC_BASE;
}

void TL_AMD64(helper_rdmsr)(void *env) {
  enum { BOOT_CPU = 1 << 8, ENABLED = 1 << 11 };
  struct tl_cpu *c = tl_by_env(env);
  if (!is_apic_base(c)) {
    tl_amd64_lib.rdmsr(env);
    return;
  }
  tl_amd64_env(c)->regs[TL_RAX] = APIC_ADDRESS | ENABLED | (c->id ? 0 : BOOT_CPU);
  tl_amd64_env(c)->regs[TL_RDX] = 0;
}

void TL_AMD64(helper_wrmsr)(void *env) {
  if (!is_apic_base(tl_by_env(env)))
    tl_amd64_lib.wrmsr(env);
}

// PAUSE, by which a CPU waits for another one. It ends its block. The library's way out of it goes
// through uc_emu_start, and the time that it takes on a CPU is what saves the host from executing
// each round of a loop.
void TL_AMD64(helper_pause)(void *env, int len) {
  enum { PAUSE_NS = 128 };
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !tl_amd64_own(c)->apic) {
    tl_amd64_lib.pause(env, len);
    return;
  }
  tl_amd64_env(c)->eip += len;
  tl_clock_add(&c->clock, PAUSE_NS, c->clock.end);
  tl_lib.loop_exit(c->cs);
}

static struct tl_seg real(uint32_t selector, uint32_t type) {
  enum { A = 1 << 8, S = 1 << 12, P = 1 << 15 };
  return (struct tl_seg){selector, selector << 4, 0xffff, A | S | P | type};
}

// INIT and a startup IPI (SDM vol. 3, table 10-1 and "MP Initialization Protocol"): real mode at
// the start of a page below 1 MiB. The registers of floating point, and most MSRs, stay as they are.
void tl_amd64_start_up(struct tl_cpu *c, uint8_t page) {
  enum { ET = 0x10, NW_CD = 0x60000000, W = 1 << 9, CODE = 1 << 11, LDT = 2 << 8, TSS = 11 << 8, P = 1 << 15 };
  enum { SIGNATURE = 0x600 };
  struct tl_amd64_env *e = c->env;
  tl_amd64_lib.update_cr0(e, NW_CD | ET);
  tl_amd64_write_msr(c, TL_EFER, 0);
  tl_amd64_lib.update_cr4(e, 0);
  tl_amd64_lib.update_cr3(e, 0);
  e->cr[2] = 0;
  memset(e->regs, 0, sizeof e->regs);
  e->regs[TL_RDX] = SIGNATURE;
  for (int i = 0; i < 6; i++)
    e->segs[i] = real(0, W);
  e->segs[TL_CS] = real((uint32_t)page << 8, W | CODE);
  e->gdt = e->idt = (struct tl_seg){.limit = 0xffff};
  e->ldt = (struct tl_seg){.limit = 0xffff, .flags = P | LDT};
  e->tr = (struct tl_seg){.limit = 0xffff, .flags = P | TSS};
  e->hflags &= ~(TL_HF_CPL | TL_HF_INHIBIT | TL_HF_CS32 | TL_HF_SS32 | TL_HF_TF | TL_HF_LMA | TL_HF_CS64);
  e->hflags |= TL_HF_ADDSEG;
  tl_amd64_set_flags(c, 2);
  e->eip = 0;
  tl_look_around(&c->clock);
  tl_look_for_interrupts(&c->clock);
  tl_lib.flush_tlb(c->cs);
}
