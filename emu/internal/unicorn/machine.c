// Opening an engine, finding out whether the library is one that the shim knows, and closing it.
#include "library.h"

#include <stdlib.h>
#include <string.h>

#define AUX_PA (1ull << 36) // above the largest guest memory

static const uint64_t flat; // code base 0

static const char *allocate(struct tl_machine *m, uint64_t ram_size) {
  m->ram_size = ram_size;
  m->ram_base = m->t->ram_base;
  m->aux_pa = AUX_PA;
  m->aux_size = TL_SLOTS_SIZE + TL_TEXT_PAGES * TL_PAGE;
  m->ram = tl_reserve(ram_size);
  m->aux = tl_reserve(m->aux_size);
  bool ok = m->ram && m->aux && tl_slots_open(m) && tl_code_open(m) && tl_breaks_open(m) && tl_deferrals_open(m);
  return ok ? NULL : "not enough address space for the guest's memory";
}

static void release(struct tl_machine *m) {
  tl_deferrals_close(m);
  tl_breaks_close(m);
  tl_code_close(m);
  tl_slots_close(m);
  tl_release(m->aux, m->aux_size);
  tl_release(m->ram, m->ram_size);
}

// The library has one CPU, with the number 0 or none. Its state is a part of what cs begins.
static bool find_cpu(struct tl_cpu *c) {
  enum { MOST = 1 << 20 };
  const struct tl_target *t = c->m->t;
  if (!(c->cs = tl_lib.get_cpu(c->uc, 0)))
    c->cs = tl_lib.get_cpu(c->uc, -1);
  if (!c->cs)
    return false;
  c->env = *(void **)(c->cs + TL_CS_ENV);
  if ((uintptr_t)c->env - (uintptr_t)c->cs >= MOST)
    return false;
  c->pc = (uint64_t *)((uint8_t *)c->env + t->pc_offset);
  c->code_base = t->code_base_offset ? (uint64_t *)((uint8_t *)c->env + t->code_base_offset) : &flat;
  return true;
}

static const char *open_engine(struct tl_cpu *c, uint64_t code_size) {
  struct tl_machine *m = c->m;
  const char *why;
  tl_codebuf_size(&c->buffer, code_size);
  if (uc_open(m->t->uc_arch, m->t->uc_mode, &c->uc))
    return "it does not open an engine";
  if (m->t->prepare && (why = m->t->prepare(c)))
    return why;
  if (uc_ctl_exits_enable(c->uc)) // otherwise until, which is 0, is an address of the guest's
    return "it does not run without an end";
  if (uc_mem_map_ptr(c->uc, m->ram_base, m->ram_size, UC_PROT_ALL, m->ram) ||
      uc_mem_map_ptr(c->uc, m->aux_pa, m->aux_size, UC_PROT_ALL, m->aux))
    return "it does not map the guest's memory";
  if (!find_cpu(c))
    return "it has no CPU where one is known to be";
  c->region = tl_lib.memory_mapping(c->uc, m->ram_base);
  uint64_t aux_ra = tl_lib.ram_addr(c->uc, m->aux);
  bool alike = c->id == 0 || aux_ra == m->aux_ra; // an address of the library's is one for all engines
  m->aux_ra = aux_ra;
  if (!c->region || !alike || tl_lib.ram_addr(c->uc, m->ram) || aux_ra / TL_PAGE >= m->code.pages)
    return "its memory map is not laid out as known";
  return NULL;
}

// What the replaced functions must have seen after a page of code has been run.
static const char *all_replaced(struct tl_cpu *c) {
  bool ok = c->buffer.first && c->tlb.made && c->m->code.marked;
  return ok ? NULL : "functions defined here do not take the place of its own";
}

// Find out what the engine of a new CPU is like.
static const char *try_engine(struct tl_cpu *c) {
  const struct tl_target *t = c->m->t;
  const char *err;
  if ((err = t->find(c)) || (err = tl_mmio(c)))
    return err;
  c->live = true;
  tl_charge_hook(c);
  if (t->hooks)
    t->hooks(c);
  err = t->try_code(c);
  if (c->buffer.first && !c->charge.known)
    return "its operations are not those that are known"; // whatever came of it
  if (err || (err = all_replaced(c)))
    return err;
  tl_keep_locate(c);
  if (!(c->fresh = malloc(tl_env_size(c))))
    return "out of memory";
  memcpy(c->fresh, c->env, tl_env_size(c));
  return NULL;
}

// c has an engine. Its lasting place is one that translated code can name.
static struct tl_cpu *move_near_code(struct tl_cpu *c) {
  struct tl_machine *m = c->m;
  struct tl_cpu *lasting = tl_alloc_near(c->env, sizeof *c, &c->mapped);
  if (!lasting)
    return NULL;
  *lasting = *c;
  m->cpus[m->ncpus++] = lasting;
  tl_register((unsigned)c->id, lasting);
  return lasting;
}

// Another CPU of m, which has not run yet. NULL, and why not, leaves m as one to be closed.
struct tl_cpu *tl_open_another(struct tl_machine *m, uint64_t code_size, const char **err) {
  struct tl_cpu first = {.m = m, .id = (int)m->ncpus}, *c = NULL;
  tl_clock_start(&first.clock, 0, 0);
  tl_enter(&first);
  if (!(*err = open_engine(&first, code_size)) && !(c = move_near_code(&first)))
    *err = "no address space is left near the CPU's state";
  tl_enter(c);
  if (c)
    *err = try_engine(c);
  else if (first.uc)
    uc_close(first.uc);
  tl_enter(NULL);
  return *err ? NULL : c;
}

// A machine with one CPU.
struct tl_cpu *tl_open(const struct tl_target *t, uint64_t ram_size, uint64_t code_size, const char **err) {
  struct tl_machine *m = calloc(1, sizeof *m);
  *err = "out of memory";
  if (!m)
    return NULL;
  m->t = t;
  struct tl_cpu *c = NULL;
  if (!(*err = tl_library_load(t)) && !(*err = allocate(m, ram_size)))
    c = tl_open_another(m, code_size, err);
  if (!c)
    tl_close(m);
  return c;
}

static void close_cpu(struct tl_cpu *c) {
  if (c->uc)
    uc_close(c->uc);
  free(c->step);
  free(c->fresh);
  tl_free_near(c, sizeof *c, c->mapped);
}

void tl_close(struct tl_machine *m) {
  for (unsigned i = 0; i < m->ncpus; i++)
    m->cpus[i]->live = false;
  for (unsigned i = 0; i < m->ncpus; i++) {
    close_cpu(m->cpus[i]);
    tl_register(i, NULL);
  }
  tl_journal_close(m);
  tl_keep_close(m);
  release(m);
  free(m);
}

void tl_flush_tlb(struct tl_cpu *c) { tl_lib.flush_tlb(c->cs); }

// Forget all translations, of addresses and of code. Only between runs. The library's
// own flush would clear, and so touch, the whole code buffer.
void tl_flush(struct tl_cpu *c) {
  tl_lib.invalidate(c->uc, 0, c->m->ram_size);
  tl_lib.invalidate(c->uc, c->m->aux_ra, c->m->aux_ra + c->m->aux_size);
  tl_lib.flush_tlb(c->cs);
}
