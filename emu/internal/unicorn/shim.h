// The shim between trapline and libunicorn: what the C files of this package share.
//
// Two kinds of value matter here. A tl_machine is what all CPUs of a guest have in
// common: memory, code pages, breakpoints. A tl_cpu is one engine of the library with
// its clock and interrupt line. Functions that the library calls get one of its own
// pointers; tl_by_cs, tl_by_env and tl_by_uc turn it into ours.
#ifndef TL_SHIM_H
#define TL_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !__has_include(<unicorn/unicorn.h>)
#error the emulator library is not in lib/trapline: run "make deps" first
#endif
#include <unicorn/unicorn.h>

#define TL_PAGE 4096ull
#define TL_NEVER (~0ull)
#define TL_CPUS 8 // at most, of a machine
#define TL_SPLITS 64 // ranges of code, at most
#define TL_LIKELY(x) __builtin_expect(!!(x), 1)
#define TL_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct tl_target; // what differs from one guest architecture to the next, target.h

// Why tl_run returned.
enum tl_end {
  TL_RUNNING = 0,
  TL_STOPPED, // asked to: tl_cpu.stop
  TL_HALTED,  // halted with interrupts off: a power-off on a machine without ACPI
  TL_HUNG,    // idle, and no event can wake it
  TL_TRIPLE,  // triple fault
  TL_FAILED,  // the library returned an error
  TL_STEPPED, // at the next instruction (step.c)
  TL_SLICED,  // at the end of its slice
  TL_PARKED,  // it waits, behind the instruction that says so, and others may run
};

// What a breakpoint instruction turns out to be.
enum tl_trap {
  TL_TRAP_GUEST, // the guest's own, to be delivered to it
  TL_TRAP_DONE,  // of the tracer; the guest goes on at *pc
};

// A breakpoint: 48 bytes, indexed by id.
struct tl_break {
  uint64_t addr;         // of the displaced instruction
  uint64_t slot;         // of its trampoline, 0 if there is none
  uint8_t len;           // bytes of the displaced instruction
  uint8_t guest;         // the displaced instruction is a breakpoint of the guest's
  uint8_t op, a, b, c;   // what is done for it besides, an arch.Emulation (emulate.c)
  uint8_t counting;      // hits are counted here, and the tracer is not called
  uint8_t deferred;      // 1 + number of the tl_want with which it is told of hits later, 0: at once
  uint8_t planted_on[4]; // inplace: the guest's bytes under it when it was planted
  int64_t imm;
  uint64_t hits;         // counted
};

// A page of guest text that holds breakpoints. Fetches see text, data accesses see the
// guest's page; with tl_machine.inplace both are the guest's page.
struct tl_page {
  uint64_t va, pa;   // virtual page by which breakpoints are found, and its offset in RAM
  uint32_t *id;      // 1 + id of the breakpoint at each byte, 0 for none
  uint8_t *text;     // what fetches see
  uint8_t *original; // inplace: the guest's bytes, while breakpoints stand in its page
  uint64_t *executed; // by CPU and byte: executions that the code hook has seen; NULL without crosscheck
  uint64_t text_ra;  // the library's ram_addr of text
  uint64_t alias;    // another address at which the guest has executed it, 0 for none (hooks.c)
  uint64_t passed;   // executions there of instructions with breakpoints
  uint8_t hooked_at_alias; // set of engines
  uint8_t fetched;   // set of engines: the newest TLB entry of va is for fetches
  bool stale;        // the guest has stored to it since text was made
  bool gone;         // nothing is known of what lies there: tl_forget_pages
  bool touched;      // breakpoints changed since text was made: in the list of such pages
  struct tl_page *next_touched;
};

// The library's description of a block, and of its host code.
struct tl_block {
  uint64_t pc, cs_base;
  uint32_t flags;
  uint16_t size, icount; // bytes of code, instructions
  uint32_t cflags, traced;
  uint8_t *code; // a multiple of 64
  uint64_t code_size, unused[5];
  uint16_t reset[2]; // of the jumps to other blocks, in the host code
  uint64_t target[2];
};

