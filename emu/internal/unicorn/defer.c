// Hits that are delivered later: with the time and the registers that they had, and before the
// tracer is called for anything else (defer.go). What it knows of memory, it has read before, and
// the hit is delivered at once if any word of that has changed since.
//
//	hit --> time, registers --> tl_deferrals.words --> all of them, in order, to Go
#include "library.h"

#include <string.h>

static const uint64_t wants_bytes = TL_WANTS * sizeof(struct tl_want);
static const uint64_t words_bytes = TL_DEFERRED_WORDS * sizeof(uint64_t);

bool tl_deferrals_open(struct tl_machine *m) {
  struct tl_deferrals *d = &m->deferrals;
  d->wants = tl_reserve(wants_bytes);
  d->words = tl_reserve(words_bytes);
  return d->wants && d->words;
}

void tl_deferrals_close(struct tl_machine *m) {
  tl_release(m->deferrals.wants, wants_bytes);
  tl_release(m->deferrals.words, words_bytes);
}

// Is all that the tracer has read on c as it was?
static bool unchanged(const struct tl_memo *memo) {
  for (unsigned i = 0; i < memo->n; i++) {
    const struct tl_word *w = &memo->words[i];
    if ((*w->at ^ w->value) & w->mask)
      return false;
  }
  return memo->known;
}

// The hit of b on c is kept. False if it is to be delivered now.
bool tl_defer(struct tl_cpu *c, const struct tl_break *b) {
  struct tl_deferrals *d = &c->m->deferrals;
  const struct tl_want *w = &d->wants[b->deferred - 1];
  uint64_t *to = d->words + d->nwords;
  unsigned n = TL_DEFERRED_HEAD + w->n;
  if (n > TL_DEFERRED_WORDS - d->nwords || (w->memo && !unchanged(&c->memo)))
    return false;
  to[0] = b->addr;
  to[1] = tl_exact(c, b->addr);
  to[2] = b->deferred - 1;
  for (unsigned i = 0; i < w->n; i++)
    to[TL_DEFERRED_HEAD + i] = *(const uint64_t *)((const uint8_t *)c->env + w->at[i]);
  d->nwords += n;
  return true;
}

// The number of w among all, or -1 if there is no room for it.
static int number(struct tl_deferrals *d, const struct tl_want *w) {
  for (unsigned i = 0; i < d->nwants; i++)
    if (!memcmp(&d->wants[i], w, sizeof *w))
      return (int)i;
  if (d->nwants == TL_WANTS)
    return -1;
  d->wants[d->nwants] = *w;
  return (int)d->nwants++;
}

// Defer the hits of the breakpoint at addr from now on, with what w says, or if it is NULL no
// longer. The number of w, or -1 if they are delivered at once.
int tl_defer_hits(struct tl_cpu *c, uint64_t addr, const struct tl_want *w) {
  struct tl_machine *m = c->m;
  struct tl_break *b = tl_find_break(m, addr);
  int n = b && w && !m->hooks.fire ? number(&m->deferrals, w) : -1;
  if (b)
    b->deferred = (uint8_t)(n + 1);
  return n;
}
