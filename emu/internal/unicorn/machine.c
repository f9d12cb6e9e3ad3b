// Opening an engine, finding out whether the library is one that the shim knows, and
// running the guest.
#define _GNU_SOURCE 1
#include "library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS_SIZE (128ull << 20) // 4 million trampolines of 32 bytes
#define TEXT_PAGES 16384
#define BREAKS (16u << 20) // more than there are instructions in the text pages
#define AUX_PA (1ull << 36) // above the largest guest memory

static const uint64_t flat; // code base 0

static struct tl_cpu *cpus[TL_CPUS]; // of the machine that is open
static __thread struct tl_cpu *opening, *running; // of this thread

#define FIND(field, pointer)                                 \
  do {                                                       \
    for (int i = 0; i < TL_CPUS && cpus[i]; i++)            \
      if ((const void *)cpus[i]->field == (pointer))         \
        return cpus[i];                                      \
    return NULL;                                             \
  } while (0)

struct tl_cpu *tl_by_cs(const void *cs) { FIND(cs, cs); }
struct tl_cpu *tl_by_env(const void *env) { FIND(env, env); }
struct tl_cpu *tl_by_uc(const void *uc) { FIND(uc, uc); }
struct tl_cpu *tl_current(void) { return running ? running : opening; }

static void *reserve(uint64_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  madvise(p, size, MADV_HUGEPAGE); // fewer TLB misses of the host; not having them is no error
  return p;
}

