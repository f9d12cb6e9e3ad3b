// Breakpoints, and the pages of text that hold them.
//
// Split view: a page with breakpoints has a copy that fetches see; data accesses see the
// guest's own page, so the guest never reads a breakpoint and never overwrites one. A
// store to the page makes the copy stale; it is brought up to date, the tracer having
// been asked what still stands where, at the next fetch that fills a TLB entry or at
// the next hit. In place: the same with the guest's page as its own copy; a store first
// takes all breakpoints of the page out.
#include "library.h"

#include <stdlib.h>
#include <string.h>

#define BREAKS (16u << 20) // more than there are instructions in the text pages

bool tl_breaks_open(struct tl_machine *m) {
  struct tl_breaks *b = &m->breaks;
  b->cap = BREAKS;
  b->cappages = TL_TEXT_PAGES;
  b->va_mask = 4 * TL_TEXT_PAGES - 1;
  b->all = tl_reserve(b->cap * sizeof *b->all);
  b->pages = tl_reserve(b->cappages * sizeof *b->pages);
  b->by_pa = tl_reserve(m->ram_size / TL_PAGE * sizeof *b->by_pa);
  b->by_va = tl_reserve((b->va_mask + 1) * sizeof *b->by_va);
  return b->all && b->pages && b->by_pa && b->by_va;
}

void tl_breaks_close(struct tl_machine *m) {
  struct tl_breaks *b = &m->breaks;
  for (uint32_t i = 0; i < b->npages; i++) {
    free(b->pages[i].id);
    free(b->pages[i].original);
    free(b->pages[i].executed);
  }
  tl_release(b->by_va, (b->va_mask + 1) * sizeof *b->by_va);
  tl_release(b->by_pa, m->ram_size / TL_PAGE * sizeof *b->by_pa);
  tl_release(b->pages, b->cappages * sizeof *b->pages);
  tl_release(b->all, b->cap * sizeof *b->all);
}

static uint32_t va_hash(uint64_t page) { return (uint32_t)((page >> 12) * 0x9e3779b1u); }

// The page at a virtual address; NULL if it holds no breakpoints.
struct tl_page *tl_page_of(struct tl_machine *m, uint64_t va) {
  struct tl_breaks *b = &m->breaks;
  va &= ~(TL_PAGE - 1);
  for (uint32_t h = va_hash(va) & b->va_mask; b->by_va[h]; h = (h + 1) & b->va_mask) {
    struct tl_page *p = &b->pages[b->by_va[h] - 1];
    if (p->va == va)
      return p;
  }
  return NULL;
}

// The page at an offset in RAM, which is the library's ram_addr too; beyond it there are none.
struct tl_page *tl_page_at(struct tl_machine *m, uint64_t ra) {
  uint32_t i = ra < m->ram_size ? m->breaks.by_pa[ra / TL_PAGE] : 0;
  return i ? &m->breaks.pages[i - 1] : NULL;
}

struct tl_break *tl_break_on(struct tl_machine *m, struct tl_page *p, uint64_t addr) {
  uint32_t id = p->id[addr & (TL_PAGE - 1)];
  return id ? &m->breaks.all[id - 1] : NULL;
}

// The breakpoint at a virtual address, or NULL.
struct tl_break *tl_find_break(struct tl_machine *m, uint64_t addr) {
  struct tl_page *p = tl_page_of(m, addr);
  return p ? tl_break_on(m, p, addr) : NULL;
}

static void index_page(struct tl_machine *m, uint32_t i) {
  struct tl_breaks *b = &m->breaks;
  uint32_t h = va_hash(b->pages[i].va) & b->va_mask;
  while (b->by_va[h])
    h = (h + 1) & b->va_mask;
  b->by_va[h] = i + 1;
}

// Make p the page at offset pa of RAM. From here on that is split: what was translated from
// it, and the TLB entries that let stores to it pass unseen, have to go.
static void place_page(struct tl_cpu *c, struct tl_page *p, uint64_t pa) {
  struct tl_machine *m = c->m;
  p->pa = pa;
  p->gone = false;
  if (m->breaks.inplace) {
    p->text = m->ram + pa;
    p->text_ra = pa;
    memcpy(p->original, p->text, TL_PAGE);
  } else {
    uint64_t at = m->slots.size + (uint64_t)(p - m->breaks.pages) * TL_PAGE;
    p->text = m->aux + at;
    p->text_ra = m->aux_ra + at;
    memcpy(p->text, m->ram + pa, TL_PAGE);
  }
  m->breaks.by_pa[pa / TL_PAGE] = (uint32_t)(p - m->breaks.pages) + 1;
  tl_invalidate(m, pa, pa + TL_PAGE);
  tl_flush_tlbs(m);
}

