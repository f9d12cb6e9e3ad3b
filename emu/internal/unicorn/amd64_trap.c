// Exceptions, interrupts, system calls, halting and port I/O: what the library leaves to
// its user, done with its own exported functions where it has them.
#include "amd64.h"

#include <string.h>

enum { VECTOR_DB = 1, VECTOR_NMI = 2, VECTOR_BP = 3, VECTOR_UD = 6, VECTOR_GP = 13 };
enum { INT3 = 0xcc, JMP = 0xe9 };

uint64_t tl_amd64_flags(struct tl_cpu *c) { return tl_amd64_lib.read_eflags(c->env) & ~TL_RF; }

void tl_amd64_set_flags(struct tl_cpu *c, uint64_t flags) { tl_amd64_lib.write_eflags(c->env, flags, ~0u); }

// The instruction at eip did not complete: put the guest where it would be without
// trampolines, and take the rest of the block off the clock.
static void cut_block(struct tl_cpu *c) {
  tl_leave_slot(c);
  tl_cut(c, tl_address(c));
}

// The second breakpoint of a call through memory: its operand is where the return address
// belongs.
static bool finish_call(struct tl_cpu *c, uint64_t pc) {
  struct tl_break *b = tl_slot_break(c->m, pc);
  if (!b || tl_slot_offset(&c->m->slots, pc) != b->len || c->m->aux[pc - c->m->slots.base] != INT3)
    return false;
  struct tl_amd64_env *e = c->env;
  e->eip = tl_amd64_exchange(c, e->regs[TL_RSP], b->addr + b->len);
  return true;
}

// Is pc that of the jump back in its slot?
static bool at_jump_back(struct tl_cpu *c, const struct tl_break *b, uint64_t pc) {
  const uint8_t *code = c->m->aux + (pc - c->m->slots.base);
  int32_t to;
  memcpy(&to, code + 1, sizeof to);
  return code[0] == JMP && pc + 5 + (int64_t)to == b->addr + b->len;
}

// The library has the trap say which debug registers hold the address behind the instruction,
// whether they are enabled or not; for a call that ends in finish_call it has looked at the slot's.
static void match_debug_registers(struct tl_cpu *c) {
  const uint64_t *dr = tl_amd64_own(c)->dr6 - 6;
  for (unsigned i = 0; i < 4; i++)
    if (dr[i] == tl_amd64_env(c)->eip && !(dr[7] >> (16 + 4 * i) & 3))
      *tl_amd64_own(c)->dr6 |= 1u << i;
}

// A single-step trap (SDM vol. 3, 17.3.1.4) after an instruction of a slot. True if it is not the
// guest's: the displaced instruction is not complete yet, or it was before and has itself asked
// for a trap after the next instruction, which the jump back is not.
static bool step_of_slot(struct tl_cpu *c) {
  uint64_t pc = tl_amd64_env(c)->eip;
  struct tl_break *b = tl_slot_break(c->m, pc);
  bool begins = !b || !tl_slot_offset(&c->m->slots, pc), called = !begins && finish_call(c, pc);
  if (called)
    match_debug_registers(c);
  bool complete = begins || called || at_jump_back(c, b, pc); // or one round of it is
  bool swallow = !complete || (!b && c->hit.left == c->clock.ns && pc == c->clock.end);
  if (swallow)
    *tl_amd64_own(c)->dr6 = tl_amd64_own(c)->dr6_was;
  return swallow;
}

// A breakpoint of ours on page p. True if it is the guest's own as well.
static bool hit(struct tl_cpu *c, struct tl_page *p, struct tl_break *b) {
  if (!(b = tl_hit(c, p, b)))
    return false; // what stands there now is run
  if (b->guest) {
    *c->pc = b->addr + 1;
    tl_clock_add(&c->clock, 1, b->addr + 1);
    return true;
  }
  tl_amd64_own(c)->dr6_was = *tl_amd64_own(c)->dr6;
  tl_enter_slot(c, b);
  return false;
}

