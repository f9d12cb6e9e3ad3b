// The library's private arm64 state, as far as the shim touches it. Every offset is
// checked against values written through the public API before a machine runs; a library
// laid out otherwise is refused.
#ifndef TL_ARM64_H
#define TL_ARM64_H

#include "library.h"

#define TL_ARM64_EXCLUSIVE 0x2f00 // offset of exclusive_addr

#define TL_ARM64_ENV_SIZE 12600

struct tl_arm64_env {
  uint32_t regs[16]; // of AArch32
  uint64_t x[32];    // x[31] is the stack pointer in use
  uint64_t pc;
  uint32_t pstate;   // without NZCV and DAIF
  uint32_t aarch64;
  uint32_t hflags;
  uint8_t unused[TL_ARM64_EXCLUSIVE - 12 - 8 - 256 - 64 - 4];
  uint64_t exclusive_addr; // of the load exclusive whose store is to come, or ~0
};

#define TL_UC_TARGET_BITS 624 // offset of the page size's logarithm in the engine

#define TL_PSTATE_EL 0xcu
#define TL_PSTATE_SP 1u // the stack pointer is that of EL
#define TL_PSTATE_I (1u << 7)
#define TL_PSTATE_KERNEL 0x3c5u // EL1h, DAIF set

enum { TL_ARM64_PLACES = 6 };

// What a CPU has besides: where registers are that say where the tracer finds the current thread, as
// offsets in the library's state, 0 if one is not there as a word (arm64_cpu.c).
struct tl_arm64_cpu {
  uint32_t places[TL_ARM64_PLACES];
};

static inline struct tl_arm64_cpu *tl_arm64_own(const struct tl_cpu *c) { return (struct tl_arm64_cpu *)c->arch; }

// A system register, as an MRS names it.
#define TL_SYSREG(op0, op1, crn, crm, op2) \
  ((uint32_t)(op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

#define TL_ARM64_SYSREG_KEY 0x1013u // in the key of one of AArch64, above its name

// The library's description of a system register, as far as the shim knows it.
struct tl_arm64_sysreg {
  const char *label;
  uint8_t cp, crn, crm, op0, op1, op2;
  uint64_t other[8];
  uint64_t (*read)(void *env, const struct tl_arm64_sysreg *r);
  void (*write)(void *env, const struct tl_arm64_sysreg *r, uint64_t v);
};

// TL_ARM64(f) is the library's name of f for an arm64 guest.
#define TL_ARM64(f) f##_aarch64

// Functions of the library for arm64 alone.
struct tl_arm64_library {
  // replaced
  bool (*exec_interrupt)(void *cs, int request);
  void (*breakpoint)(void *env, uint32_t syndrome);
  void (*wfi)(void *env, uint32_t len);
  void (*yield)(void *env);
  void (*flush_all)(void *cs, uint16_t mmus);
  void (*flush_page_all)(void *cs, uint64_t va, uint16_t mmus);
  void (*daifclr)(void *env, uint32_t mask);
  void (*eret)(void *env, uint64_t pc);
  struct tl_arm64_sysreg *(*sysreg)(void *table, uint32_t key);
  void (*write_daif)(void *env, const struct tl_arm64_sysreg *r, uint64_t v); // found with its register
  // called
  void (*do_interrupt)(void *cs);
  void (*rebuild_hflags)(void *env);
};

extern struct tl_arm64_library tl_arm64_lib;

static inline struct tl_arm64_env *tl_arm64_env(const struct tl_cpu *c) { return c->env; }

// arm64_trap.c
void tl_arm64_hooks(struct tl_cpu *c);
bool tl_arm64_interruptible(struct tl_cpu *c);

// arm64_cpu.c
uint64_t tl_arm64_system(struct tl_cpu *c, uint32_t reg);
void tl_arm64_set_system(struct tl_cpu *c, uint32_t reg, uint64_t v);
uint32_t tl_arm64_place(const struct tl_cpu *c, uint32_t reg);
uint32_t tl_arm64_pstate(struct tl_cpu *c);
void tl_arm64_set_pstate(struct tl_cpu *c, uint32_t v);
void tl_arm64_start(struct tl_cpu *c, uint64_t pc, uint64_t x0);

// arm64_state.c
extern const struct tl_part tl_arm64_state[], tl_arm64_notes[];
const char *tl_arm64_sound(const struct tl_cpu *c, const uint8_t *env);
void tl_arm64_restored(struct tl_cpu *c);

#endif
