// Translations that are kept, from one process to the next.
//
// Most of a short run is the translation of code that the run before has translated, too. What the
// library makes of a block is a function of what it has read: where the block is, the state of the
// CPU that it is for, how long it may be, the guest's code byte by byte, and what never changes in
// a machine. (The library itself takes a block again for the same address, state and code.) So the
// host code is kept under all of that, and placed where the library would have generated it. Finding,
// linking and dropping blocks stays the library's.
//
// A store is one piece of memory. What is kept of it are the translations; the index follows:
//
//	head     how much is used; the index: where a translation is, by the hash of what it is of
//	...      translations: struct tl_kept, and behind it
//	           data   for each instruction, what the library asks to restore the state there
//	           fixes  where host code names a place of the process (kept_make.c finds them)
//	           ends   of the host code of each instruction
//	           text   the guest's code that was read
//	           code   the host code
#define _GNU_SOURCE 1
#include "kept_parts.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = TL_STORE_SLOTS, MOST = TL_STORE_MOST, UNIT = TL_STORE_UNIT };

static uint32_t slot_of(const struct tl_block *b) {
  uint64_t h = (b->pc ^ (uint64_t)b->flags << 32 ^ b->cflags) * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 40) % SLOTS;
}

static struct tl_kept *entry(const struct tl_store *s, uint32_t i) {
  return s->index[i] ? (struct tl_kept *)((uint8_t *)s + (uint64_t)s->index[i] * UNIT) : NULL;
}

// The page of code at va, as fetches see it; NULL where it is not memory. As when the library reads
// it, the guest may get its page fault here.
static const uint8_t *code_page(struct tl_cpu *c, uint64_t va) {
  void *host = NULL;
  return tl_lib.code_host(c->env, va, &host) == TL_NOT_MAPPED ? NULL : host;
}

static uint64_t room(uint64_t pc) { return TL_PAGE - pc % TL_PAGE; }

// Is the guest's code at k->pc that of k? A second page is looked at only where the first is alike:
// there the library would read it.
static bool same_text(struct tl_cpu *c, const uint8_t *first, const struct tl_kept *k) {
  const uint8_t *text = tl_parts(c, k).text, *second;
  uint64_t n = k->read, here = room(k->pc) < n ? room(k->pc) : n;
  if (memcmp(first, text, here))
    return false;
  return here == n || ((second = code_page(c, k->pc + here)) && !memcmp(second, text + here, n - here));
}

static bool same(const struct tl_kept *k, const struct tl_block *b, int max) {
  return k->pc == b->pc && k->cs_base == b->cs_base && k->flags == b->flags && k->cflags == b->cflags && k->max == max;
}

// Code that is translated as ever and not a trampoline, for a CPU that has what it began with.
static bool can_keep(const struct tl_cpu *c, const struct tl_block *b) {
  const struct tl_machine *m = c->m;
  bool as_ever = !m->hooks.watched && c->keep.near && !c->keep.never && c->charge.known && !c->charge.off;
  return m->kept.store && as_ever && !tl_in_slots(&m->slots, b->pc);
}

static void begin(struct tl_keep *k, int max) {
  k->max = max;
  k->found = NULL;
  k->learning = false;
  k->read = 0;
}

// The library is about to translate b, of at most max instructions. True if it need not.
bool tl_kept_find(struct tl_cpu *c, struct tl_block *b, int max) {
  const uint8_t *text;
  if (!c)
    return false;
  begin(&c->keep, max);
  if (!can_keep(c, b) || !(text = code_page(c, b->pc)))
    return false;
  struct tl_kept *k;
  for (uint32_t i = slot_of(b); (k = entry(c->m->kept.store, i)); i = (i + 1) % SLOTS)
    if (same(k, b, max) && same_text(c, text, k)) {
      b->size = k->size;
      b->icount = k->icount;
      c->keep.found = k;
      return !c->m->kept.checking;
    }
  c->keep.learning = true;
  return false;
}

// The library reads the guest's code, up to end.
void tl_keep_read(uint64_t end) {
  struct tl_cpu *c = tl_current();
  if (c && end > c->keep.read)
    c->keep.read = end;
}

// The block under translation is not to be kept.
void tl_keep_skip(void) {
  struct tl_cpu *c = tl_current();
  if (c)
    c->keep.learning = false;
}

// What belongs at place, of host code.
static int32_t fixed_value(const struct tl_cpu *c, const struct tl_fix *f, const uint8_t *place) {
  switch (f->kind) {
  case TL_FIX_LIBRARY: return (int32_t)(c->keep.library + f->to - (place + 4));
  case TL_FIX_BUFFER: return (int32_t)((uint8_t *)c->buffer.first + f->to - (place + 4));
  default: return (int32_t)((uint8_t *)c + f->to - (uint8_t *)c->env);
  }
}

