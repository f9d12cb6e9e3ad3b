// What of the riscv64 state is the guest's, and whether it is one that a CPU can have.
#include "riscv64.h"

#include <string.h>

enum { PMP = 1008, PMP_RULES = 1520, PMP_END = 1524, ROUNDING = 1538 };

const struct tl_part tl_riscv64_state[] = {
    TL_PART(8, 544),     // x1 to pc, reservation, frm
    TL_PART(592, 600),   // mode
    TL_PART(624, 640), TL_PART(648, 664), // mstatus, mip; mie, mideleg
    TL_PART(672, 752),   // satp to mcause
    TL_PART(952, 984),   // counteren, scratch
    TL_PART(PMP, PMP_END),
    TL_PART(TL_RISCV64_FLOAT_FLAGS, TL_RISCV64_FLOAT_FLAGS + 1),
    {0, 0, 0, 0},
};

const struct tl_part tl_riscv64_notes[] = {
    TL_PART(544, 552),   // address of the newest fault
    TL_PART(ROUNDING, ROUNDING + 1), // rounding mode: set by each block that needs it
    {0, 0, 0, 0},
};

// Without firmware all modes are the guest's.
static bool mode_sound(const struct tl_cpu *c, uint64_t mode) {
  return mode == TL_USER || mode == TL_SUPERVISOR || (mode == TL_MACHINE && tl_riscv64_own(c)->bare);
}

static bool paging_sound(uint64_t satp) {
  enum { SV39 = 8, SV57 = 10 };
  uint64_t mode = satp >> 60;
  return mode == 0 || (mode >= SV39 && mode <= SV57);
}

const char *tl_riscv64_sound(const struct tl_cpu *c, const uint8_t *env) {
  enum { RULES = 16, FRM = 7, FLAGS = 0x7f };
  const struct tl_riscv64_env *e = (const void *)env;
  uint32_t rules;
  memcpy(&rules, env + PMP_RULES, sizeof rules);
  if (!mode_sound(c, e->priv))
    return "it is in no known mode";
  if (!paging_sound(e->satp))
    return "its paging is of no known kind";
  if (rules > RULES || e->frm > FRM || env[TL_RISCV64_FLOAT_FLAGS] > FLAGS)
    return "a register has a value that it cannot have";
  return NULL;
}
