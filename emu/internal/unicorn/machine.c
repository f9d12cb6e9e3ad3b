// Opening an engine, finding out whether the library is one that the shim knows, and
// running the guest.
#define _GNU_SOURCE 1
#include "amd64.h"
#include "library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_CPUS 8
#define SLOTS_SIZE (128ull << 20) // 4 million trampolines of 32 bytes
#define TEXT_PAGES 16384
#define AUX_PA (1ull << 32) // above the largest guest memory

static struct tl_cpu *cpus[MAX_CPUS];
static __thread struct tl_cpu *opening, *running; // of this thread

#define FIND(field, pointer)                                 \
  do {                                                       \
    for (int i = 0; i < MAX_CPUS && cpus[i]; i++)            \
      if ((const void *)cpus[i]->field == (pointer))         \
        return cpus[i];                                      \
    return NULL;                                             \
  } while (0)

struct tl_cpu *tl_by_cs(const void *cs) { FIND(cs, cs); }
struct tl_cpu *tl_by_env(const void *env) { FIND(env, env); }
struct tl_cpu *tl_by_uc(const void *uc) { FIND(uc, uc); }
struct tl_cpu *tl_current(void) { return running ? running : opening; }

// The library hands its CPU state to no one; this is where it passes by.
void TL_AMD64(x86_cpu_exec_enter)(void *cs) {
  if (opening && !opening->cs) {
    opening->cs = cs;
    opening->env = *(struct tl_env **)(opening->cs + TL_CS_ENV);
  }
  tl_lib.exec_enter(cs);
}

