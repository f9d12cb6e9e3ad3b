// Finding the library's own functions, and saying so when they are not there.
#define _GNU_SOURCE 1
#include "library.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tl_library tl_lib;

// The guest architectures, as package emu may open them.
static const struct tl_target *const targets[] = {&tl_amd64, &tl_arm64, &tl_riscv64};

// Common functions: the architecture's suffix is added, where there is one.
static const struct {
  struct tl_symbol symbol;
  bool plain;
} common[] = {
#define SYMBOL(field, name) {{name, (void **)&tl_lib.field}, false}
    {{"memory_mapping", (void **)&tl_lib.memory_mapping}, true},
    SYMBOL(set_page, "tlb_set_page_with_attrs"),
    SYMBOL(page_stored, "tb_invalidate_phys_page_fast"),
    SYMBOL(loop_exit, "cpu_loop_exit_noexc"),
    SYMBOL(protect_code, "tlb_protect_code"),
    SYMBOL(unprotect_code, "tlb_unprotect_code"),
    SYMBOL(check_exit_request, "check_exit_request"),
    SYMBOL(exec_init, "tcg_exec_init"),
    SYMBOL(tb_alloc, "tcg_tb_alloc"),
    SYMBOL(tb_flush, "tb_flush"),
    SYMBOL(add_inline_hook, "uc_add_inline_hook"),
    SYMBOL(translate, "gen_intermediate_code"),
    SYMBOL(gen_code, "tcg_gen_code"),
    SYMBOL(code_16, "cpu_lduw_code"),
    SYMBOL(code_32, "cpu_ldl_code"),
    SYMBOL(code_64, "cpu_ldq_code"),
    SYMBOL(func_start, "tcg_func_start"),
    SYMBOL(code_host, "get_page_addr_code_hostp"),
    SYMBOL(gen_check, "tcg_gen_brcondi_i32"),
    SYMBOL(gen_exit, "tcg_gen_exit_tb"),
    SYMBOL(gen_call, "tcg_gen_callN"),
    SYMBOL(emit_op, "tcg_emit_op"),
    SYMBOL(remove_op, "tcg_op_remove"),
    SYMBOL(gen_op1, "tcg_gen_op1"),
    SYMBOL(gen_op3, "tcg_gen_op3"),
    SYMBOL(gen_brcond, "tcg_gen_brcond_i64"),
    SYMBOL(new_temp, "tcg_temp_new_internal"),
    SYMBOL(free_temp, "tcg_temp_free_internal"),
    SYMBOL(new_label, "gen_new_label"),
    SYMBOL(insert_breakpoint, "cpu_breakpoint_insert"),
    SYMBOL(get_cpu, "qemu_get_cpu"),
    SYMBOL(restore_state, "cpu_restore_state"),
    SYMBOL(flush_page, "tlb_flush_page"),
    SYMBOL(flush_tlb, "tlb_flush"),
    SYMBOL(ram_addr, "qemu_ram_addr_from_host"),
    SYMBOL(invalidate, "tb_invalidate_phys_range"),
    SYMBOL(set_dirty, "tlb_set_dirty"),
    SYMBOL(reset_dirty, "tlb_reset_dirty"),
#undef SYMBOL
};

// The oldest C library on which all of it has been run, 2.31: that of Debian 11.
enum { LIBC_MINOR = 31 };

static const char *find(const char *name, const char *suffix, void **slot) {
  char full[128];
  snprintf(full, sizeof full, "%s%s", name, suffix);
  void *p = dlsym(RTLD_NEXT, full);
  if (slot)
    *slot = p;
  if (p)
    return NULL;
  return tl_message("it does not export %s", full);
}

// Look for everything that t needs and, if load, keep where it is.
static const char *resolve(const struct tl_target *t, bool load) {
  const char *why = NULL;
  for (size_t i = 0; i < sizeof common / sizeof common[0] && !why; i++)
    why = find(common[i].symbol.name, common[i].plain ? "" : t->suffix, load ? common[i].symbol.slot : NULL);
  for (const struct tl_symbol *s = t->symbols; s->name && !why; s++)
    why = find(s->name, t->suffix, load ? s->slot : NULL);
  return why;
}

const char *tl_library_load(const struct tl_target *t) { return resolve(t, true); }

// NULL if the host's C library is as new as is needed, or what it is.
const char *tl_libc_check(void) {
  const char *version = gnu_get_libc_version();
  char *minor;
  unsigned long major = strtoul(version, &minor, 10);
  bool old = major < 2 || (major == 2 && (*minor != '.' || strtoul(minor + 1, NULL, 10) < LIBC_MINOR));
  return old ? version : NULL;
}

// The file that the library has been loaded from, "" if that is not known.
const char *tl_library_file(void) {
  Dl_info info;
  return dladdr((void *)uc_version, &info) && info.dli_fname ? info.dli_fname : "";
}

uint32_t tl_library_version(void) { return uc_version(NULL, NULL); }

const struct tl_target *tl_target(const char *name) {
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
    if (!strcmp(targets[i]->name, name))
      return targets[i];
  return NULL;
}

// NULL if the library has all that the shim builds on, for t or, if that is NULL, for all
// architectures; otherwise what it lacks. That the replaced functions are really called is
// found out when an engine is opened.
const char *tl_library_check(const struct tl_target *t) {
  unsigned major, minor;
  uc_version(&major, &minor);
  if (major != 2 || minor != 0)
    return tl_message("its version is %u.%u", major, minor);
  if (t)
    return resolve(t, false);
  const char *why = NULL;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0] && !why; i++)
    why = resolve(targets[i], false);
  return why;
}
