// The library's private amd64 state, as far as the shim touches it. Every offset is
// checked against values written through the public API before a machine runs
// (tl_amd64_find); a library laid out otherwise is refused.
#ifndef TL_AMD64_H
#define TL_AMD64_H

#include "library.h"

enum { TL_RAX, TL_RCX, TL_RDX, TL_RBX, TL_RSP, TL_RBP, TL_RSI, TL_RDI };
enum { TL_ES, TL_CS, TL_SS, TL_DS, TL_FS, TL_GS };

struct tl_seg {
  uint32_t selector;
  uint64_t base;
  uint32_t limit;
  uint32_t flags; // bits 8 to 23 of the descriptor's second word
};

#define TL_LINE_NMI 2 // in tl_clock.lines: one is to be taken
#define TL_INTERRUPT_NMI 0x200u

#define TL_SEG_B (1u << 22) // 32-bit

struct tl_amd64_env {
  uint64_t regs[16];
  uint64_t eip, eflags; // eflags without the arithmetic flags and DF, which are lazy
  uint64_t cc_dst, cc_src, cc_src2;
  uint32_t cc_op;
  int32_t df;
  uint32_t hflags, hflags2;
  struct tl_seg segs[6], ldt, tr, gdt, idt;
  uint64_t cr[5];
};

#define TL_ENV_XMM 792       // offset of XMM0 in CPUX86State: registers of 64 bytes, of which a guest has 16
#define TL_ENV_MSRS 4792     // offset of the MSRs from STAR on in CPUX86State
#define TL_ENV_DR6 5416     // offset of DR6 in CPUX86State
#define TL_ENV_FEATURES 5600 // offset of the CPUID words in CPUX86State

#define TL_ENV_SIZE 5528 // up to here a reset clears CPUX86State

#define TL_EFER 0xc0000080u // number of the MSR

#define TL_HF_CPL 3u
#define TL_HF_INHIBIT (1u << 3)
#define TL_HF_CS32 (1u << 4)
#define TL_HF_SS32 (1u << 5)
#define TL_HF_ADDSEG (1u << 6)
#define TL_HF_TF (1u << 8)
#define TL_HF_LMA (1u << 14)
#define TL_HF_CS64 (1u << 15)

#define TL_HF2_NMI (1u << 2) // one is being handled

#define TL_IF 0x200ull
#define TL_TF 0x100ull
#define TL_DF 0x400ull
#define TL_RF 0x10000ull
#define TL_ARITH 0x8d5ull // CF PF AF ZF SF OF
#define TL_CC_EFLAGS 1    // cc_op: cc_src holds the flags

// Words of msrs, from STAR on.
enum { TL_STAR = 0, TL_LSTAR = 2, TL_CSTAR = 3, TL_FMASK = 4, TL_KERNEL_GS = 5 };

// How the library translates a block: what it calls for the block and for each instruction.
struct tl_amd64_translator {
  void (*init)(void), (*start)(void), (*insn_start)(void), (*breakpoint)(void);
  void (*translate_insn)(void *block, void *cs);
  void (*stop)(void);
};

// How far the instruction that is being translated is read (amd64_insn.c).
enum tl_amd64_read { TL_PREFIXES, TL_FAR_BRANCH, TL_BEHIND };

// What a CPU has besides.
struct tl_amd64_cpu {
  uint64_t *features; // CPUID feature words
  uint64_t *msrs;     // STAR and its neighbours
  uint64_t *dr6;      // debug status
  uint64_t dr6_was;   // at the breakpoint that was hit last
  bool apic;          // it has a local APIC
  enum tl_amd64_read read;
  struct tl_amd64_translator translator; // the library's, and ours in its place
  void (*translate_insn)(void *block, void *cs);
};

static inline struct tl_amd64_cpu *tl_amd64_own(const struct tl_cpu *c) { return (struct tl_amd64_cpu *)c->arch; }
_Static_assert(sizeof(struct tl_amd64_cpu) <= sizeof(uint64_t[TL_ARCH_WORDS]), "TL_ARCH_WORDS");

// TL_AMD64(f) is the library's name of f for an amd64 guest.
#define TL_AMD64(f) f##_x86_64

// Functions of the library for amd64 alone.
struct tl_amd64_library {
  // replaced
  void (*hardirq)(void *env, int vector, int hw);
  void (*hlt)(void *env, int len);
  void (*syscall)(void *env, int len);
  uint64_t (*tsc)(void *env);
  uint64_t (*inb)(void *env, uint32_t port);
  uint64_t (*inw)(void *env, uint32_t port);
  uint64_t (*inl)(void *env, uint32_t port);
  void (*outb)(void *env, uint32_t port, uint32_t v);
  void (*outw)(void *env, uint32_t port, uint32_t v);
  void (*outl)(void *env, uint32_t port, uint32_t v);
  void (*idivl)(void *env, uint64_t divisor);
  void (*cpuid)(void *env, uint32_t leaf, uint32_t n, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d);
  void (*pause)(void *env, int len);
  void (*rdmsr)(void *env);
  void (*wrmsr)(void *env);
  uint32_t (*code_byte)(void *env, uint64_t va);
  void (*translate)(const struct tl_amd64_translator *t, void *block, void *cs, void *tb, int max);
  // called
  void (*do_interrupt)(void *cs);
  void (*update_cr0)(void *env, uint32_t v);
  void (*update_cr3)(void *env, uint64_t v);
  void (*update_cr4)(void *env, uint32_t v);
  uint64_t (*read_eflags)(void *env);
  void (*write_eflags)(void *env, uint64_t v, uint32_t mask);
  void (*raise_exception)(void *env, int vector, int error, uintptr_t retaddr);
};

extern struct tl_amd64_library tl_amd64_lib;

static inline struct tl_amd64_env *tl_amd64_env(const struct tl_cpu *c) { return c->env; }

// amd64_tlb.c
uint64_t tl_amd64_translate(struct tl_cpu *c, uint64_t va);
uint64_t tl_amd64_exchange(struct tl_cpu *c, uint64_t va, uint64_t v);

// amd64_trap.c
void tl_amd64_hooks(struct tl_cpu *c);
uint64_t tl_amd64_flags(struct tl_cpu *c);
void tl_amd64_set_flags(struct tl_cpu *c, uint64_t flags);

// amd64_cpu.c
void tl_amd64_write_msr(struct tl_cpu *c, uint32_t number, uint64_t value);
void tl_amd64_start(struct tl_cpu *c, uint64_t rip, uint64_t rsi, uint64_t rsp, uint64_t cr3, uint64_t gdt, uint16_t gdt_limit);

// amd64_apic.c
const char *tl_amd64_apic(struct tl_cpu *c);
void tl_amd64_start_up(struct tl_cpu *c, uint8_t page);

// amd64_state.c
extern const struct tl_part tl_amd64_state[], tl_amd64_notes[];
const char *tl_amd64_sound(const struct tl_cpu *c, const uint8_t *env);

#endif
