// What the machine does for a displaced instruction that names or saves its own address
// (package kernel/arch, type Op, says what each Op means).
#include "target.h"

// As in arch.Op.
enum op {
  NONE, SET, JUMP, JUMP_REG,
  IF_EQ, IF_NE, IF_LT, IF_GE, IF_LTU, IF_GEU, IF_EQ32, IF_NE32, IF_BIT_SET, IF_BIT_CLR, IF_FLAGS,
  LEND, LEND_OUT,
};

#define NO_REG 0xff

static uint64_t get(struct tl_cpu *c, uint8_t reg) { return reg == NO_REG ? 0 : *c->m->t->general(c, reg); }

static void put(struct tl_cpu *c, uint8_t reg, uint64_t v) {
  if (reg != NO_REG)
    *c->m->t->general(c, reg) = v;
}

static bool holds(struct tl_cpu *c, const struct tl_break *b) {
  uint64_t x = get(c, b->b), y = b->op < IF_BIT_SET ? get(c, b->c) : 0;
  switch (b->op) {
  case IF_EQ: return x == y;
  case IF_NE: return x != y;
  case IF_LT: return (int64_t)x < (int64_t)y;
  case IF_GE: return (int64_t)x >= (int64_t)y;
  case IF_LTU: return x < y;
  case IF_GEU: return x >= y;
  case IF_EQ32: return (uint32_t)x == (uint32_t)y;
  case IF_NE32: return (uint32_t)x != (uint32_t)y;
  case IF_BIT_SET: return x >> b->c & 1;
  case IF_BIT_CLR: return !(x >> b->c & 1);
  default: return c->m->t->condition(c, b->c);
  }
}

// Do the displaced instruction of b, whose address is *pc. False if its slot is to be run.
bool tl_emulate(struct tl_cpu *c, struct tl_break *b) {
  uint64_t pc = *c->pc, next = pc + b->len, to = next;
  switch (b->op) {
  case NONE: case LEND: case LEND_OUT:
    return false;
  case SET:
    put(c, b->a, pc + b->imm);
    break;
  case JUMP:
    put(c, b->a, next);
    to = pc + b->imm;
    break;
  case JUMP_REG:
    to = (get(c, b->b) + b->imm) & ~(uint64_t)b->c;
    if (c->m->t->branch)
      to = c->m->t->branch(c, to);
    put(c, b->a, next);
    break;
  default:
    if (holds(c, b))
      to = pc + b->imm;
  }
  *c->pc = to;
  return true;
}

// Before the slot of b is run at the address *pc.
void tl_lend(struct tl_cpu *c, struct tl_break *b) {
  if (b->op != LEND && b->op != LEND_OUT)
    return;
  c->loan = (struct tl_loan){1 + b->a, get(c, b->a)};
  put(c, b->a, b->op == LEND ? *c->pc + b->imm : *c->pc + b->len);
}

// The slot of b was left at its end, or by a fault: the register has its old value again,
// unless the instruction has completed and written it.
void tl_end_loan(struct tl_cpu *c, const struct tl_break *b, bool completed) {
  if (c->loan.reg && !(completed && b->a == b->b))
    put(c, c->loan.reg - 1, c->loan.was);
  c->loan.reg = 0;
}