// The host code of k, as it is at place, to to.
static void copy_code(const struct tl_cpu *c, const struct tl_kept *k, uint8_t *to, const uint8_t *place) {
  struct tl_parts p = tl_parts(c, k);
  memcpy(to, p.code, k->code);
  for (unsigned i = 0; i < k->fixes; i++) {
    int32_t v = fixed_value(c, &p.fixes[i], place + p.fixes[i].at);
    memcpy(to + p.fixes[i].at, &v, sizeof v);
  }
}

// Put k where b is to have its code. -1 if the buffer is full.
static int use(struct tl_cpu *c, struct tl_block *b, const struct tl_kept *k) {
  struct tl_parts p = tl_parts(c, k);
  struct tl_translator *t = c->buffer.tcg;
  if (b->code + k->code > t->full)
    return -1;
  copy_code(c, k, b->code, b->code);
  memcpy(b->reset, k->reset, sizeof b->reset);
  for (unsigned i = 0; i < 2; i++)
    b->target[i] = k->target[i];
  memcpy(t->data, p.data, k->icount * c->m->t->insn_words * sizeof *p.data);
  memcpy(t->ends, p.ends, k->icount * sizeof *p.ends);
  c->keep.placed++;
  return k->code;
}

// Is the host code of b that of k?
static bool same_code(const struct tl_cpu *c, const struct tl_block *b, const struct tl_kept *k) {
  uint8_t *code = malloc(k->code);
  if (!code)
    return false;
  copy_code(c, k, code, b->code);
  bool same = !memcmp(code, b->code, k->code);
  free(code);
  return same;
}

// b has been translated into n bytes. Is that what k says?
static bool as_kept(const struct tl_cpu *c, const struct tl_block *b, int n, const struct tl_kept *k) {
  const struct tl_translator *t = c->buffer.tcg;
  struct tl_parts p = tl_parts(c, k);
  return n == k->code && same_code(c, b, k) && b->size == k->size && b->icount == k->icount &&
         !memcmp(b->reset, k->reset, sizeof b->reset) && tl_target_of(b, 0) == k->target[0] && tl_target_of(b, 1) == k->target[1] &&
         !memcmp(t->data, p.data, k->icount * c->m->t->insn_words * sizeof *p.data) &&
         !memcmp(t->ends, p.ends, k->icount * sizeof *p.ends);
}

static void check(struct tl_cpu *c, const struct tl_block *b, int n) {
  c->keep.placed++;
  if (as_kept(c, b, n, c->keep.found) || c->m->kept.differing++)
    return;
  c->m->kept.differs_at = b->pc;
}

// Host code for b: its bytes, or a negative number.
int tl_kept_code(void *translator, struct tl_block *b) {
  struct tl_cpu *c = tl_current();
  bool found = c && c->keep.found;
  if (found && !c->m->kept.checking)
    return use(c, b, c->keep.found);
  int n = tl_lib.gen_code(translator, b);
  if (found && n >= 0)
    check(c, b, n);
  if (c && c->keep.learning)
    tl_keep_make(c, b, n);
  return n;
}

// Room for a translation of n bytes; NULL if there is none.
struct tl_kept *tl_kept_room(struct tl_machine *m, uint64_t n) {
  struct tl_store *s = m->kept.store;
  if (s->blocks == MOST || s->used + n > TL_STORE_SIZE)
    return NULL;
  return (struct tl_kept *)((uint8_t *)s + s->used);
}

// k, of n bytes, is complete.
void tl_kept_add(struct tl_machine *m, struct tl_kept *k, const struct tl_block *b, uint64_t n) {
  struct tl_store *s = m->kept.store;
  uint32_t i = slot_of(b);
  while (s->index[i])
    i = (i + 1) % SLOTS;
  s->index[i] = (uint32_t)(((uint8_t *)k - (uint8_t *)s) / UNIT);
  s->used += (n + UNIT - 1) / UNIT * UNIT;
  s->blocks++;
}

// Take the n bytes that the caller has put into the store for translations, if they are such.
bool tl_kept_load(struct tl_cpu *c, uint64_t n) {
  struct tl_store *s = c->m->kept.store;
  const uint8_t *end = s->translations + n;
  while (s->used < sizeof *s + n) {
    struct tl_kept *k = tl_kept_room(c->m, 0);
    if (!k || !tl_kept_sound(c, k, end))
      return false;
    struct tl_block b = {.pc = k->pc, .flags = k->flags, .cflags = k->cflags};
    tl_kept_add(c->m, k, &b, (uint64_t)(tl_parts(c, k).end - (uint8_t *)k));
  }
  return s->used == sizeof *s + n;
}

