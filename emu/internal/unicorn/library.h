// The functions of libunicorn that the shim replaces or calls, found by name when the
// program starts. They are internal to the library: Debian's build exports them and
// calls them through its PLT, so a definition of ours takes their place, and
// tl_lib.NAME is the library's own.
#ifndef TL_LIBRARY_H
#define TL_LIBRARY_H

#include "shim.h"

// TARGET(f) is the library's name of f for the guest architecture of this file.
#define TL_AMD64(f) f##_x86_64

struct tl_library {
  // replaced
  void *(*memory_mapping)(void *uc, uint64_t va);
  void (*exec_enter)(void *cs);
  void (*set_page)(void *cs, uint64_t va, uint64_t pa, uint32_t attrs, int prot, int mmu, uint64_t size);
  bool (*tlb_fill)(void *cs, uint64_t va, int size, int access, int mmu, bool probe, uintptr_t ra);
  void (*page_stored)(void *uc, void *pages, uint64_t ra, int len, uintptr_t retaddr);
  void (*loop_exit)(void *cs);
  void (*hardirq)(void *env, int vector, int hw);
  void (*hlt)(void *env, int len);
  void (*syscall)(void *env, int len);
  uint64_t (*tsc)(void *env);
  void (*protect_code)(void *uc, uint64_t ra);
  void (*unprotect_code)(void *uc, uint64_t ra);
  void (*check_exit_request)(void *tcg);
  void (*exec_init)(void *uc, unsigned long size);
  void *(*tb_alloc)(void *tcg);
  void (*tb_flush)(void *cs);
  uint64_t (*inb)(void *env, uint32_t port);
  uint64_t (*inw)(void *env, uint32_t port);
  uint64_t (*inl)(void *env, uint32_t port);
  void (*outb)(void *env, uint32_t port, uint32_t v);
  void (*outw)(void *env, uint32_t port, uint32_t v);
  void (*outl)(void *env, uint32_t port, uint32_t v);
  // called
  void (*do_interrupt)(void *cs);
  bool (*restore_state)(void *cs, uintptr_t retaddr, bool will_exit);
  void (*flush_page)(void *cs, uint64_t va);
  void (*flush_tlb)(void *cs);
  uint64_t (*ram_addr)(void *uc, void *host);
  void (*invalidate)(void *uc, uint64_t ra, uint64_t end);
  void (*set_dirty)(void *cs, uint64_t va);
  void (*reset_dirty)(void *cs, uint64_t host, uint64_t len);
  void (*update_cr0)(void *env, uint32_t v);
  void (*update_cr3)(void *env, uint64_t v);
  void (*update_cr4)(void *env, uint32_t v);
  uint64_t (*read_eflags)(void *env);
  void (*write_eflags)(void *env, uint64_t v, uint32_t mask);
  void (*raise_exception)(void *env, int vector, int error, uintptr_t retaddr);
};

extern struct tl_library tl_lib;

#endif