// A null SS, which an interrupt of user code leaves (SDM vol. 3, 6.14.2), has the hidden part of
// another: nothing in 64-bit mode asks for its size, but the library translates what runs with it
// a second time.
static void widen_stack(struct tl_amd64_env *e) {
  if (!(e->hflags & TL_HF_CS64))
    return;
  e->segs[TL_SS].flags |= TL_SEG_B;
  e->hflags |= TL_HF_SS32;
}

// A fault while this is done comes by longjmp as a double fault to be delivered in its
// turn; a triple fault ends uc_emu_start with delivering still set.
static void deliver(struct tl_cpu *c, uint32_t vector) {
  tl_note_exception(c, TL_EXCEPTION, vector, tl_amd64_env(c)->eip);
  tl_delivering(&c->run, true);
  tl_amd64_lib.do_interrupt(c->cs);
  tl_delivering(&c->run, false);
  widen_stack(c->env);
}

// INT3 at addr, in a guest whose breakpoints stand in its text. True if it is not delivered to the guest.
static bool on_breakpoint(struct tl_cpu *c, uint64_t addr) {
  if (finish_call(c, addr))
    return true;
  struct tl_page *p = tl_page_of(c->m, addr);
  struct tl_break *b = p ? tl_break_on(c->m, p, addr) : NULL;
  if (b && hit(c, p, b))
    deliver(c, VECTOR_BP);
  return b;
}

static void on_exception(uc_engine *uc, uint32_t vector, void *cpu) {
  struct tl_cpu *c = cpu;
  bool fetching = tl_end_fill(&c->tlb);
  (void)uc;
  bool stepped = vector == VECTOR_DB && (tl_amd64_env(c)->eflags & TL_TF);
  if (vector == VECTOR_BP && !c->m->hooks.fire && on_breakpoint(c, tl_amd64_env(c)->eip - 1))
    return;
  if (stepped && step_of_slot(c))
    return;
  if (stepped)
    tl_leave_slot(c);
  else if (!fetching)
    cut_block(c); // the others come after a complete block
  deliver(c, vector);
}

// #UD comes by another way, which ends uc_emu_start; tl_run goes on.
static bool on_undefined(uc_engine *uc, void *cpu) {
  struct tl_cpu *c = cpu;
  tl_end_fill(&c->tlb);
  cut_block(c);
  deliver(c, VECTOR_UD);
  uint64_t pc = tl_amd64_env(c)->eip;
  uc_reg_write(uc, UC_X86_REG_RIP, &pc);
  return true;
}

void tl_amd64_hooks(struct tl_cpu *c) {
  uc_hook hook;
  uc_hook_add(c->uc, &hook, UC_HOOK_INTR, (void *)on_exception, c, 1, 0);
  uc_hook_add(c->uc, &hook, UC_HOOK_INSN_INVALID, (void *)on_undefined, c, 1, 0);
}

// The library's own use: a store to code of the running block, which is left with eip
// exact.
void TL_AMD64(cpu_loop_exit_noexc)(void *cs) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (c && c->live)
    tl_cut(c, tl_canonical(c, tl_address(c)));
  tl_lib.loop_exit(cs);
}

// The library takes every hardware interrupt as vector 0.
void TL_AMD64(do_interrupt_x86_hardirq)(void *env, int vector, int hw) {
  struct tl_cpu *c = tl_by_env(env);
  if (c && hw) {
    tl_callback_at(&c->clock, c->clock.ns);
    if (vector == VECTOR_NMI)
      tl_set_lines(&c->clock, c->clock.lines & ~TL_LINE_NMI);
    else if (vector == 0)
      vector = tlGoAck(c->id);
    tl_note_interrupt(c, vector, tl_amd64_env(c)->eip);
  }
  if (c)
    tl_delivering(&c->run, true);
  tl_amd64_lib.hardirq(env, vector, hw);
  if (c) {
    tl_delivering(&c->run, false);
    widen_stack(env);
  }
}

uint64_t TL_AMD64(cpu_get_tsc)(void *env) {
  struct tl_cpu *c = tl_by_env(env);
  return c ? tl_read_clock(c) : 0;
}

static struct tl_seg flat(uint32_t selector, uint32_t type) {
  enum { A = 1 << 8, S = 1 << 12, P = 1 << 15, G = 1 << 23 };
  return (struct tl_seg){selector & 0xfffc, 0, 0xffffffff, A | S | P | G | type};
}