// A word of the CPU's state or of guest memory; mask says which bits of it count.
struct tl_word {
  const uint64_t *at;
  uint64_t mask, value;
};

#define TL_MEMO_WORDS 96

// What the tracer knows of a CPU follows from these words as long as they are what they were (defer.c).
struct tl_memo {
  bool known;
  unsigned n;
  struct tl_word words[TL_MEMO_WORDS];
};

#define TL_WANTS 255
#define TL_WANT_REGS 16
#define TL_DEFERRED_WORDS (1u << 15)
#define TL_DEFERRED_HEAD 3u // words in front of the registers of a deferred hit

// What the tracer wants to know of a hit of which it is told later.
struct tl_want {
  uint16_t n, memo;           // registers; 1: what it knows of the CPU has to be unchanged
  uint32_t at[TL_WANT_REGS];  // offsets in the library's CPU state; 0 beyond n
};

struct tl_machine {
  const struct tl_target *t;
  uint8_t *ram;
  uint64_t ram_size, ram_base; // bytes, and where it lies; the library's ram_addr of it is 0
  uint8_t *aux;      // trampolines, then text copies, beyond the guest's memory
  uint64_t aux_pa, aux_ra, aux_size;
  struct tl_cpu *cpus[TL_CPUS];
  unsigned ncpus;
  uint32_t stop;     // leave at the next instant an interrupt could be taken
  struct tl_journal *journal; // NULL unless there is one (journal.c)
  uint64_t seen;     // latest time that the guest has read: what it reads is not earlier

  // Code in which an interrupt may be taken, and a slice end, at each instruction.
  struct { uint64_t lo, hi; } split[TL_SPLITS];
  unsigned nsplit;

  uint64_t slot_base, slot_size; // virtual range of the trampolines
  unsigned slot_shift;           // log2 of the bytes of a slot
  uint32_t *slot_id;             // 1 + id of the breakpoint that owns a slot
  uint64_t hidden;               // of slot_size: what the guest never sees. All, or nothing (shared.c)

  uint8_t *has_code; // by ram page: set of engines that have translated code from it
  uint64_t pages_of_ram;
  uint64_t has_code_pages; // times that translation has marked one

  struct tl_break *breaks; // capbreaks of them, never moved
  uint32_t nbreaks, capbreaks, freebreak;
  struct tl_page *pages; // cappages of them, never moved
  struct tl_page *touched;
  bool replanted;        // breakpoints have changed since the clock last asked
  uint32_t npages, cappages;
  uint32_t *page_by_pa;  // 1 + index
  uint32_t *page_by_va;  // open addressing, 1 + index
  uint32_t va_mask;
  bool inplace;
  bool hooked;           // breakpoints are not planted: the code hook stands for them (hooks.c)
  bool watched;          // translated code calls the code hook (tl_hook_code)

  struct tl_want *wants; // TL_WANTS
  unsigned nwants;
  // Hits of which the tracer is told later: address, time, number of the want, registers.
  uint64_t *deferred;    // TL_DEFERRED_WORDS
  uint32_t ndeferred;    // words

  struct tl_store *store; // translations that are kept (kept.c); NULL: none are
  bool checking;          // they are not used but compared with what is translated
  uint64_t differing, differs_at; // how many were not the same, and where the first is
};

// What comes to the guest besides its instructions (journal.c).
enum tl_event_kind { TL_SYSCALL, TL_EXCEPTION, TL_INTERRUPT };

struct tl_event {
  uint64_t clock;  // before its handler
  uint64_t pc;     // that the handler is told
  uint64_t number; // of the system call, or as the architecture counts
  uint64_t kind;   // enum tl_event_kind
};

#define TL_JOURNAL_BLOCK 4096u // events that have a sum together

struct tl_journal {
  uint64_t n;     // events so far
  uint64_t sum;   // of all of them
  uint64_t *sums; // at the end of each block, and of what there is of the last one
  uint64_t keep;  // block of which the events are kept, TL_NEVER for none
  struct tl_event kept[TL_JOURNAL_BLOCK];
};

