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
  void (*exec_init)(void *uc, unsigned long size);
  void *(*tb_alloc)(void *tcg);
  void (*tb_flush)(void *cs);
  void (*add_inline_hook)(void *uc, void *hook, void **args, int nargs);
  int (*insert_breakpoint)(void *cs, uint64_t pc, int flags, void **breakpoint);
  bool (*tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra); // by each target
  // called
  void (*gen_call)(void *tcg, void *function, void *result, int nargs, void **args);
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