// SDM vol. 2, SYSCALL. The library only calls hooks and steps over it.
void TL_AMD64(helper_syscall)(void *env, int len) {
  enum { W = 1 << 9, CODE = 1 << 11, L = 1 << 21 };
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live) {
    tl_amd64_lib.syscall(env, len);
    return;
  }
  struct tl_amd64_env *e = c->env;
  uint64_t flags = tl_amd64_flags(c);
  const uint64_t *msrs = tl_amd64_own(c)->msrs;
  uint32_t selector = msrs[TL_STAR] >> 32 & 0xffff;
  bool was64 = e->hflags & TL_HF_CS64;
  tl_note_syscall(c, e->regs[0], e->eip + len);
  e->regs[TL_RCX] = e->eip + len;
  e->regs[11] = flags;
  tl_amd64_set_flags(c, flags & ~msrs[TL_FMASK]);
  e->eflags &= ~TL_RF;
  e->segs[TL_CS] = flat(selector, CODE | W | L);
  e->segs[TL_SS] = flat(selector + 8, W | TL_SEG_B);
  e->hflags &= ~(TL_HF_CPL | TL_HF_ADDSEG | TL_HF_TF);
  e->hflags |= TL_HF_CS64 | TL_HF_CS32 | TL_HF_SS32;
  e->eip = was64 ? msrs[TL_LSTAR] : msrs[TL_CSTAR];
}

void TL_AMD64(helper_hlt)(void *env, int len) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live) {
    tl_amd64_lib.hlt(env, len);
    return;
  }
  struct tl_amd64_env *e = c->env;
  uint64_t next = tl_canonical(c, tl_address(c) + len);
  tl_go_to(c, next);
  e->hflags &= ~TL_HF_INHIBIT;
  if (!(e->eflags & TL_IF) && !(c->clock.lines & TL_LINE_NMI))
    tl_leave(c, next, TL_HALTED);
  tl_wait(c, next, (unsigned)len);
  tl_look_for_interrupts(&c->clock);
  tl_lib.loop_exit(c->cs);
}

// Port I/O. eip is stale in these helpers, and the library lets every ring do it.
static struct tl_cpu *port_access(void *env, uintptr_t retaddr) {
  struct tl_cpu *c = tl_by_env(env);
  if (!c || !c->live)
    return NULL;
  tl_lib.restore_state(c->cs, retaddr, false);
  tl_callback_at(&c->clock, tl_exact(c, tl_address(c)));
  if ((tl_amd64_env(c)->hflags & TL_HF_CPL) > (tl_amd64_env(c)->eflags >> 12 & 3))
    tl_amd64_lib.raise_exception(env, VECTOR_GP, 0, retaddr);
  return c;
}

static uint64_t port_in(void *env, uint32_t port, int size, uintptr_t retaddr) {
  struct tl_cpu *c = port_access(env, retaddr);
  return c ? tlGoIn(c->id, port & 0xffff, size) : 0;
}

static void port_out(void *env, uint32_t port, int size, uint32_t v, uintptr_t retaddr) {
  struct tl_cpu *c = port_access(env, retaddr);
  if (c)
    tlGoOut(c->id, port & 0xffff, size, v);
}

#define RETADDR ((uintptr_t)__builtin_return_address(0))
uint64_t TL_AMD64(helper_inb)(void *env, uint32_t port) { return port_in(env, port, 1, RETADDR) & 0xff; }
uint64_t TL_AMD64(helper_inw)(void *env, uint32_t port) { return port_in(env, port, 2, RETADDR) & 0xffff; }
uint64_t TL_AMD64(helper_inl)(void *env, uint32_t port) { return port_in(env, port, 4, RETADDR) & 0xffffffff; }
void TL_AMD64(helper_outb)(void *env, uint32_t port, uint32_t v) { port_out(env, port, 1, v & 0xff, RETADDR); }
void TL_AMD64(helper_outw)(void *env, uint32_t port, uint32_t v) { port_out(env, port, 2, v & 0xffff, RETADDR); }
void TL_AMD64(helper_outl)(void *env, uint32_t port, uint32_t v) { port_out(env, port, 4, v, RETADDR); }