enum { TL_LINE = 1 };

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

  // The clock (clock.c).
  uint64_t clock;      // bytes of guest code executed up to end = virtual ns
  uint64_t trig;       // a block that starts from here on calls tl_on_block: not later than
                       // any reason to; Go lowers it, attend() makes it right again
  uint64_t end;        // canonical end of the instruction executed last
  uint64_t deadline;   // next event of the devices or of the tracer
  uint64_t slice;      // from here on another CPU may run
  uint64_t now;        // exact time of the callback under way
  uint8_t line;        // interrupt requests that stand: TL_LINE is the interrupt controller's
  uint8_t park;        // leave when the call of the firmware is done: this CPU stands still
  uint8_t slot_first;  // the next block of a slot is the start of the displaced instruction
  uint8_t filling;     // 1 + access type of the TLB fill under way
  uint64_t round;      // address of the repeated instruction whose next round was the newest instant in a slot,
  uint64_t round_now;  // its time,
  uint64_t round_traps; // and the interrupts and exceptions up to it
  uint64_t slot_left;  // time at which a block of a slot other than its first began
  uint64_t trapped;    // time of the newest exception, and how many there were at it
  uint32_t traps;
  uint8_t delivering;  // an exception or interrupt is being delivered
  uint8_t trying;      // the library is being tried: the Go side is not there yet
  uint8_t taking;      // the interrupt that is due is being taken
  uint8_t lent;        // 1 + register that the displaced instruction has been lent
  uint64_t lent_was;   // and its value before
  uint64_t seen;       // hooked: instruction that the code hook was called for last
  uint64_t fired;      // hooked: address of the breakpoint that fired last,
  uint64_t fired_now;  // the time after it
  uint64_t fired_traps; // and the interrupts and exceptions up to it
  uint64_t tried_io;   // time of the access to a device while the library was tried
  int end_reason;      // enum tl_end

  struct tl_step *step; // NULL unless instructions are stepped (step.c)
  uint8_t bare;        // riscv64: no firmware of ours; machine mode is the guest's
  uint8_t apic;        // amd64: it has a local APIC

  uint64_t *features;  // CPUID feature words
  uint64_t *msrs;      // STAR and its neighbours
  uint64_t *dr6;       // debug status
  uint64_t dr6_was;    // at the breakpoint that was hit last

  void *tcg;           // the library's TCGContext, once it has translated something
  uc_hook block_hook;  // by which the library is told of tl_on_block
  bool described;      // it knows how to call that
  bool charges;        // translated code keeps the clock (charge.c)
  bool timeless;       // it does not have to: what that costs is measured
  void *first_tb;      // first block of the code buffer (codebuf.c)
  bool flushed;        // the code buffer has been flushed once
  uint64_t flushes;
  const uint8_t *library, *library_end; // where it lies
  bool near;           // all of it can be named by 32 bits in translated code
  uint64_t placed;     // translations that were kept, and have been used

  struct tl_memo memo;

  uint64_t set_pages;  // TLB entries made
  uint64_t interrupts, exceptions, syscalls, hits, slot_faults, resyncs;
};

// library.c
const char *tl_libc_check(void);
const char *tl_library_check(const struct tl_target *t);
const char *tl_library_file(void);
const struct tl_target *tl_target(const char *name);
uint32_t tl_library_version(void);

// codebuf.c
void tl_codebuf_size(unsigned long size);
void tl_codebuf_make(void *uc, unsigned long size);
void *tl_codebuf_first(void *tcg, void *tb);
void tl_codebuf_flushed(struct tl_cpu *c);