static void *reserve(uint64_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static const char *allocate(struct tl_machine *m, uint64_t ram_size) {
  m->ram_size = ram_size;
  m->slot_size = SLOTS_SIZE;
  m->slot_shift = 5;
  m->aux_pa = AUX_PA;
  m->aux_size = SLOTS_SIZE + TEXT_PAGES * TL_PAGE;
  m->cappages = TEXT_PAGES;
  m->va_mask = 4 * TEXT_PAGES - 1;
  m->pages_of_ram = (ram_size + m->aux_size) / TL_PAGE;
  m->ram = reserve(ram_size);
  m->aux = reserve(m->aux_size);
  m->slot_id = reserve((m->slot_size >> m->slot_shift) * sizeof *m->slot_id);
  m->has_code = reserve(m->pages_of_ram);
  m->page_by_pa = reserve(ram_size / TL_PAGE * sizeof *m->page_by_pa);
  m->page_by_va = reserve((m->va_mask + 1) * sizeof *m->page_by_va);
  m->pages = reserve(m->cappages * sizeof *m->pages);
  bool ok = m->ram && m->aux && m->slot_id && m->has_code && m->page_by_pa && m->page_by_va && m->pages;
  return ok ? NULL : "not enough address space for the guest's memory";
}

static const char *open_engine(struct tl_cpu *c, uint64_t code_size) {
  struct tl_machine *m = c->m;
  tl_codebuf_size(code_size);
  if (uc_open(UC_ARCH_X86, UC_MODE_64, &c->uc))
    return "it does not open an amd64 engine";
  if (uc_mem_map_ptr(c->uc, 0, m->ram_size, UC_PROT_ALL, m->ram) ||
      uc_mem_map_ptr(c->uc, m->aux_pa, m->aux_size, UC_PROT_ALL, m->aux))
    return "it does not map the guest's memory";
  m->ram[0x1000] = 0x90; // one NOP shows the CPU state
  opening = c;
  int err = uc_emu_start(c->uc, 0x1000, 0x1001, 0, 0);
  opening = NULL;
  m->ram[0x1000] = 0;
  if (err || !c->cs)
    return "functions defined here do not take the place of its own";
  m->region = tl_lib.memory_mapping(c->uc, 0);
  m->aux_ra = tl_lib.ram_addr(c->uc, m->aux);
  if (!m->region || m->aux_ra / TL_PAGE >= m->pages_of_ram)
    return "its memory map is not laid out as known";
  return NULL;
}

static int run(struct tl_cpu *c) {
  struct tl_cpu *outer = running;
  int err = 0;
  running = c;
  c->end_reason = TL_RUNNING;
  c->delivering = 0;
  while (c->end_reason == TL_RUNNING && !err) {
    err = uc_emu_start(c->uc, c->env->eip, 0, 0, 0); // ends by itself after #UD and a flush
    if (c->delivering)
      c->end_reason = TL_TRIPLE;
  }
  running = outer;
  return err;
}

// One page of code at an address that is not its physical one, which stores to itself:
// translation of addresses, precise self-modification and halting in one.
static const char *try_code(struct tl_cpu *c) {
  static const uint8_t code[] = {
      0xc6, 0x05, 0x01, 0x00, 0x00, 0x00, 0x02, // movb $2, 1(%rip): the operand of the next
      0xb0, 0x01,                               // mov $1, %al
      0xf4,                                     // hlt
  };
  enum { PML4 = 0x1000, PDPT = 0x2000, PD = 0x3000, PT = 0x4000, CODE = 0x5000, GDT = 0x6000 };
  const uint64_t va = 0xffffffff80007000ull;
  uint8_t *ram = c->m->ram;
  *(uint64_t *)(ram + PML4 + 511 * 8) = PDPT | 3;
  *(uint64_t *)(ram + PDPT + 510 * 8) = PD | 3;
  *(uint64_t *)(ram + PD) = PT | 3;
  *(uint64_t *)(ram + PT + 7 * 8) = CODE | 3;
  memcpy(ram + CODE, code, sizeof code);
  tl_amd64_start(c, va, 0, 0, PML4, GDT, 31);
  int err = run(c);
  bool ok = !err && c->end_reason == TL_HALTED && (c->env->regs[TL_RAX] & 0xff) == 2 && c->clock == sizeof code;
  memset(ram + PML4, 0, GDT - PML4);
  c->clock = c->end = 0;
  tl_flush(c);
  return ok ? NULL : "it does not run a page of self-modifying code right";
}

struct tl_cpu *tl_open(uint64_t ram_size, uint64_t code_size, int id, const char **err) {
  struct tl_cpu *c = calloc(1, sizeof *c);
  *err = "out of memory";
  if (!c || !(c->m = calloc(1, sizeof *c->m)))
    return NULL;
  c->id = id;
  c->deadline = c->trig = TL_NEVER;
  cpus[0] = c;
  if (!(*err = allocate(c->m, ram_size)) && !(*err = open_engine(c, code_size)) && !(*err = tl_amd64_find(c))) {
    tl_amd64_features(c);
    c->m->live = true;
    tl_amd64_hooks(c);
    *err = try_code(c);
  }
  if (!*err)
    return c;
  tl_close(c);
  return NULL;
}

void tl_close(struct tl_cpu *c) {
  struct tl_machine *m = c->m;
  m->live = false;
  if (c->uc)
    uc_close(c->uc);
  cpus[0] = NULL;
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
  };
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    if (maps[i].p)
      munmap(maps[i].p, maps[i].size);
  free(m->breaks);
  free(m);
  free(c);
}

// Run until something ends the run, an enum tl_end; *err says more for TL_FAILED.
// A stop that comes while nothing runs ends the next run at once.
int tl_run(struct tl_cpu *c, const char **err) {
  c->trig = 0; // looks at everything that may have changed
  int code = run(c);
  if (c->end_reason == TL_STOPPED)
    __atomic_store_n(&c->stop, 0, __ATOMIC_SEQ_CST);
  *err = code ? uc_strerror(code) : NULL;
  return code ? TL_FAILED : c->end_reason;
}

// May be called from any thread.
void tl_stop(struct tl_cpu *c) {
  __atomic_store_n(&c->stop, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&c->trig, 0, __ATOMIC_SEQ_CST);
}

// Forget all translations, of addresses and of code. Only between runs. The library's
// own flush would clear, and so touch, the whole code buffer.
void tl_flush(struct tl_cpu *c) {
  tl_lib.invalidate(c->uc, 0, c->m->ram_size);
  tl_lib.invalidate(c->uc, c->m->aux_ra, c->m->aux_ra + c->m->aux_size);
  tl_lib.flush_tlb(c->cs);
}