// A mapping that code at place, or place itself, can name by 32 bits; NULL if there is no room.
void *tl_map_near(const void *place, size_t size, int prot) {
  enum { STRIDE = 1 << 20, REACH = INT32_MAX - STRIDE };
  uint8_t *base = (uint8_t *)((uintptr_t)place & ~(uintptr_t)(STRIDE - 1)); // of a page, on any host
  for (intptr_t away = STRIDE; away + (intptr_t)size < REACH; away += STRIDE)
    for (int side = 0; side < 2; side++) {
      uint8_t *hint = side ? base + away : base - away;
      void *p = mmap(hint, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (p == hint)
        return p;
      if (p != MAP_FAILED)
        munmap(p, size);
    }
  return NULL;
}

// Zeroed memory that code can name from place on, by 32 bits; NULL if there is none. Between the
// guest's memory and buffers of code there may be no room for a mapping, but what is allocated
// just after place is mostly near it anyway.
static void *near(const void *place, size_t size, bool *mapped) {
  enum { REACH = INT32_MAX - (1 << 20) };
  const uint8_t *base = place;
  uint8_t *allocated = calloc(1, size);
  *mapped = false;
  if (allocated && allocated - base < REACH && base - allocated < REACH)
    return allocated;
  free(allocated);
  *mapped = true;
  return tl_map_near(place, size, PROT_READ | PROT_WRITE);
}

static const char *allocate(struct tl_machine *m, uint64_t ram_size) {
  m->ram_size = ram_size;
  m->ram_base = m->t->ram_base;
  m->slot_size = m->hidden = SLOTS_SIZE;
  m->slot_shift = m->t->slot_shift;
  m->aux_pa = AUX_PA;
  m->aux_size = SLOTS_SIZE + TEXT_PAGES * TL_PAGE;
  m->cappages = TEXT_PAGES;
  m->capbreaks = BREAKS;
  m->va_mask = 4 * TEXT_PAGES - 1;
  m->pages_of_ram = (ram_size + m->aux_size) / TL_PAGE;
  m->ram = reserve(ram_size);
  m->aux = reserve(m->aux_size);
  m->slot_id = reserve((m->slot_size >> m->slot_shift) * sizeof *m->slot_id);
  m->has_code = reserve(m->pages_of_ram);
  m->page_by_pa = reserve(ram_size / TL_PAGE * sizeof *m->page_by_pa);
  m->page_by_va = reserve((m->va_mask + 1) * sizeof *m->page_by_va);
  m->pages = reserve(m->cappages * sizeof *m->pages);
  m->breaks = reserve(m->capbreaks * sizeof *m->breaks);
  m->wants = reserve(TL_WANTS * sizeof *m->wants);
  m->deferred = reserve(TL_DEFERRED_WORDS * sizeof *m->deferred);
  bool ok = m->breaks && m->wants && m->deferred && m->ram && m->aux && m->slot_id && m->has_code && m->page_by_pa && m->page_by_va && m->pages;
  return ok ? NULL : "not enough address space for the guest's memory";
}

// The library has one CPU, with the number 0 or none. Its state is a part of what cs begins.
static bool find_cpu(struct tl_cpu *c) {
  enum { MOST = 1 << 20 };
  if (!(c->cs = tl_lib.get_cpu(c->uc, 0)))
    c->cs = tl_lib.get_cpu(c->uc, -1);
  if (!c->cs)
    return false;
  c->env = *(void **)(c->cs + TL_CS_ENV);
  if ((uintptr_t)c->env - (uintptr_t)c->cs >= MOST)
    return false;
  c->pc = (uint64_t *)((uint8_t *)c->env + c->m->t->pc_offset);
  c->code_base = &flat;
  return true;
}

static const char *open_engine(struct tl_cpu *c, uint64_t code_size) {
  struct tl_machine *m = c->m;
  const char *why;
  tl_codebuf_size(code_size);
  opening = c;
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
  if (!c->region || !alike || tl_lib.ram_addr(c->uc, m->ram) || aux_ra / TL_PAGE >= m->pages_of_ram)
    return "its memory map is not laid out as known";
  return NULL;
}

// Run until something sets c->end_reason, or the library fails with the error returned.
int tl_run_once(struct tl_cpu *c) {
  struct tl_cpu *outer = running;
  int err = 0;
  running = c;
  c->end_reason = TL_RUNNING;
  c->delivering = 0;
  while (c->end_reason == TL_RUNNING && !err) {
    err = uc_emu_start(c->uc, *c->pc, 0, 0, 0); // ends by itself after #UD and a flush
    if (c->delivering)
      c->end_reason = TL_TRIPLE;
    if (c->trying)
      break; // a library that ends otherwise is not the one that is known
  }
  running = outer;
  return err;
}

// Run code that a target tries. True if it ended as it should, after bytes of clock.
bool tl_try(struct tl_cpu *c, int end, uint64_t bytes) {
  c->trying = 1;
  int err = tl_run_once(c);
  c->trying = 0;
  bool ok = !err && c->end_reason == end && c->clock == bytes;
  c->clock = c->end = c->m->seen = 0;
  c->interrupts = c->exceptions = c->syscalls = 0;
  tl_flush(c);
  return ok;
}

// What the replaced functions must have seen after a page of code has been run.
static const char *all_replaced(struct tl_cpu *c) {
  bool ok = c->first_tb && c->set_pages && c->m->has_code_pages;
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
  if (c->first_tb && !c->charges)
    return "its operations are not those that are known"; // whatever came of it
  if (err || (err = all_replaced(c)))
    return err;
  tl_kept_look(c);
  if (!(c->fresh = malloc(tl_env_size(c))))
    return "out of memory";
  memcpy(c->fresh, c->env, tl_env_size(c));
  return NULL;
}

// Another CPU of m, which has not run yet. NULL, and why not, leaves m as one to be closed.
struct tl_cpu *tl_open_another(struct tl_machine *m, uint64_t code_size, const char **err) {
  struct tl_cpu first = {.m = m, .id = (int)m->ncpus, .deadline = TL_NEVER, .trig = TL_NEVER, .slice = TL_NEVER}, *c = NULL;
  opening = &first;
  if (!(*err = open_engine(&first, code_size)) && !(c = near(first.env, sizeof *c, &first.mapped)))
    *err = "no address space is left near the CPU's state";
  if ((opening = c)) {
    *c = first;
    cpus[m->ncpus] = m->cpus[m->ncpus] = c;
    m->ncpus++;
    *err = try_engine(c);
  } else if (first.uc) {
    uc_close(first.uc);
  }
  opening = NULL;
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
  if (c->mapped)
    munmap(c, sizeof *c);
  else
    free(c);
}

void tl_close(struct tl_machine *m) {
  for (unsigned i = 0; i < m->ncpus; i++)
    m->cpus[i]->live = false;
  for (unsigned i = 0; i < m->ncpus; i++) {
    close_cpu(m->cpus[i]);
    cpus[i] = NULL;
  }
  for (uint32_t i = 0; i < m->npages; i++) {
    free(m->pages[i].id);
    free(m->pages[i].original);
    free(m->pages[i].executed);
  }
  struct { void *p; uint64_t size; } maps[] = {
      {m->ram, m->ram_size},
      {m->aux, m->aux_size},
      {m->slot_id, (m->slot_size >> m->slot_shift) * sizeof *m->slot_id},
      {m->has_code, m->pages_of_ram},
      {m->page_by_pa, m->ram_size / TL_PAGE * sizeof *m->page_by_pa},
      {m->page_by_va, (m->va_mask + 1) * sizeof *m->page_by_va},
      {m->pages, m->cappages * sizeof *m->pages},
      {m->breaks, m->capbreaks * sizeof *m->breaks},
      {m->wants, TL_WANTS * sizeof *m->wants},
      {m->deferred, TL_DEFERRED_WORDS * sizeof *m->deferred},
  };
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    if (maps[i].p)
      munmap(maps[i].p, maps[i].size);
  tl_journal_close(m);
  tl_keep_no_more(m);
  free(m);
}

// Run until something ends the run, an enum tl_end; *err says more for TL_FAILED.
// A stop that comes while nothing runs ends the next run at once.
// Where other CPUs may have run since the last, a store exclusive fails whose load was in that: the
// library would compare values, and not see that the old one has come back.
int tl_run(struct tl_cpu *c, const char **err) {
  if (c->m->ncpus > 1 && c->m->t->monitor)
    *c->m->t->monitor(c) = TL_NO_MONITOR;
  c->trig = 0; // looks at everything that may have changed
  int code = tl_run_once(c);
  if (c->end == TL_NEVER) // tl_stop_here
    c->end = tl_address(c);
  else if (c->end_reason == TL_STOPPED)
    __atomic_store_n(&c->m->stop, 0, __ATOMIC_SEQ_CST);
  *err = code ? uc_strerror(code) : NULL;
  return code ? TL_FAILED : c->end_reason;
}

// May be called from any thread.
void tl_stop(struct tl_machine *m) {
  __atomic_store_n(&m->stop, 1, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < m->ncpus; i++)
    __atomic_store_n(&m->cpus[i]->trig, 0, __ATOMIC_SEQ_CST);
}

void tl_flush_tlb(struct tl_cpu *c) { tl_lib.flush_tlb(c->cs); }

// Forget all translations, of addresses and of code. Only between runs. The library's
// own flush would clear, and so touch, the whole code buffer.
void tl_flush(struct tl_cpu *c) {
  tl_lib.invalidate(c->uc, 0, c->m->ram_size);
  tl_lib.invalidate(c->uc, c->m->aux_ra, c->m->aux_ra + c->m->aux_size);
  tl_lib.flush_tlb(c->cs);
}