// machine.c
struct tl_cpu *tl_open(const struct tl_target *t, uint64_t ram_size, uint64_t code_size, const char **err);
struct tl_cpu *tl_open_another(struct tl_machine *m, uint64_t code_size, const char **err);
void tl_close(struct tl_machine *m);
int tl_run(struct tl_cpu *c, const char **err);
int tl_run_once(struct tl_cpu *c);
void tl_stop(struct tl_machine *m);
void tl_flush(struct tl_cpu *c);
void tl_flush_tlb(struct tl_cpu *c);
void *tl_map_near(const void *place, size_t size, int prot);
struct tl_cpu *tl_by_cs(const void *cs);
struct tl_cpu *tl_by_env(const void *env);
struct tl_cpu *tl_by_uc(const void *uc);
struct tl_cpu *tl_current(void);
bool tl_try(struct tl_cpu *c, int end, uint64_t bytes);

// clock.c
void tl_on_block(const struct tl_block *block);
void tl_cut(struct tl_cpu *c, uint64_t pc);
uint64_t tl_exact(struct tl_cpu *c, uint64_t pc);
uint64_t tl_canonical(struct tl_cpu *c, uint64_t pc);
void tl_stop_here(struct tl_cpu *c);
void tl_wait(struct tl_cpu *c, uint64_t next, unsigned len);
uint64_t tl_read_clock(struct tl_cpu *c);
void tl_trapped(struct tl_cpu *c);
bool tl_split(struct tl_machine *m, uint64_t lo, uint64_t hi);
bool tl_is_split(const struct tl_machine *m, uint64_t pc);
void tl_leave(struct tl_cpu *c, uint64_t pc, int why);

// The address of the instruction that the program counter says. Where an address is called pc,
// it is such a one.
static inline uint64_t tl_address(const struct tl_cpu *c) { return *c->pc + *c->code_base; }
static inline void tl_go_to(struct tl_cpu *c, uint64_t address) { *c->pc = address - *c->code_base; }

// charge.c
void tl_charge_hook(struct tl_cpu *c);
void tl_charge_begin(struct tl_cpu *c, const struct tl_block *block, uint64_t aside);
bool tl_charge(void *exit);
bool tl_charge_behind(void);
void tl_charge_end(void);

// kept.c, learn.c
#define TL_STORE_SIZE (128ull << 20) // bytes at most
#define TL_KEPT_BY 160         // bytes that tl_kept_by needs
uint8_t *tl_keep(struct tl_machine *m, uint64_t n);
uint8_t *tl_kept_all(const struct tl_machine *m);
bool tl_kept_take(struct tl_cpu *c, uint64_t n);
void tl_keep_no_more(struct tl_machine *m);
uint64_t tl_kept_blocks(const struct tl_machine *m);
uint64_t tl_kept_bytes(const struct tl_machine *m);
void tl_kept_by(char *text);
void tl_kept_look(struct tl_cpu *c);
bool tl_kept_find(struct tl_cpu *c, struct tl_block *b, int max);
int tl_kept_code(void *translator, struct tl_block *b);
void tl_kept_read(uint64_t end);
void tl_kept_not(void);

// state.c
uint64_t tl_env_size(const struct tl_cpu *c);
uint64_t tl_state_size(const struct tl_cpu *c);
int tl_state_save(const struct tl_cpu *c, uint8_t *to, uint8_t *a, uint8_t *b);
const char *tl_state_check(const struct tl_cpu *c, const uint8_t *from, uint8_t *env);
void tl_state_set(struct tl_cpu *c, const uint8_t *env);
int tl_state_place(const struct tl_cpu *c, unsigned offset);
bool tl_float_sound(const uint8_t *status);

// coherence.c
static inline uint8_t tl_bit(const struct tl_cpu *c) { return (uint8_t)(1u << c->id); }
void tl_invalidate(struct tl_machine *m, uint64_t from, uint64_t to);
void tl_notice_stores(struct tl_machine *m, uint64_t ra);
void tl_flush_tlbs(struct tl_machine *m);
void tl_forget_fetches(struct tl_machine *m, struct tl_page *p);
void tl_stored_elsewhere(struct tl_cpu *storing, void *pages, uint64_t ra, int len);
void tl_no_code(struct tl_cpu *c);

// tlb.c
void tl_set_page(struct tl_cpu *c, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu, uint64_t size);
void tl_protect_code(struct tl_cpu *c, uint64_t ra);
void tl_store_to_text(struct tl_cpu *c, void *pages, uint64_t ra, int len, uintptr_t retaddr);
bool tl_fill(struct tl_cpu *c, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra);

