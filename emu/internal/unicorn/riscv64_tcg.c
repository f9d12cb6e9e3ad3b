// What the library translates wrong.
//
// Quirks of 2.0.1 that are answered here:
//  - An instruction that cannot be decoded ends its block 4 bytes early, so that a block
//    may have a negative size, which is taken for a second page 64 KiB away. There is none.
//  - amomin.w and amomax.w compare as unsigned numbers: the word is not sign-extended.
#include "riscv64.h"

#define MO_SIZE 3
#define MO_32 2

uint64_t TL_RISCV64(get_page_addr_code)(void *env, uint64_t va) {
  struct tl_cpu *c = tl_by_env(env);
  uint64_t page = va / TL_PAGE;
  if (c && page != *c->pc / TL_PAGE && page != *c->pc / TL_PAGE + 1)
    return ~0ull; // no page
  return tl_riscv64_lib.page_addr_code(env, va);
}

static void set_narrow(bool narrow) {
  struct tl_cpu *c = tl_current();
  if (c)
    tl_riscv64_own(c)->narrow = narrow;
}

static void widen(void *s, void *a, void *b) {
  struct tl_cpu *c = tl_current();
  if (!c || !tl_riscv64_own(c)->narrow)
    return;
  tl_riscv64_lib.ext32s(s, a, a);
  tl_riscv64_lib.ext32s(s, b, b);
}

void TL_RISCV64(tcg_gen_smax_i64)(void *s, void *to, void *a, void *b) {
  widen(s, a, b);
  tl_riscv64_lib.smax(s, to, a, b);
}

void TL_RISCV64(tcg_gen_smin_i64)(void *s, void *to, void *a, void *b) {
  widen(s, a, b);
  tl_riscv64_lib.smin(s, to, a, b);
}

void TL_RISCV64(tcg_gen_atomic_fetch_smax_i64)(void *s, void *to, void *addr, void *v, uint64_t index, int memop) {
  set_narrow((memop & MO_SIZE) == MO_32);
  tl_riscv64_lib.fetch_smax(s, to, addr, v, index, memop);
  set_narrow(false);
}

void TL_RISCV64(tcg_gen_atomic_fetch_smin_i64)(void *s, void *to, void *addr, void *v, uint64_t index, int memop) {
  set_narrow((memop & MO_SIZE) == MO_32);
  tl_riscv64_lib.fetch_smin(s, to, addr, v, index, memop);
  set_narrow(false);
}
