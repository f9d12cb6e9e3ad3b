// Whether a translation that has been read can be used: whoever has made it, nothing of it leads out of
// it or out of what it is copied to. Its host code is taken as it is.
#include "kept_parts.h"

// The parts of k lie before end.
static bool parts_within(const struct tl_cpu *c, const struct tl_kept *k, const uint8_t *end) {
  return (const uint8_t *)(k + 1) <= end && k->icount && k->icount <= TL_INSNS && k->fixes <= TL_FIXES &&
         tl_parts(c, k).end <= end;
}

// What was read for it lies in one page or two, and the block is part of it.
static bool text_sound(const struct tl_kept *k) {
  return k->size && k->size <= k->read && k->pc % TL_PAGE + k->read <= 2 * TL_PAGE;
}

// A value of 32 bits at a place in the host code.
static bool inside(const struct tl_kept *k, uint64_t at) { return at + sizeof(int32_t) <= k->code; }

static bool code_sound(const struct tl_cpu *c, const struct tl_kept *k) {
  struct tl_parts p = tl_parts(c, k);
  for (unsigned i = 0; i < k->fixes; i++)
    if (!inside(k, p.fixes[i].at) || p.fixes[i].kind > TL_FIX_CPU)
      return false;
  for (unsigned i = 0; i < k->icount; i++)
    if (p.ends[i] > k->code || (i && p.ends[i] < p.ends[i - 1]))
      return false;
  for (unsigned i = 0; i < 2; i++)
    if (k->reset[i] != UINT16_MAX && (k->reset[i] > k->code || !inside(k, k->target[i])))
      return false;
  return k->code;
}

// Is k, of which what is read ends at end, a translation?
bool tl_kept_sound(const struct tl_cpu *c, const struct tl_kept *k, const uint8_t *end) {
  return parts_within(c, k, end) && text_sound(k) && code_sound(c, k);
}