// mmio.c
const char *tl_mmio(struct tl_cpu *c);
const char *tl_mmio_above(struct tl_cpu *c);

// breaks.c
struct tl_break *tl_break_on(struct tl_machine *m, struct tl_page *p, uint64_t addr);
struct tl_page *tl_page_of(struct tl_machine *m, uint64_t va);
const char *tl_set_break(struct tl_cpu *c, uint64_t pa, const struct tl_break *like);
const char *tl_watch(struct tl_cpu *c, uint64_t va, uint64_t pa);
void tl_clear_break(struct tl_cpu *c, uint64_t addr);
bool tl_count_hits(struct tl_cpu *c, uint64_t addr);
uint64_t tl_take_hits(struct tl_cpu *c, uint64_t addr);
void tl_commit_breaks(struct tl_cpu *c);
void tl_forget_pages(struct tl_cpu *c, uint64_t lo, uint64_t hi);
void tl_before_store(struct tl_cpu *c, uint64_t pa);
void tl_after_store(struct tl_cpu *c, uint64_t pa, uint64_t n);
void tl_write_slots(struct tl_cpu *c, uint64_t addr, const uint8_t *code, uint64_t n);
void tl_resync(struct tl_cpu *c, struct tl_page *p);
void tl_page_stored(struct tl_cpu *c, struct tl_page *p);

// hooks.c
int tl_hook_code(struct tl_cpu *c, void *f, void *data, uint64_t lo, uint64_t hi);
int tl_hook_page(struct tl_machine *m, uint64_t va);
void tl_hook_alias(struct tl_cpu *c, struct tl_page *p, uint64_t va);
bool tl_repeats(struct tl_cpu *c, const struct tl_page *p, const struct tl_break *b);
void tl_hook_undecoded(struct tl_cpu *c, uint64_t pc);
int tl_crosscheck(struct tl_cpu *c, uint64_t lo, uint64_t hi);
uint64_t tl_executed(struct tl_cpu *c, uint64_t addr); // by c
void tl_not_executed(struct tl_cpu *c, uint64_t addr);

// defer.c
bool tl_defer(struct tl_cpu *c, const struct tl_break *b);
int tl_defer_hits(struct tl_cpu *c, uint64_t addr, const struct tl_want *w);

// journal.c
bool tl_journal_open(struct tl_machine *m, uint64_t keep);
void tl_journal_close(struct tl_machine *m);
uint64_t tl_journal_blocks(const struct tl_journal *j);
void tl_note(struct tl_cpu *c, enum tl_event_kind kind, uint64_t number, uint64_t pc);

// step.c
bool tl_step_window(struct tl_cpu *c, uint64_t va, uint8_t **host);
bool tl_step_fill(struct tl_cpu *c, uint64_t va, int access, int mmu);
void tl_step_page(struct tl_cpu *c, uint8_t *host);

// shared.c
void tl_share_slots(struct tl_machine *m);
void tl_use_slot(struct tl_machine *m, uint64_t addr, uint64_t slot);

// hit.c
static inline uint64_t tl_slot_offset(const struct tl_machine *m, uint64_t pc) {
  return (pc - m->slot_base) & ((1ull << m->slot_shift) - 1);
}
struct tl_break *tl_hit(struct tl_cpu *c, struct tl_page *p, struct tl_break *b);
struct tl_break *tl_slot_break(struct tl_cpu *c, uint64_t pc);
enum tl_trap tl_trap(struct tl_cpu *c);
void tl_settle(struct tl_cpu *c);

// emulate.c
void tl_lend(struct tl_cpu *c, struct tl_break *b);
void tl_lent_back(struct tl_cpu *c, const struct tl_break *b, bool completed);
bool tl_emulate(struct tl_cpu *c, struct tl_break *b);

// Go (callbacks.go). None of them may be followed by a longjmp before it has returned.
extern void tlGoAttend(int id);
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
