// The library's private riscv64 state, as far as the shim touches it. Every offset is
// checked against values written through the public API before a machine runs; a library
// laid out otherwise is refused.
#ifndef TL_RISCV64_H
#define TL_RISCV64_H

#include "library.h"

#define TL_RISCV64_FLOAT_FLAGS 1539 // offset in CPURISCVState, behind what uc_context has
#define TL_RISCV64_ENV_SIZE 1545

struct tl_riscv64_env {
  uint64_t gpr[32];
  uint64_t fpr[32];
  uint64_t pc, load_res, load_val;
  uint64_t frm;
  uint64_t badaddr;
  uint64_t unused1[5];
  uint64_t priv;
  uint64_t unused2[3];
  uint64_t mstatus, mip;
  uint64_t unused3;
  uint64_t mie, mideleg;
  uint64_t unused4;
  uint64_t satp, stval;
  uint64_t mtval, medeleg;
  uint64_t stvec, sepc, scause;
  uint64_t mtvec, mepc, mcause;
  uint64_t unused5[25];
  uint64_t scounteren, mcounteren;
  uint64_t sscratch, mscratch;
};

enum { TL_USER = 0, TL_SUPERVISOR = 1, TL_MACHINE = 3 };

// Bits of mstatus. TW is where this library has it, not where the architecture has.
#define TL_SIE (1ull << 1)
#define TL_MIE (1ull << 3)
#define TL_SPIE (1ull << 5)
#define TL_MPIE (1ull << 7)
#define TL_SPP (1ull << 8)
#define TL_MPP_SHIFT 11
#define TL_MPP (3ull << TL_MPP_SHIFT)

// What a CPU has besides.
struct tl_riscv64_cpu {
  bool bare;     // no firmware of ours; machine mode is the guest's
  bool narrow;   // the signed minimum or maximum to come is one of words (riscv64_tcg.c)
  uint64_t zero; // x0, as it is read and may be written
};

static inline struct tl_riscv64_cpu *tl_riscv64_own(const struct tl_cpu *c) { return (struct tl_riscv64_cpu *)c->arch; }

// Interrupts, as bits of mip, and those of tl_clock.lines.
#define TL_SSIP (1ull << 1)
#define TL_MSIP (1ull << 3)
#define TL_STIP (1ull << 5)
#define TL_MTIP (1ull << 7)
#define TL_SEIP (1ull << 9)
#define TL_MEIP (1ull << 11)
enum {
  TL_LINE_EXTERNAL = 1, TL_LINE_TIMER = 2, TL_LINE_SOFTWARE = 4, // of the supervisor
  TL_LINE_M_EXTERNAL = 8, TL_LINE_M_TIMER = 16, TL_LINE_M_SOFTWARE = 32,
};

// TL_RISCV64(f) is the library's name of f for a riscv64 guest.
#define TL_RISCV64(f) f##_riscv64

// Functions of the library for riscv64 alone.
struct tl_riscv64_library {
  // replaced
  bool (*exec_interrupt)(void *cs, int request);
  void (*raise)(void *env, uint32_t cause, uintptr_t retaddr);
  int (*csrrw)(void *env, int csr, uint64_t *old, uint64_t value, uint64_t mask);
  void (*wfi)(void *env);
  uint64_t (*sret)(void *env, uint64_t pc);
  uint64_t (*mret)(void *env, uint64_t pc);
  uint64_t (*page_addr_code)(void *env, uint64_t va);
  void (*smax)(void *s, void *to, void *a, void *b);
  void (*smin)(void *s, void *to, void *a, void *b);
  void (*fetch_smax)(void *s, void *to, void *addr, void *v, uint64_t index, int memop);
  void (*fetch_smin)(void *s, void *to, void *addr, void *v, uint64_t index, int memop);
  // called
  void (*ext32s)(void *s, void *to, void *from);
};

extern struct tl_riscv64_library tl_riscv64_lib;

static inline struct tl_riscv64_env *tl_riscv64_env(const struct tl_cpu *c) { return c->env; }

// riscv64_trap.c
bool tl_riscv64_interruptible(struct tl_cpu *c);
void tl_riscv64_lines(struct tl_cpu *c, uint8_t lines);
void tl_riscv64_restored(struct tl_cpu *c);

// riscv64_cpu.c
void tl_riscv64_set_bare(struct tl_cpu *c);
void tl_riscv64_start(struct tl_cpu *c, uint64_t pc, uint64_t a0, uint64_t a1);

// riscv64_state.c
extern const struct tl_part tl_riscv64_state[], tl_riscv64_notes[];
const char *tl_riscv64_sound(const struct tl_cpu *c, const uint8_t *env);

#endif