static struct tl_page *make_page(struct tl_cpu *c, uint64_t va, uint64_t pa) {
  struct tl_machine *m = c->m;
  if (m->breaks.npages == m->breaks.cappages)
    return NULL;
  struct tl_page *p = &m->breaks.pages[m->breaks.npages];
  *p = (struct tl_page){.va = va};
  p->id = calloc(TL_PAGE, sizeof *p->id);
  if (m->breaks.inplace)
    p->original = malloc(TL_PAGE);
  if (!p->id || (m->breaks.inplace && !p->original) || (m->hooks.fire && tl_hook_page(m, va)))
    return NULL;
  index_page(m, m->breaks.npages++);
  place_page(c, p, pa);
  return p;
}

// What is mapped at [lo, hi), where no breakpoint stands any more, is about to go: the next
// breakpoint there may be in other memory, and the memory may become something else.
void tl_forget_pages(struct tl_cpu *c, uint64_t lo, uint64_t hi) {
  tl_commit_breaks(c);
  for (uint64_t va = lo & ~(TL_PAGE - 1); va < hi; va += TL_PAGE) {
    struct tl_page *p = tl_page_of(c->m, va);
    if (!p || p->gone)
      continue;
    p->gone = true;
    p->stale = false;
    p->fetched = 0;
    c->m->breaks.by_pa[p->pa / TL_PAGE] = 0;
    tl_invalidate(c->m, p->text_ra, p->text_ra + TL_PAGE);
  }
  tl_flush_tlbs(c->m);
}

// Breakpoints of p have changed, or the guest's bytes.
static void mark_changed(struct tl_machine *m, struct tl_page *p) {
  if (p->touched)
    return;
  p->touched = true;
  p->next_touched = m->breaks.touched;
  m->breaks.touched = p;
}

static struct tl_break *new_break(struct tl_machine *m) {
  if (m->breaks.free) {
    struct tl_break *b = &m->breaks.all[m->breaks.free - 1];
    m->breaks.free = (uint32_t)b->addr;
    return b;
  }
  return m->breaks.n < m->breaks.cap ? &m->breaks.all[m->breaks.n++] : NULL;
}

// Watch a page for stores; nothing if it is already. NULL, or why not.
const char *tl_watch(struct tl_cpu *c, uint64_t va, uint64_t pa) {
  if (pa >= c->m->ram_size)
    return "it is outside the guest's memory";
  struct tl_page *p = tl_page_of(c->m, va);
  if (p && !p->gone)
    return NULL;
  if (tl_page_at(c->m, pa))
    return "its page has breakpoints through another mapping";
  if (p) {
    place_page(c, p, pa & ~(TL_PAGE - 1));
    return NULL;
  }
  if (!make_page(c, va & ~(TL_PAGE - 1), pa & ~(TL_PAGE - 1)))
    return "there is no room for another page with breakpoints";
  return NULL;
}

// The breakpoint that stands at the address of b: bytes and their number, as far as they
// lie on its page.
static const uint8_t *trap_bytes(struct tl_machine *m, const struct tl_break *b, unsigned *n) {
  return m->t->breakpoint(b->len, TL_PAGE - (b->addr & (TL_PAGE - 1)), n);
}

// Plant what like says at its address, which lies at offset pa of RAM.
const char *tl_set_break(struct tl_cpu *c, uint64_t pa, const struct tl_break *like) {
  struct tl_machine *m = c->m;
  uint64_t addr = like->addr, slot = like->slot;
  const char *why = tl_watch(c, addr, pa);
  if (why)
    return why;
  if (slot && !tl_in_slots(&m->slots, slot))
    return "its trampoline is outside the range set aside";
  struct tl_page *p = tl_page_of(m, addr);
  uint32_t *id = &p->id[addr & (TL_PAGE - 1)];
  struct tl_break *b = *id ? &m->breaks.all[*id - 1] : new_break(m);
  if (!b)
    return "there are too many";
  if (*id)
    tl_own_slot(m, b->slot, 0);
  uint8_t under[sizeof b->planted_on] = {0}, counting = *id ? b->counting : 0, deferred = *id ? b->deferred : 0;
  uint64_t hits = *id ? b->hits : 0;
  unsigned n;
  trap_bytes(m, like, &n);
  if (*id)
    memcpy(under, b->planted_on, sizeof under);
  else if (p->original)
    memcpy(under, p->original + (addr & (TL_PAGE - 1)), n);
  *b = *like;
  b->counting = counting;
  b->deferred = deferred;
  b->hits = hits;
  memcpy(b->planted_on, under, sizeof under);
  *id = (uint32_t)(b - m->breaks.all) + 1;
  tl_own_slot(m, slot, *id);
  mark_changed(m, p);
  return NULL;
}

