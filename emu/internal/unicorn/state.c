// The state of a CPU as a snapshot has it: what a guest can have put there, and nothing else.
//
// The library's own copy of a CPU (uc_context) has more in it: its size, which is believed, host
// pointers, indices, what follows from other parts, what helpers leave behind. So each target
// lists the parts that are the guest's, and its notes, which mean nothing between two runs. What is
// in neither list is the same in every CPU that has just been opened, and is taken from there.
#include "library.h"

#include <string.h>

// The bytes of a part lie at p->at, and at every p->stride from there on, p->n times.
#define EACH(at, p) for (unsigned i_ = 0, at = (p)->at; i_ < (p)->n; i_++, at += (p)->stride)

uint64_t tl_env_size(const struct tl_cpu *c) { return c->m->t->env_size; }

uint64_t tl_state_size(const struct tl_cpu *c) {
  uint64_t n = 0;
  for (const struct tl_part *p = c->m->t->state; p->size; p++)
    n += (uint64_t)p->size * p->n;
  return n;
}

static void clear(const struct tl_part *p, uint8_t *env) {
  for (; p->size; p++)
    EACH(at, p) memset(env + at, 0, p->size);
}

// The first byte of the CPU's state that differs from a new CPU's, and has no place in a snapshot. -1
// if there is none. a and b are room for two states.
static int unsaved(const struct tl_cpu *c, uint8_t *a, uint8_t *b) {
  uint64_t n = tl_env_size(c);
  memcpy(a, c->env, n);
  memcpy(b, c->fresh, n);
  clear(c->m->t->state, a), clear(c->m->t->notes, a);
  clear(c->m->t->state, b), clear(c->m->t->notes, b);
  for (uint64_t i = 0; i < n; i++)
    if (a[i] != b[i])
      return (int)i;
  return -1;
}

// Copy the guest's parts to to, tl_state_size bytes; a and b are room for two states. -1, or the place
// of a byte that cannot be saved.
int tl_state_save(const struct tl_cpu *c, uint8_t *to, uint8_t *a, uint8_t *b) {
  for (const struct tl_part *p = c->m->t->state; p->size; p++)
    EACH(at, p) {
      memcpy(to, (uint8_t *)c->env + at, p->size);
      to += p->size;
    }
  return unsaved(c, a, b);
}

// Make env, tl_env_size bytes, of tl_state_size bytes that anyone may have written. NULL, or what is
// wrong with them; the CPU stays as it is.
const char *tl_state_check(const struct tl_cpu *c, const uint8_t *from, uint8_t *env) {
  memcpy(env, c->fresh, tl_env_size(c));
  for (const struct tl_part *p = c->m->t->state; p->size; p++)
    EACH(at, p) {
      memcpy(env + at, from, p->size);
      from += p->size;
    }
  return c->m->t->sound(c, env);
}

// Give the CPU a state that tl_state_check has made.
void tl_state_set(struct tl_cpu *c, const uint8_t *env) {
  memcpy(c->env, env, tl_env_size(c));
  if (c->m->t->restored)
    c->m->t->restored(c);
}

// The library's state of floating point: eight bytes, of which the last four are true or false.
bool tl_float_sound(const uint8_t *status) {
  enum { TININESS, ROUNDING, FLAGS, PRECISION, BOOLS, LAST_ROUNDING = 5 };
  uint8_t p = status[PRECISION];
  bool ok = status[TININESS] <= 1 && status[ROUNDING] <= LAST_ROUNDING && (p == 0 || p == 32 || p == 64 || p == 80);
  for (unsigned i = BOOLS; i < TL_FLOAT; i++)
    ok = ok && status[i] <= 1;
  return ok;
}

// Where tl_state_save puts the byte at an offset of the state; -1 for nowhere.
int tl_state_place(const struct tl_cpu *c, unsigned offset) {
  int n = 0;
  for (const struct tl_part *p = c->m->t->state; p->size; p++)
    EACH(at, p) {
      if (offset >= at && offset < at + p->size)
        return n + (int)(offset - at);
      n += p->size;
    }
  return -1;
}
