// What of the arm64 state is the guest's, and whether it is one that a CPU can have.
#include "arm64.h"

#include <string.h>

enum { CF = 520, DAIF = 560, CSSELR = 648, PMCR = 1136, PMSELR = 1168, FLOATS = 11976 };

const struct tl_part tl_arm64_state[] = {
    TL_PART(64, 332),            // X0 to SP, PC, PSTATE
    TL_PART(352, 416),           // SPSRs
    TL_PART(CF, 536),            // C, V, N, Z
    TL_PART(DAIF, 632),          // and ELRs, SPs
    TL_PART(CSSELR, 656), TL_PART(680, 688), TL_PART(704, 712), // SCTLR, CPACR
    TL_PART(776, 784), TL_PART(808, 816), TL_PART(856, 864),    // TTBR0, TTBR1, TCR
    TL_PART(992, 1000), TL_PART(1056, 1064), TL_PART(1104, 1112), // ESR, FAR, PAR
    TL_PART(PMCR, 1184),         // of the performance monitors all but counts and events
    TL_PART(1192, 1200), TL_PART(1224, 1232), TL_PART(1272, 1280),  // MAIR, VBAR, CONTEXTIDR
    TL_PART(1296, 1312), TL_PART(1352, 1360), TL_PART(1368, 1376),  // TPIDRs, CNTKCTL
    TL_PART(1512, 2040),         // debug registers, MDSCR, OSLSR
    TL_PART(2056, 2064), TL_PART(2072, 2320), TL_PART(2568, 2824), // counts, events
    TL_PARTS(3088, 16, 32, 256), // V0 to V31
    TL_PART(11856, 11872), TL_PART(11884, 11888), TL_PART(FLOATS, 12000), // FPSR, FPCR
    TL_PART(TL_ARM64_EXCLUSIVE, 12056),
    {0, 0, 0, 0},
};

const struct tl_part tl_arm64_notes[] = {
    TL_PART(336, 340),                      // hflags, which are made anew
    TL_PART(2064, 2072), TL_PART(2320, 2568), // of counters, when they were read
    TL_PART(3024, 3048),                    // the exception under way
    {0, 0, 0, 0},
};

static uint64_t word(const uint8_t *env, unsigned at) {
  uint64_t v;
  memcpy(&v, env + at, sizeof v);
  return v;
}

// EL0 or EL1 of AArch64.
static bool mode_sound(const struct tl_arm64_env *e) {
  enum { SS = 1 << 21, IL = 1 << 20, EL0 = 0, EL1_SP0 = 4, EL1 = 5 };
  uint32_t mode = e->pstate & ~(uint32_t)(SS | IL);
  return mode == EL0 || mode == EL1_SP0 || mode == EL1;
}

const char *tl_arm64_sound(const struct tl_cpu *c, const uint8_t *env) {
  enum { PMCR_WRITABLE = 0x7f, CACHES = 16, COUNTERS = 32 };
  uint32_t carry;
  memcpy(&carry, env + CF, sizeof carry);
  if (!mode_sound((const void *)env) || carry > 1 || (word(env, DAIF) & ~0x3c0ull))
    return "it is in no known mode";
  if (word(env, CSSELR) >= CACHES || word(env, PMSELR) >= COUNTERS)
    return "it has selected what it does not have";
  if ((word(env, PMCR) ^ word(c->fresh, PMCR)) & ~(uint64_t)PMCR_WRITABLE)
    return "it has other performance monitors";
  for (unsigned at = FLOATS; at < 12000; at += TL_FLOAT)
    if (!tl_float_sound(env + at))
      return "its floating point is in no known state";
  return NULL;
}

void tl_arm64_restored(struct tl_cpu *c) { tl_arm64_lib.rebuild_hflags(c->env); }
