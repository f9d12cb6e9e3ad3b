// The clock in translated code. A block begins with
//
//	if (ns >= due)
//	  tl_on_block(block);
//	ns += size;
//	end = pc + size;
//
// and the call is behind the block's own code. A block of a trampoline begins with the call alone.
//
// The library begins each block with a check of its own, whether it is asked to leave, and ends
// it with what is done then. Nothing of ours asks for that in a chain of blocks. The clock's part
// takes those places: the branch of the check (tl_charge_fast_path), and the exit behind the block
// (tl_charge_slow_path). How long a block is, is known at its end.
//
// Operations are the library's. What is relied on is looked at when the first block is translated:
// their numbers, by their names, and how one is laid out, on that of the check.
#include "library.h"

#include <string.h>

enum { BR_ALWAYS = 1, BR_GEU = 5 }; // conditions
enum { I64 = 1 };                   // type of a temporary
enum { SET_LABEL = 0x01, LD_I32 = 0x0d, MOVI_I64 = 0x40, LD_I64 = 0x49, ST_I64 = 0x4d, ADD_I64 = 0x4e };
enum { NAME_STRIDE = 32, EXIT_REQUEST = -16 }; // in the table of operations; from the CPU state

struct tl_op {
  uint8_t number, rest[7];
  struct tl_op *next;
  struct tl_op **before; // next of the one before
  uint64_t args[];       // temporaries, labels, constants
};

static const struct {
  uint8_t number;
  const char *name;
} known[] = {
    {SET_LABEL, "set_label"}, {LD_I32, "ld_i32"}, {MOVI_I64, "movi_i64"},
    {LD_I64, "ld_i64"},       {ST_I64, "st_i64"}, {ADD_I64, "add_i64"},
};

static struct tl_op *preceding(struct tl_op *op) {
  return (struct tl_op *)((uint8_t *)op->before - offsetof(struct tl_op, next));
}

static bool as_known(struct tl_cpu *c) {
  const uint8_t *table = *(const uint8_t **)((uint8_t *)c->buffer.tcg + c->m->t->operations);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strcmp(*(const char **)(table + known[i].number * NAME_STRIDE), known[i].name))
      return false;
  struct tl_op *mine = tl_lib.emit_op(c->buffer.tcg, MOVI_I64), *check = preceding(mine);
  bool ok = mine->number == MOVI_I64 && check->next == mine && check->number == LD_I32 &&
            check->args[2] == (uint64_t)EXIT_REQUEST;
  tl_lib.remove_op(c->buffer.tcg, mine);
  return ok;
}

static struct tl_op *constant(void *tcg, uint64_t temp, uint64_t value) {
  struct tl_op *op = tl_lib.emit_op(tcg, MOVI_I64);
  op->args[0] = temp;
  op->args[1] = value;
  return op;
}

// Returns a variable of the library's.
static uint64_t call(struct tl_cpu *c) {
  uint64_t arg = tl_lib.new_temp(c->buffer.tcg, I64, false);
  constant(c->buffer.tcg, arg, (uint64_t)c->charge.block);
  if (c->charge.described)
    tl_lib.gen_call(c->buffer.tcg, (void *)tl_on_block, NULL, 1, &arg);
  else
    tl_lib.add_inline_hook(c->uc, (void *)c->charge.hook, &arg, 1); // describes it first
  c->charge.described = true;
  tl_lib.free_temp(c->buffer.tcg, arg);
  return arg - (uint64_t)c->buffer.tcg;
}

static uint64_t from_env(struct tl_cpu *c, const uint64_t *field) {
  return (uint64_t)((const uint8_t *)field - (uint8_t *)c->env) + c->charge.shift;
}

static void charge(struct tl_cpu *c, void *due) {
  void *tcg = c->buffer.tcg;
  uint64_t a = tl_lib.new_temp(tcg, I64, false), b = tl_lib.new_temp(tcg, I64, false);
  uint64_t ns = from_env(c, &c->clock.ns), until = from_env(c, &c->clock.due), end = from_env(c, &c->clock.end);
  struct tl_op *load = tl_lib.emit_op(tcg, LD_I64);
  uint64_t env = preceding(load)->args[1]; // as the check has it
  load->args[0] = a, load->args[1] = env, load->args[2] = ns;
  tl_lib.gen_op3(tcg, LD_I64, b, env, until);
  tl_lib.gen_brcond(tcg, BR_GEU, a - (uint64_t)tcg, b - (uint64_t)tcg, due);
  c->charge.back = tl_lib.new_label(tcg);
  tl_lib.gen_op1(tcg, SET_LABEL, (uint64_t)c->charge.back);
  tl_lib.gen_op3(tcg, LD_I64, a, env, ns);
  c->charge.size = constant(tcg, b, 0);
  tl_lib.gen_op3(tcg, ADD_I64, a, a, b);
  tl_lib.gen_op3(tcg, ST_I64, a, env, ns);
  c->charge.end = constant(tcg, b, 0);
  tl_lib.gen_op3(tcg, ST_I64, b, env, end);
  tl_lib.free_temp(tcg, a);
  tl_lib.free_temp(tcg, b);
}

// A hook that is never called: by it the library gets to know tl_on_block.
void tl_charge_hook(struct tl_cpu *c) {
  uc_hook_add(c->uc, &c->charge.hook, UC_HOOK_BLOCK, (void *)tl_on_block, c, ~0ull, ~0ull);
}

void tl_charge_begin(struct tl_cpu *c, const struct tl_block *block, uint64_t shift) {
  if (!c)
    return;
  struct tl_charge *g = &c->charge;
  g->block = c->live && !g->off ? block : NULL;
  g->begins = true;
  g->back = NULL;
  g->size = g->end = NULL;
  g->shift = shift;
}

// The first branch of a block is about to be emitted: that of the library's check, to exit. True
// if the clock's part has been, in its place.
bool tl_charge_fast_path(void *exit) {
  struct tl_cpu *c = tl_current();
  if (TL_LIKELY(!c || !c->charge.begins))
    return false;
  struct tl_charge *g = &c->charge;
  g->begins = false;
  if (!g->block || !(g->known = g->known || as_known(c)))
    return false;
  if (tl_in_hidden_slots(&c->m->slots, g->block->pc))
    call(c);
  else
    charge(c, exit);
  return true;
}

// What the branch goes to, behind the block, is about to be emitted. True as above.
bool tl_charge_slow_path(void) {
  struct tl_cpu *c = tl_current();
  if (!c || !c->charge.block || !c->charge.back)
    return false;
  uint64_t any = call(c);
  tl_lib.gen_brcond(c->buffer.tcg, BR_ALWAYS, any, any, c->charge.back);
  return true;
}

void tl_charge_end(struct tl_cpu *c) {
  if (!c)
    return;
  struct tl_charge *g = &c->charge;
  if (g->size) {
    g->size->args[1] = g->block->size;
    g->end->args[1] = g->block->pc + g->block->size;
  }
  g->block = NULL;
  g->begins = false;
}
