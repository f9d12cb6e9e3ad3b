// The functions of the library that are replaced alike for every guest architecture. An
// architecture defines TARGET(f) as the library's name of f and includes this once.
#include "library.h"

void TARGET(tlb_set_page_with_attrs)(void *cs, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu,
                                     uint64_t size) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (c && c->live)
    tl_set_page(c, va, pa, attrs, prot, mmu, size);
  else
    tl_lib.set_page(cs, va, pa, attrs, prot, mmu, size);
}

void TARGET(tlb_protect_code)(void *uc, uint64_t ra) {
  struct tl_cpu *c = tl_by_uc(uc);
  if (c)
    tl_protect_code(c, ra);
}

void TARGET(tlb_unprotect_code)(void *uc, uint64_t ra) {
  struct tl_cpu *c = tl_by_uc(uc);
  if (c)
    tl_unprotect_code(c, ra);
}

// The guest is about to store to a page that holds code, or to one with breakpoints.
void TARGET(tb_invalidate_phys_page_fast)(void *uc, void *pages, uint64_t ra, int len, uintptr_t retaddr) {
  struct tl_cpu *c = tl_by_uc(uc);
  if (c && c->live) {
    tl_stored_elsewhere(c, pages, ra, len);
    tl_store_to_text(c, pages, ra, len, retaddr);
  }
  tl_lib.page_stored(uc, pages, ra, len, retaddr);
}

void TARGET(tcg_exec_init)(void *uc, unsigned long size) { tl_codebuf_make(uc, size); }

void *TARGET(tcg_tb_alloc)(void *tcg) { return tl_codebuf_first(tcg, tl_lib.tb_alloc(tcg)); }

// A block is translated; the first branch of it is the library's check whether to exit.
void TARGET(gen_intermediate_code)(void *cs, struct tl_block *block, int max) {
  struct tl_cpu *c = tl_by_cs(cs);
  if (c && tl_is_split(c->m, block->pc))
    max = 1;
  if (tl_kept_find(c, block, max))
    return;
  tl_charge_begin(c, block, 0);
  tl_lib.translate(cs, block, max);
  tl_charge_end(c);
}

int TARGET(tcg_gen_code)(void *tcg, struct tl_block *block) { return tl_kept_code(tcg, block); }

uint32_t TARGET(cpu_lduw_code)(void *env, uint64_t va) {
  tl_keep_read(va + 2);
  return tl_lib.code_16(env, va);
}

uint32_t TARGET(cpu_ldl_code)(void *env, uint64_t va) {
  tl_keep_read(va + 4);
  return tl_lib.code_32(env, va);
}

uint64_t TARGET(cpu_ldq_code)(void *env, uint64_t va) {
  tl_keep_read(va + 8);
  return tl_lib.code_64(env, va);
}

void TARGET(tcg_gen_brcondi_i32)(void *tcg, int condition, uint64_t var, int32_t value, void *label) {
  if (!tl_charge_fast_path(label))
    tl_lib.gen_check(tcg, condition, var, value, label);
}

void TARGET(tcg_gen_exit_tb)(void *tcg, const struct tl_block *block, unsigned kind) {
  if (kind != TL_EXIT_REQUESTED || !tl_charge_slow_path())
    tl_lib.gen_exit(tcg, block, kind);
}

void TARGET(tb_flush)(void *cs) {
  tl_codebuf_flushed(tl_by_cs(cs));
  tl_lib.tb_flush(cs);
}

void TARGET(check_exit_request)(void *tcg) { (void)tcg; }

// A debug register of the guest's asks for a breakpoint. The library would throw away the code that
// is running. There are none, as there are none of its watchpoints either.
int TARGET(cpu_breakpoint_insert)(void *cs, uint64_t pc, int flags, void **breakpoint) {
  (void)cs, (void)pc, (void)flags;
  *breakpoint = NULL;
  return 0;
}
