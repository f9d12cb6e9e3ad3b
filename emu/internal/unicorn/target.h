// What differs from one guest architecture to the next, as a value: the rest of the shim
// is the same for all. An architecture is <arch>.h, <arch>_*.c and <arch>_*.go, and a line in
// library.c.
#ifndef TL_TARGET_H
#define TL_TARGET_H

#include "host.h"
#include "shim.h"

// A function of the library that an architecture needs besides the common ones.
struct tl_symbol {
  const char *name;
  void **slot;
};

// A part of the CPU state: size bytes, n times at a stride. A list ends with a size of 0.
struct tl_part {
  uint16_t at, size, n, stride;
};

#define TL_PART(from, to) {(from), (to) - (from), 1, 0}
#define TL_PARTS(at, size, n, stride) {(at), (size), (n), (stride)}
#define TL_FLOAT 8 // bytes of the library's state of floating point

struct tl_target {
  const char *name;   // as package kernel/arch has it
  const char *suffix; // of the library's functions for it
  int uc_arch, uc_mode;
  uint64_t ram_base;     // guest-physical
  unsigned slot_shift;   // log2 of the bytes of a slot
  uint32_t kernel_mmu;   // set of the MMU indexes of its kernel, which may run trampolines
  uint64_t pc_offset;    // of the program counter in the CPU state
  uint64_t code_base_offset; // of what makes it an address, 0 where it is one
  uint64_t operations;   // of the table of operations in the translator's
  unsigned insn_words;   // of what it notes of an instruction, at most TL_INSN_WORDS
  const struct tl_symbol *symbols; // ends with a zero

  // Between uc_open and everything else. NULL, or what went wrong; may be NULL itself.
  const char *(*prepare)(struct tl_cpu *c);
  // Private state located and checked, the CPU made what guests are to find. NULL, or why not.
  const char *(*find)(struct tl_cpu *c);
  void (*hooks)(struct tl_cpu *c); // may be NULL
  // A page of code run, with all that can be tried at little expense. NULL, or why not.
  const char *(*try_code)(struct tl_cpu *c);
  // The physical address of va, for a library that does not give it; otherwise NULL.
  uint64_t (*translate)(struct tl_cpu *c, uint64_t va);
  unsigned env_size; // bytes of the CPU state that matter here
  // The parts of the CPU state that are the guest's, and is env, made of such parts and for
  // the rest a new CPU's state, one that a guest can have? NULL, or what is wrong (state.c).
  const struct tl_part *state;
  const char *(*sound)(const struct tl_cpu *c, const uint8_t *env);
  // After the CPU has been given another state; may be NULL.
  void (*restored)(struct tl_cpu *c);
  // Would an interrupt that stands be taken now?
  bool (*interruptible)(struct tl_cpu *c);
  // The library's bit for the interrupt that would be; NULL: TL_INTERRUPT_HARD.
  uint32_t (*request)(struct tl_cpu *c);
  // The breakpoint for an instruction of len bytes of which room lie on its page; *n is
  // its size in bytes.
  const uint8_t *(*breakpoint)(unsigned len, unsigned room, unsigned *n);
  // Where the address of a load exclusive is, until the store that goes with it. May be NULL.
  uint64_t *(*monitor)(struct tl_cpu *c);
  // The place of a general register, for emulate.c; NULL where that is not used.
  uint64_t *(*general)(struct tl_cpu *c, unsigned reg);
  bool (*condition)(struct tl_cpu *c, unsigned condition); // Arm's flags
  // Where a branch to an address in a register goes; NULL: there.
  uint64_t (*branch)(struct tl_cpu *c, uint64_t to);
  // Let an interrupt stand, and put a state that was reached into the form in which two can be
  // compared (stepper.c).
  void (*raise)(struct tl_cpu *c);
  void (*normalize)(struct tl_cpu *c);
  // The library's notes in the CPU state, on the exception under way and the like, which are no part
  // of the guest.
  const struct tl_part *notes;
  // Those of them that steps are not compared by: [from, to).
  struct { unsigned from, to; } unequal[2];
  // Does this instruction repeat itself, so that each round begins at its address? May be NULL.
  bool (*repeats)(const uint8_t *code, unsigned len);
};

extern const struct tl_target tl_amd64, tl_arm64, tl_riscv64;

#define TL_INSN_WORDS 3
#define TL_NOT_MAPPED (~0ull)
#define TL_NO_MONITOR (~0ull) // in *monitor: there has been no load exclusive

// The common head of the library's CPUState, alike for all guests and hosts. More of it is in host.h.
#define TL_CS_INTERRUPT 28 // interrupt_request
#define TL_INTERRUPT_HARD 2u
#define TL_EXIT_REQUESTED 3u // how a block ends that was not begun

static inline uint32_t *tl_interrupt_request(struct tl_cpu *c) {
  return (uint32_t *)(c->cs + TL_CS_INTERRUPT);
}

#endif
