// Finding the library's own functions, and saying so when they are not there.
#define _GNU_SOURCE 1
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>

struct tl_library tl_lib;

static const struct {
  const char *name;
  void **slot;
} symbols[] = {
#define SYMBOL(field, name) {name, (void **)&tl_lib.field}
    SYMBOL(memory_mapping, "memory_mapping"),
    SYMBOL(exec_enter, "x86_cpu_exec_enter_x86_64"),
    SYMBOL(set_page, "tlb_set_page_with_attrs_x86_64"),
    SYMBOL(tlb_fill, "x86_cpu_tlb_fill_x86_64"),
    SYMBOL(page_stored, "tb_invalidate_phys_page_fast_x86_64"),
    SYMBOL(loop_exit, "cpu_loop_exit_noexc_x86_64"),
    SYMBOL(hardirq, "do_interrupt_x86_hardirq_x86_64"),
    SYMBOL(hlt, "helper_hlt_x86_64"),
    SYMBOL(syscall, "helper_syscall_x86_64"),
    SYMBOL(tsc, "cpu_get_tsc_x86_64"),
    SYMBOL(protect_code, "tlb_protect_code_x86_64"),
    SYMBOL(unprotect_code, "tlb_unprotect_code_x86_64"),
    SYMBOL(check_exit_request, "check_exit_request_x86_64"),
    SYMBOL(exec_init, "tcg_exec_init_x86_64"),
    SYMBOL(tb_alloc, "tcg_tb_alloc_x86_64"),
    SYMBOL(tb_flush, "tb_flush_x86_64"),
    SYMBOL(inb, "helper_inb_x86_64"),
    SYMBOL(inw, "helper_inw_x86_64"),
    SYMBOL(inl, "helper_inl_x86_64"),
    SYMBOL(outb, "helper_outb_x86_64"),
    SYMBOL(outw, "helper_outw_x86_64"),
    SYMBOL(outl, "helper_outl_x86_64"),
    SYMBOL(do_interrupt, "x86_cpu_do_interrupt_x86_64"),
    SYMBOL(restore_state, "cpu_restore_state_x86_64"),
    SYMBOL(flush_page, "tlb_flush_page_x86_64"),
    SYMBOL(flush_tlb, "tlb_flush_x86_64"),
    SYMBOL(ram_addr, "qemu_ram_addr_from_host_x86_64"),
    SYMBOL(invalidate, "tb_invalidate_phys_range_x86_64"),
    SYMBOL(set_dirty, "tlb_set_dirty_x86_64"),
    SYMBOL(reset_dirty, "tlb_reset_dirty_x86_64"),
    SYMBOL(update_cr0, "cpu_x86_update_cr0_x86_64"),
    SYMBOL(update_cr3, "cpu_x86_update_cr3_x86_64"),
    SYMBOL(update_cr4, "cpu_x86_update_cr4_x86_64"),
    SYMBOL(read_eflags, "helper_read_eflags_x86_64"),
    SYMBOL(write_eflags, "helper_write_eflags_x86_64"),
    SYMBOL(raise_exception, "raise_exception_err_ra_x86_64"),
#undef SYMBOL
};

static char message[256];

static const char *resolve(void) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    *symbols[i].slot = dlsym(RTLD_NEXT, symbols[i].name);
    if (!*symbols[i].slot) {
      snprintf(message, sizeof message, "it does not export %s", symbols[i].name);
      return message;
    }
  }
  return NULL;
}

// Before main, because the library may call a replaced function as soon as it is used.
__attribute__((constructor)) static void resolve_early(void) { resolve(); }

uint32_t tl_library_version(void) { return uc_version(NULL, NULL); }

// NULL if the library has all that the shim builds on, otherwise what it lacks. That
// the replaced functions are really called is found out when an engine is opened.
const char *tl_library_check(void) {
  unsigned major, minor;
  uc_version(&major, &minor);
  if (major != 2 || minor != 0) {
    snprintf(message, sizeof message, "its version is %u.%u", major, minor);
    return message;
  }
  return resolve();
}
