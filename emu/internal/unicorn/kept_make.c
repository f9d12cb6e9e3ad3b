// Learning a translation that is to be kept: which values in its host code name places of the
// process, and would be others in the next one.
//
// The block is translated once more, further on in the buffer, and as if tl_cpu lay elsewhere. Where
// the two differ, such a value begins, for its least byte is another; by how much it differs says of
// which kind it is. A block with a difference of no known kind is not kept, nor one with an address of
// the process that stays the same.
#include "kept_parts.h"

#include <string.h>

enum {
  CALL = 0xe8, JMP = 0xe9,
  ALIGNED = 64,  // what the library aligns host code to
  SHIFT = 16,    // how far tl_cpu seems to have moved: in the least byte, not like ALIGNED
  FIXES = TL_FIXES,
  PROLOGUE = TL_PAGE,
};

static bool has_break(struct tl_machine *m, uint64_t from, uint64_t to) {
  struct tl_page *p = NULL;
  for (uint64_t va = from; va < to; va++) {
    if (va == from || va % TL_PAGE == 0)
      p = tl_page_of(m, va);
    if (p && p->id[va % TL_PAGE])
      return true;
  }
  return false;
}

// Reports whether b, which has been translated into n bytes of host code, can be kept.
static bool can_learn(const struct tl_cpu *c, const struct tl_block *b, int n) {
  uint64_t read = c->keep.read - b->pc;
  const struct tl_translator *t = c->buffer.tcg;
  bool whole = n > 0 && n <= UINT16_MAX && b->icount && b->icount <= TL_INSNS && b->size && b->size <= read && read <= 2 * TL_PAGE;
  if (!whole || (uintptr_t)b->code % ALIGNED)
    return false;
  bool known = t->next == b->code && b->code < t->full && t->data[0] == b->pc && t->ends[b->icount - 1] <= n;
  return known && !has_break(c->m, b->pc, c->keep.read);
}

// The block at offset bytes from b, translated like b. False if it comes out otherwise.
static bool translate_again(struct tl_cpu *c, const struct tl_block *b, uint64_t offset, int n) {
  struct tl_translator *t = c->buffer.tcg;
  struct tl_block *other = (struct tl_block *)((uint8_t *)b + offset);
  if (b->code + offset + n > t->full)
    return false;
  *other = *b;
  other->code += offset;
  tl_lib.func_start(t);
  t->cs = c->cs;
  tl_charge_begin(c, other, SHIFT);
  tl_lib.translate(c->cs, other, c->keep.max);
  tl_charge_end(c);
  t->cs = NULL;
  return tl_lib.gen_code(t, other) == n && other->size == b->size && other->icount == b->icount;
}

static bool address(const struct tl_cpu *c, const uint8_t *to, struct tl_fix *f) {
  const uint8_t *first = c->buffer.first;
  if (to >= c->keep.library && to < c->keep.library_end)
    f->kind = TL_FIX_LIBRARY, f->to = (int32_t)(to - c->keep.library);
  else if (to < first && first - to <= (ptrdiff_t)PROLOGUE)
    f->kind = TL_FIX_BUFFER, f->to = (int32_t)(to - first);
  else
    return false;
  return true;
}

// What kind of value is at at? It differs by difference from the one in the block that is offset bytes
// further on. False for none of those that are known.
static bool classify(const struct tl_cpu *c, const uint8_t *at, int32_t difference, uint64_t offset, struct tl_fix *f) {
  int32_t v;
  memcpy(&v, at, sizeof v);
  if (difference == -(int64_t)offset)
    return (at[-1] == CALL || at[-1] == JMP) && address(c, at + 4 + v, f);
  f->kind = TL_FIX_CPU;
  f->to = (int32_t)((uint8_t *)c->env + v - (uint8_t *)c);
  return difference == SHIFT && f->to >= 0 && f->to < (int32_t)sizeof *c;
}

