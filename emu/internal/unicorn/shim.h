// The shim between trapline and libunicorn: what its C files share.
//
// Two kinds of value matter here. A tl_machine is what all CPUs of a guest have in
// common: memory, code pages, breakpoints. A tl_cpu is one engine of the library with
// its clock and interrupt line. Functions that the library calls get one of its own
// pointers; tl_by_cs, tl_by_env and tl_by_uc turn it into ours.
//
// Both are made of parts. A part has a header, which declares it, and is written there, in the C
// file and in the Go file of that name, and nowhere else (owners_test.go).
#ifndef TL_SHIM_H
#define TL_SHIM_H

#include "base.h"
#include "breaks.h"
#include "charge.h"
#include "clock.h"
#include "codebuf.h"
#include "coherence.h"
#include "defer.h"
#include "emulate.h"
#include "hit.h"
#include "hooks.h"
#include "journal.h"
#include "kept.h"
#include "run.h"
#include "slots.h"
#include "tlb.h"

struct tl_machine {
  const struct tl_target *t;
  uint8_t *ram;
  uint64_t ram_size, ram_base; // bytes, and where it lies; the library's ram_addr of it is 0
  uint8_t *aux;      // trampolines, then text copies, beyond the guest's memory
  uint64_t aux_pa, aux_ra, aux_size;
  struct tl_cpu *cpus[TL_CPUS];
  unsigned ncpus;
  uint32_t stop;     // leave at the next instant an interrupt could be taken (run.c)
  struct tl_journal *journal; // NULL unless there is one (journal.c)

  struct tl_time time;
  struct tl_slots slots;
  struct tl_breaks breaks;
  struct tl_code code;
  struct tl_hooks hooks;
  struct tl_deferrals deferrals;
  struct tl_keeping kept;
};

// The breakpoint in whose slot pc is; NULL if it is in none. Each hit asks several times.
static inline struct tl_break *tl_slot_break(struct tl_machine *m, uint64_t pc) {
  uint32_t id = tl_in_slots(&m->slots, pc) ? *tl_slot_owner(&m->slots, pc) : 0;
  return id ? &m->breaks.all[id - 1] : NULL;
}

#define TL_ARCH_WORDS 16

struct tl_cpu {
  struct tl_machine *m;
  uc_engine *uc;
  uint8_t *cs;         // the library's CPUState
  void *env;           // the library's CPU state, in the layout of its architecture
  uint8_t *fresh;      // that of this CPU when it was opened (state.c)
  uint64_t *pc;        // the program counter in it
  const uint64_t *code_base; // what makes it an address: amd64's CS base, elsewhere 0
  void *region;        // the library's MemoryRegion for everything
  int id;              // index in the machine, and of the Go side's value
  bool mapped;         // its memory is a mapping of its own
  bool live;           // the interposed functions act; before, the library is as it was

  struct tl_clock clock;
  struct tl_run run;
  struct tl_hits hit;
  struct tl_loan loan;
  struct tl_tlb tlb;
  struct tl_counts counts;
  struct tl_codebuf buffer;
  struct tl_charge charge;
  struct tl_keep keep;
  struct tl_hook hook;
  struct tl_memo memo;
  struct tl_step *step;          // NULL unless instructions are stepped (stepper.c)
  uint64_t arch[TL_ARCH_WORDS];  // what its architecture has besides: struct tl_ARCH_cpu
};

// The address of the instruction that the program counter says. Where an address is called pc,
// it is such a one.
static inline uint64_t tl_address(const struct tl_cpu *c) { return *c->pc + *c->code_base; }
static inline void tl_go_to(struct tl_cpu *c, uint64_t address) { *c->pc = address - *c->code_base; }

// As an element of a set of engines.
static inline uint8_t tl_bit(const struct tl_cpu *c) { return (uint8_t)(1u << c->id); }

// process.c
struct tl_cpu *tl_by_cs(const void *cs);
struct tl_cpu *tl_by_env(const void *env);
struct tl_cpu *tl_by_uc(const void *uc);
struct tl_cpu *tl_current(void);
struct tl_cpu *tl_enter(struct tl_cpu *c);
void tl_register(unsigned id, struct tl_cpu *c);
const char *tl_message(const char *format, ...);

// library.c
const char *tl_libc_check(void);
const char *tl_library_check(const struct tl_target *t);
const char *tl_library_file(void);
const struct tl_target *tl_target(const char *name);
uint32_t tl_library_version(void);

// machine.c
struct tl_cpu *tl_open(const struct tl_target *t, uint64_t ram_size, uint64_t code_size, const char **err);
struct tl_cpu *tl_open_another(struct tl_machine *m, uint64_t code_size, const char **err);
void tl_close(struct tl_machine *m);
void tl_flush(struct tl_cpu *c);
void tl_flush_tlb(struct tl_cpu *c);

// memory.c
void *tl_reserve(uint64_t size);
void tl_release(void *p, uint64_t size);
void *tl_map_near(const void *place, size_t size, int prot);
void *tl_alloc_near(const void *place, size_t size, bool *mapped);
void tl_free_near(void *p, size_t size, bool mapped);

// state.c
uint64_t tl_env_size(const struct tl_cpu *c);
uint64_t tl_state_size(const struct tl_cpu *c);
int tl_state_save(const struct tl_cpu *c, uint8_t *to, uint8_t *a, uint8_t *b);
const char *tl_state_check(const struct tl_cpu *c, const uint8_t *from, uint8_t *env);
void tl_state_set(struct tl_cpu *c, const uint8_t *env);
int tl_state_place(const struct tl_cpu *c, unsigned offset);
bool tl_float_sound(const uint8_t *status);

// mmio.c
const char *tl_mmio(struct tl_cpu *c);
const char *tl_mmio_above(struct tl_cpu *c);

// Go (callbacks.go). None of them may be followed by a longjmp before it has returned.
extern void tlGoDeadline(int id);
extern int tlGoIdle(int id);
extern int tlGoAck(int id);
extern void tlGoHit(int id, uint64_t addr);
extern void tlGoRewrite(int id, uint64_t page);
extern void tlGoCall(int id);
extern uint64_t tlGoLoad(int id, uint64_t pa, int size);
extern void tlGoStore(int id, uint64_t pa, int size, uint64_t value);
extern uint64_t tlGoReadSystem(int id, uint32_t reg);
extern void tlGoWriteSystem(int id, uint32_t reg, uint64_t value);
extern uint32_t tlGoIn(int id, uint32_t port, int size);
extern void tlGoOut(int id, uint32_t port, int size, uint32_t value);

#endif
