// The functions of libunicorn that the shim replaces or calls, found by name when a
// machine is opened. They are internal to the library: Debian's build exports them and
// calls them through its PLT, so a definition of ours takes their place, and
// tl_lib.NAME is the library's own, for the guest architecture of the open machine.
#ifndef TL_LIBRARY_H
#define TL_LIBRARY_H

#include "target.h"

struct tl_library {
  // replaced
  void *(*memory_mapping)(void *uc, uint64_t va);
  void (*set_page)(void *cs, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu, uint64_t size);
  void (*page_stored)(void *uc, void *pages, uint64_t ra, int len, uintptr_t retaddr);
  void (*loop_exit)(void *cs);
  void (*protect_code)(void *uc, uint64_t ra);
  void (*unprotect_code)(void *uc, uint64_t ra);
  void (*check_exit_request)(void *tcg);
  void (*translate)(void *cs, struct tl_block *block, int max);
  int (*gen_code)(void *tcg, struct tl_block *block);
  uint32_t (*code_16)(void *env, uint64_t va), (*code_32)(void *env, uint64_t va);
  uint64_t (*code_64)(void *env, uint64_t va);
  void (*gen_check)(void *tcg, int condition, uint64_t var, int32_t value, void *label);
  void (*gen_exit)(void *tcg, const struct tl_block *block, unsigned kind);
  void (*exec_init)(void *uc, unsigned long size);
  void *(*tb_alloc)(void *tcg);
  void (*tb_flush)(void *cs);
  int (*insert_breakpoint)(void *cs, uint64_t pc, int flags, void **breakpoint);
  bool (*tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra); // by each target
  // called
  void (*func_start)(void *tcg);
  uint64_t (*code_host)(void *env, uint64_t va, void **host);
  void (*add_inline_hook)(void *uc, void *hook, uint64_t *args, int nargs);
  void (*gen_call)(void *tcg, void *function, void *result, int nargs, uint64_t *args);
  struct tl_op *(*emit_op)(void *tcg, unsigned number);
  void (*remove_op)(void *tcg, struct tl_op *op);
  void (*gen_op1)(void *tcg, unsigned number, uint64_t arg);
  void (*gen_op3)(void *tcg, unsigned number, uint64_t a, uint64_t b, uint64_t c);
  void (*gen_brcond)(void *tcg, unsigned condition, uint64_t a, uint64_t b, void *label);
  uint64_t (*new_temp)(void *tcg, unsigned type, bool local);
  void (*free_temp)(void *tcg, uint64_t temp);
  void *(*new_label)(void *tcg);
  void *(*get_cpu)(void *uc, int index);
  bool (*restore_state)(void *cs, uintptr_t retaddr, bool will_exit);
  void (*flush_page)(void *cs, uint64_t va);
  void (*flush_tlb)(void *cs);
  uint64_t (*ram_addr)(void *uc, void *host);
  void (*invalidate)(void *uc, uint64_t ra, uint64_t end);
  void (*set_dirty)(void *cs, uint64_t va);
  void (*reset_dirty)(void *cs, uint64_t host, uint64_t len);
};

enum { PROT_R = 1, PROT_W = 2, PROT_X = 4 }; // rights of set_page

extern struct tl_library tl_lib;

const char *tl_library_load(const struct tl_target *t);

#endif