// Where the code of a block names places of the process: how many there are. -1 if there are others than those of known kinds.
static int find_fixes(const struct tl_cpu *c, const uint8_t *code, int n, uint64_t offset, struct tl_fix *fixes) {
  const uint8_t *other = code + offset;
  int found = 0;
  for (int i = 0; i < n;) {
    if (code[i] == other[i]) {
      i++;
      continue;
    }
    int32_t v, w;
    if (i == 0 || i + (int)sizeof v > n || found == FIXES)
      return -1;
    memcpy(&v, code + i, sizeof v);
    memcpy(&w, other + i, sizeof w);
    fixes[found].at = (uint16_t)i;
    if (!classify(c, code + i, (int32_t)((uint32_t)w - (uint32_t)v), offset, &fixes[found++]))
      return -1;
    i += sizeof v;
  }
  return found;
}

static void copy_text(struct tl_cpu *c, uint8_t *to, uint64_t from, uint64_t end) {
  while (from < end) {
    uint64_t n = TL_PAGE - from % TL_PAGE < end - from ? TL_PAGE - from % TL_PAGE : end - from;
    void *host = NULL;
    tl_lib.code_host(c->env, from, &host);
    memcpy(to, host, n);
    to += n, from += n;
  }
}

static void keep(struct tl_cpu *c, const struct tl_block *b, int n, const struct tl_fix *fixes, int nfixes) {
  const struct tl_translator *t = c->buffer.tcg;
  struct tl_kept head = {
      .pc = b->pc, .cs_base = b->cs_base, .flags = b->flags, .cflags = b->cflags, .max = (uint16_t)c->keep.max,
      .size = b->size, .read = (uint16_t)(c->keep.read - b->pc), .icount = b->icount,
      .code = (uint16_t)n, .fixes = (uint16_t)nfixes,
      .reset = {b->reset[0], b->reset[1]}, .target = {tl_target_of(b, 0), tl_target_of(b, 1)},
  };
  uint64_t bytes = (uint64_t)(tl_parts(c, &head).end - (uint8_t *)&head);
  struct tl_kept *k = tl_kept_room(c->m, bytes);
  if (!k)
    return;
  *k = head;
  struct tl_parts p = tl_parts(c, k);
  memcpy(p.data, t->data, (uint8_t *)p.fixes - (uint8_t *)p.data);
  memcpy(p.fixes, fixes, nfixes * sizeof *fixes);
  memcpy(p.ends, t->ends, b->icount * sizeof *p.ends);
  copy_text(c, p.text, b->pc, c->keep.read);
  memcpy(p.code, b->code, n);
  for (int i = 0; i < nfixes; i++) // a store is the same whoever has made it
    memset(p.code + fixes[i].at, 0, sizeof(int32_t));
  tl_kept_add(c->m, k, b, bytes);
}

// b has been translated into n bytes of host code.
void tl_keep_make(struct tl_cpu *c, const struct tl_block *b, int n) {
  struct tl_fix fixes[FIXES];
  struct tl_translator *t = c->buffer.tcg;
  if (!can_learn(c, b, n) || !tl_kept_room(c->m, sizeof(struct tl_kept)))
    return;
  uint64_t data[TL_INSNS * TL_INSN_WORDS], words = b->icount * c->m->t->insn_words;
  uint16_t ends[TL_INSNS];
  memcpy(data, t->data, words * sizeof *data);
  memcpy(ends, t->ends, b->icount * sizeof *ends);
  uint64_t offset = ((uint64_t)(b->code - (uint8_t *)b) + (uint64_t)n + 4 * ALIGNED - 1) / (4 * ALIGNED) * (4 * ALIGNED) + ALIGNED;
  bool alike = translate_again(c, b, offset, n) && !memcmp(data, t->data, words * sizeof *data) &&
               !memcmp(ends, t->ends, b->icount * sizeof *ends);
  int found = alike ? find_fixes(c, b->code, n, offset, fixes) : -1;
  if (found >= 0 && c->keep.learning)
    keep(c, b, n, fixes, found);
  memcpy(t->data, data, words * sizeof *data);
  memcpy(t->ends, ends, b->icount * sizeof *ends);
}