void tl_clear_break(struct tl_cpu *c, uint64_t addr) {
  struct tl_machine *m = c->m;
  struct tl_page *p = tl_page_of(m, addr);
  uint32_t *id = p ? &p->id[addr & (TL_PAGE - 1)] : NULL;
  if (!id || !*id)
    return;
  struct tl_break *b = &m->breaks.all[*id - 1];
  tl_own_slot(m, b->slot, 0);
  *b = (struct tl_break){.addr = m->breaks.free};
  m->breaks.free = *id;
  *id = 0;
  mark_changed(m, p);
}

// Count the hits of the breakpoint at addr from now on instead of calling the tracer.
bool tl_count_hits(struct tl_cpu *c, uint64_t addr) {
  struct tl_break *b = tl_find_break(c->m, addr);
  if (b)
    b->counting = 1;
  return b;
}

// End that; how many there were.
uint64_t tl_take_hits(struct tl_cpu *c, uint64_t addr) {
  struct tl_break *b = tl_find_break(c->m, addr);
  uint64_t n = b ? b->hits : 0;
  if (b)
    b->counting = b->hits = 0;
  return n;
}

// Bring what fetches see up to date. Only translations of bytes that change are dropped:
// dropping more would take away the block under way.
static void write_text(struct tl_cpu *c, struct tl_page *p) {
  uint8_t want[TL_PAGE];
  memcpy(want, p->original ? p->original : c->m->ram + p->pa, TL_PAGE);
  for (unsigned i = 0, n; i < TL_PAGE; i++)
    if (p->id[i]) {
      const uint8_t *trap = trap_bytes(c->m, &c->m->breaks.all[p->id[i] - 1], &n);
      memcpy(want + i, trap, n);
    }
  p->touched = false;
  for (unsigned i = 0, j; i < TL_PAGE; i = j + 1) {
    for (j = i; j < TL_PAGE && want[j] != p->text[j]; j++)
      p->text[j] = want[j];
    if (j > i)
      tl_invalidate(c->m, p->text_ra + i, p->text_ra + j);
  }
}

void tl_commit_breaks(struct tl_cpu *c) {
  while (c->m->breaks.touched) {
    struct tl_page *p = c->m->breaks.touched;
    c->m->breaks.touched = p->next_touched;
    write_text(c, p);
    c->m->breaks.changes++;
  }
}

// In place the guest sees breakpoints, and may save and write back what it saw: one that
// stands where one of ours was planted is taken for that one. As with a live tracer the
// bytes under it are those that were there when it was planted, and may be the wrong ones.
static void take_originals(struct tl_machine *m, struct tl_page *p) {
  for (unsigned i = 0, n; i < TL_PAGE; i++) {
    struct tl_break *b = p->id[i] ? &m->breaks.all[p->id[i] - 1] : NULL;
    if (b && !b->guest && !memcmp(p->text + i, trap_bytes(m, b, &n), n))
      memcpy(p->text + i, b->planted_on, n);
  }
  memcpy(p->original, p->text, TL_PAGE);
}

// The guest has stored to p: ask the tracer what stands there now.
void tl_resync(struct tl_cpu *c, struct tl_page *p) {
  uint64_t va = p->va;
  p->stale = false;
  mark_changed(c->m, p);
  tl_count_resync(&c->hit);
  tl_notice_stores(c->m, p->pa); // again
  if (p->original)
    take_originals(c->m, p);
  tlGoRewrite(c->id, va);
  tl_commit_breaks(c);
}

// The guest is about to store to p. The TLB entry of the store's own address is in use
// and stays: that of the newest fetch is another (a data fill forgets it).
void tl_page_stored(struct tl_cpu *c, struct tl_page *p) {
  if (p->stale)
    return;
  p->stale = true;
  if (p->original)
    for (unsigned i = 0; i < TL_PAGE; i++)
      if (p->text[i] != p->original[i]) {
        p->text[i] = p->original[i];
        tl_invalidate(c->m, p->text_ra + i, p->text_ra + i + 1);
      }
  tl_forget_fetches(c->m, p);
}

// Around a store of ours to guest memory, which the library does not see.
void tl_before_store(struct tl_cpu *c, uint64_t pa) {
  struct tl_page *p = tl_page_at(c->m, pa);
  if (p)
    tl_page_stored(c, p);
}

void tl_after_store(struct tl_cpu *c, uint64_t pa, uint64_t n) { tl_invalidate(c->m, pa, pa + n); }
