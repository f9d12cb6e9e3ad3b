// The library's own code hook, which is called before each instruction of a range: a second
// way to know what the guest executes, in which nothing is patched and no trampoline runs.
//
// With -x engine=hook it fires the probes itself (tl_machine.hooked): breakpoints are kept in
// the books alone, fetches see the guest's own page. With -x crosscheck it counts what the
// breakpoints should have seen.
#include "target.h"

#include <stdlib.h>
#include <string.h>

// The library goes through the list of hooks for each instruction that has one: a long list
// costs more than a call for every instruction.
#define MAX_HOOKS 16

// Does the instruction at b, on page p, repeat itself, so that each round begins at its address?
bool tl_repeats(struct tl_cpu *c, const struct tl_page *p, const struct tl_break *b) {
  uint8_t code[16];
  const struct tl_machine *m = c->m;
  uint64_t off = b->addr & (TL_PAGE - 1), room = TL_PAGE - off, here = b->len < room ? b->len : room;
  if (!m->t->repeats || b->len > sizeof code)
    return false;
  const struct tl_page *second = here < b->len ? tl_page_of(c->m, b->addr + here) : p;
  if (!second)
    return false;
  memcpy(code, m->ram + p->pa + off, here);
  memcpy(code + here, m->ram + second->pa, b->len - here);
  return m->t->repeats(code, b->len);
}

// Where the executions of the instruction at addr by c are counted.
static uint64_t *executions(struct tl_cpu *c, struct tl_page *p, uint64_t addr) {
  return &p->executed[(uint64_t)c->id * TL_PAGE + (addr & (TL_PAGE - 1))];
}

// It has fired once if nothing came in between: neither other code, which takes time, nor an
// exception.
static bool next_round(struct tl_cpu *c, const struct tl_page *p, const struct tl_break *b) {
  return c->hook.fired == b->addr && tl_exact(c, b->addr) == c->hook.fired_ns + b->len &&
         tl_traps(&c->counts) == c->hook.fired_traps && tl_repeats(c, p, b);
}

static void fire(struct tl_cpu *c, struct tl_page *p, uint64_t addr) {
  if (p->stale)
    tl_resync(c, p);
  struct tl_break *b = tl_break_on(c->m, p, addr);
  if (!b)
    return;
  bool again = next_round(c, p, b);
  if (!again)
    tl_hit(c, p, b);
  else if (p->executed)
    (*executions(c, p, addr))--;
  c->hook.fired = addr;
  c->hook.fired_ns = tl_exact(c, addr);
  c->hook.fired_traps = tl_traps(&c->counts);
}

static void on_code(uc_engine *uc, uint64_t addr, uint32_t size, void *cpu) {
  struct tl_cpu *c = cpu;
  struct tl_page *p = tl_page_of(c->m, addr);
  (void)uc;
  (void)size;
  if (!p)
    return;
  c->hook.seen = addr;
  if (p->executed)
    (*executions(c, p, addr))++;
  if (c->m->hooks.fire)
    fire(c, p, addr);
}

// An instruction at pc that is none is about to be reported. The library has called no hook
// for it if it could not even be decoded.
void tl_hook_undecoded(struct tl_cpu *c, uint64_t pc) {
  if (c->m->hooks.fire && c->hook.seen != pc)
    on_code(c->uc, pc, 0, c);
  c->hook.seen = 0;
}

// The pages beyond the first MAX_HOOKS share a hook, which is called for the others as well.
static void on_code_elsewhere(uc_engine *uc, uint64_t addr, uint32_t size, void *cpu) {
  struct tl_cpu *c = cpu;
  struct tl_page *p = tl_page_of(c->m, addr);
  if (p && p - c->m->breaks.pages >= MAX_HOOKS)
    on_code(uc, addr, size, cpu);
}

// Have f called with data before c executes an instruction in [lo, hi]; for lo behind hi, any. Code
// that is translated from here on may have the call in it.
int tl_hook_code(struct tl_cpu *c, void *f, void *data, uint64_t lo, uint64_t hi) {
  uc_hook handle;
  c->m->hooks.watched = true;
  return uc_hook_add(c->uc, &handle, UC_HOOK_CODE, f, data, lo, hi);
}

static int hook(struct tl_machine *m, void *f, uint64_t lo, uint64_t hi) {
  int err = UC_ERR_OK;
  for (unsigned i = 0; i < m->ncpus && !err; i++)
    err = tl_hook_code(m->cpus[i], f, m->cpus[i], lo, hi);
  return err;
}

// Have the instructions of a page seen that is about to be the newest; what was translated
// from it has to be dropped.
int tl_hook_page(struct tl_machine *m, uint64_t va) {
  if (m->breaks.npages < MAX_HOOKS)
    return hook(m, on_code, va, va + TL_PAGE - 1);
  return m->breaks.npages == MAX_HOOKS ? hook(m, on_code_elsewhere, 0, ~0ull) : UC_ERR_OK;
}

static void on_alias(uc_engine *uc, uint64_t addr, uint32_t size, void *page) {
  struct tl_page *p = page;
  (void)uc;
  (void)size;
  p->passed += p->id[addr & (TL_PAGE - 1)] != 0;
}

// The guest is about to execute p at va, where its breakpoints do not stand. What passes them by is
// counted, at the first such address.
void tl_hook_alias(struct tl_cpu *c, struct tl_page *p, uint64_t va) {
  if ((p->alias && p->alias != va) || (p->hooked_at_alias & tl_bit(c)))
    return;
  p->alias = va;
  p->hooked_at_alias |= tl_bit(c);
  tl_hook_code(c, (void *)on_alias, p, va, va + TL_PAGE - 1);
}

// Count from now on, for addresses in [lo, hi] on pages that have breakpoints now.
int tl_crosscheck(struct tl_cpu *c, uint64_t lo, uint64_t hi) {
  struct tl_machine *m = c->m;
  for (uint32_t i = 0; i < m->breaks.npages; i++)
    if (!m->breaks.pages[i].executed && !(m->breaks.pages[i].executed = calloc(m->ncpus * TL_PAGE, sizeof(uint64_t))))
      return UC_ERR_NOMEM;
  int err = m->hooks.fire ? UC_ERR_OK : hook(m, on_code, lo, hi);
  for (unsigned i = 0; i < m->ncpus; i++)
    tl_flush(m->cpus[i]);
  return err;
}

uint64_t tl_executed(struct tl_cpu *c, uint64_t addr) {
  struct tl_page *p = tl_page_of(c->m, addr);
  return p && p->executed ? *executions(c, p, addr) : 0;
}

// The breakpoint at addr was executed, but it was no longer due.
void tl_not_executed(struct tl_cpu *c, uint64_t addr) {
  struct tl_page *p = tl_page_of(c->m, addr);
  if (p && p->executed)
    (*executions(c, p, addr))--;
}