uint64_t tl_kept_blocks(const struct tl_machine *m) { return m->kept.store ? m->kept.store->blocks : 0; }

uint8_t *tl_kept_all(const struct tl_machine *m) { return m->kept.store->translations; }

uint64_t tl_kept_bytes(const struct tl_machine *m) { return m->kept.store ? m->kept.store->used - sizeof *m->kept.store : 0; }

// Keep translations from here on: none yet. The caller may put n bytes of them where this returns,
// and then have them taken. NULL if there is no memory for it, or they are too many.
uint8_t *tl_keep_open(struct tl_machine *m, uint64_t n) {
  tl_keep_close(m);
  if (n > TL_STORE_SIZE - sizeof *m->kept.store)
    return NULL;
  uint8_t *s = mmap(NULL, TL_STORE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (s == MAP_FAILED)
    return NULL;
  madvise(s, TL_STORE_SIZE, MADV_HUGEPAGE); // it is filled at once; not having them is no error
  m->kept.store = (struct tl_store *)s;
  m->kept.store->used = sizeof *m->kept.store;
  return m->kept.store->translations;
}

void tl_keep_close(struct tl_machine *m) {
  if (m->kept.store)
    munmap(m->kept.store, TL_STORE_SIZE);
  m->kept.store = NULL;
}

// Can every place of the library be named from all of the buffer by 32 bits, and nothing of ours?
// Then that is how it is done, and what is of ours has its address, which is the program's.
static bool reaches(const uint8_t *from, const uint8_t *to) { return to - from == (int32_t)(to - from); }

static int library_at(struct dl_phdr_info *info, size_t size, void *cpu) {
  struct tl_cpu *c = cpu;
  const uint8_t *end = NULL;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      end = (uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
  if ((uint8_t *)info->dlpi_addr != c->keep.library)
    return 0;
  c->keep.library_end = end;
  return 1;
}

// Once there is a buffer.
void tl_keep_locate(struct tl_cpu *c) {
  const uint8_t *lo = c->buffer.first, *hi = ((struct tl_translator *)c->buffer.tcg)->full, *ours = (uint8_t *)tl_on_block;
  Dl_info library;
  if (!TL_HOST_KEEPS || !dladdr((void *)tl_lib.translate, &library))
    return;
  c->keep.library = library.dli_fbase;
  dl_iterate_phdr(library_at, c);
  bool near = c->keep.library_end && reaches(hi, c->keep.library) && reaches(lo, c->keep.library) && reaches(hi, c->keep.library_end) &&
              reaches(lo, c->keep.library_end);
  c->keep.near = near && !reaches(lo, ours) && !reaches(hi, ours);
}

// A note of the linker's that is another for each build, in hexadecimal digits: how many there are, of
// which text has less than room.
static int append_build(const struct dl_phdr_info *info, char *text, int room) {
  int n = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    const uint8_t *note = (uint8_t *)info->dlpi_addr + p->p_vaddr, *end = note + p->p_memsz;
    while (p->p_type == PT_NOTE && end - note >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
      const ElfW(Nhdr) *h = (const void *)note;
      const uint8_t *name = note + sizeof *h, *id = name + (h->n_namesz + 3) / 4 * 4;
      if (h->n_type == NT_GNU_BUILD_ID && h->n_namesz == 4 && !memcmp(name, "GNU", 4))
        for (uint32_t k = 0; k < h->n_descsz && k < 20; k++)
          n += snprintf(text + n, n < room ? (size_t)(room - n) : 0, "%02x", id[k]);
      note = id + (h->n_descsz + 3) / 4 * 4;
    }
  }
  return n;
}

struct builds {
  char *text;
  int room, seen, missing;
};

// The program is the first. Where it lies anywhere, addresses of ours are others each time.
static int add_build(struct dl_phdr_info *info, size_t size, void *builds) {
  struct builds *b = builds;
  bool program = !b->seen++;
  (void)size;
  if (!program && !strstr(info->dlpi_name, "libunicorn"))
    return 0;
  int n = append_build(info, b->text, b->room);
  b->missing += !n || n >= b->room || (program && info->dlpi_addr);
  if (b->missing)
    return 1;
  b->text += n, b->room -= n;
  return !program;
}

// What translations depend on besides the guest: the builds of the program and of the library, and
// what the host's CPU can do, for which the library generates different code. Nothing if that cannot
// be told, or none are kept on such a host.
void tl_kept_identity(char *text) {
  struct builds builds = {.text = text, .room = TL_KEPT_IDENTITY};
  dl_iterate_phdr(add_build, &builds);
  if (builds.missing || builds.room < TL_HOST_FEATURES || !TL_HOST_KEEPS)
    text[0] = 0;
  else
    tl_host_features(builds.text);
}
