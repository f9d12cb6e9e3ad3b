// Hits that the tracer is told of later: with the time and the registers that they had, and before
// it is called for anything else (deferred.go). What it knows of memory, it has read before, and
// the hit is told at once if any word of that has changed since.
//
//	hit --> time, registers --> words of tl_machine.deferred --> all of them, in order, to Go
#include "library.h"

#include <string.h>

// Is all that the tracer has read on c as it was?
static bool unchanged(const struct tl_memo *memo) {
  for (unsigned i = 0; i < memo->n; i++) {
    const struct tl_word *w = &memo->words[i];
    if ((*w->at ^ w->value) & w->mask)
      return false;
  }
  return memo->known;
}

// The hit of b on c is kept. False if it is to be told now.
bool tl_defer(struct tl_cpu *c, const struct tl_break *b) {
  struct tl_machine *m = c->m;
  const struct tl_want *w = &m->wants[b->deferred - 1];
  uint64_t *to = m->deferred + m->ndeferred;
  unsigned n = TL_DEFERRED_HEAD + w->n;
  if (n > TL_DEFERRED_WORDS - m->ndeferred || (w->memo && !unchanged(&c->memo)))
    return false;
  to[0] = b->addr;
  to[1] = tl_exact(c, b->addr);
  to[2] = b->deferred - 1;
  for (unsigned i = 0; i < w->n; i++)
    to[TL_DEFERRED_HEAD + i] = *(const uint64_t *)((const uint8_t *)c->env + w->at[i]);
  m->ndeferred += n;
  return true;
}

// The number of w among all, or -1 if there is no room for it.
static int number(struct tl_machine *m, const struct tl_want *w) {
  for (unsigned i = 0; i < m->nwants; i++)
    if (!memcmp(&m->wants[i], w, sizeof *w))
      return (int)i;
  if (m->nwants == TL_WANTS)
    return -1;
  m->wants[m->nwants] = *w;
  return (int)m->nwants++;
}

// Defer the hits of the breakpoint at addr from now on, with what w says, or if it is NULL no
// longer. The number of w, or -1 if they are told at once.
int tl_defer_hits(struct tl_cpu *c, uint64_t addr, const struct tl_want *w) {
  struct tl_machine *m = c->m;
  struct tl_page *p = tl_page_of(m, addr);
  struct tl_break *b = p ? tl_break_on(m, p, addr) : NULL;
  int n = b && w && !m->hooked ? number(m, w) : -1;
  if (b)
    b->deferred = (uint8_t)(n + 1);
  return n;
}
