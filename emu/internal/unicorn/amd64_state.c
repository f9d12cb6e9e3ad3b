// What of the amd64 state is the guest's, and whether it is one that a CPU can have.
#include "amd64.h"

#include <string.h>

enum { EFER = 560, FPSTT = 572, FP_STATUS = 744, MMX_STATUS = 768, SSE_STATUS = 776, SEGS = 10, SEG = 24 };

const struct tl_part tl_amd64_state[] = {
    TL_PART(0, 184),              // general registers, eip, flags, hflags
    TL_PARTS(184, 4, SEGS, SEG),  // selectors of segments, LDT, TR; GDT, IDT
    TL_PARTS(192, 16, SEGS, SEG), // their bases, limits, attributes
    TL_PART(424, 464),            // CR0 to CR4
    TL_PART(EFER, 568), TL_PART(FPSTT, 588), // EFER, and of the FPU its top, status, control, tags
    TL_PARTS(592, 10, 8, 16),     // ST
    TL_PART(720, 726),            // the FPU's last opcode and selectors
    TL_PART(728, 752),            // and addresses; FP_STATUS
    TL_PART(MMX_STATUS, 788),     // and SSE_STATUS, MXCSR
    TL_PARTS(TL_ENV_XMM, 16, 16, 64),
    TL_PART(4768, 4772), TL_PART(4776, 4840), // SYSENTER, STAR to KERNEL_GS_BASE
    TL_PART(4864, 4872),                      // TSC_AUX
    TL_PART(4880, 4896),                      // MCG_STATUS, MISC_ENABLE
    TL_PART(5248, 5256),                      // PAT
    TL_PART(5368, 5432),                      // DR0 to DR7
    {0, 0, 0, 0},
};

const struct tl_part tl_amd64_notes[] = {
    TL_PARTS(188, 4, SEGS, SEG), TL_PARTS(602, 6, 8, 16), // padding
    TL_PART(752, 768),                                    // an operand of the FPU
    TL_PARTS(TL_ENV_XMM + 16, 48, 16, 64), TL_PART(1816, 2912), // see normalize
    TL_PART(5344, 5368), TL_PART(5464, 5468),             // on exceptions
    {0, 0, 0, 0},
};

enum { PE = 1, PG = 1 << 31, LME = 1 << 8, LMA = 1 << 10, PAE = 1 << 5, OSFXSR = 1 << 9 };
enum { DPL_SHIFT = 13, B_SHIFT = 22, L = 1 << 21 };
enum { HF_PE = 1 << 7, HF_FPU = 7 << 9, HF_OSFXSR = 1 << 22, CR0_FPU = 7 << 1 };

static uint64_t efer_of(const struct tl_amd64_env *e) {
  uint64_t v;
  memcpy(&v, (const uint8_t *)e + EFER, sizeof v);
  return v;
}

// hflags as they follow from the registers, without what is kept of the instruction before
// and, where they have no meaning, the kind of the stack segment and of the others.
static uint32_t hflags_of(const struct tl_amd64_env *e) {
  uint32_t f = e->segs[TL_SS].flags >> DPL_SHIFT & TL_HF_CPL;
  f |= (e->cr[0] & PE ? HF_PE : 0) | (uint32_t)((e->cr[0] & CR0_FPU) << 8);
  f |= (e->cr[4] & OSFXSR ? HF_OSFXSR : 0) | (efer_of(e) & LMA ? TL_HF_LMA : 0);
  if ((f & TL_HF_LMA) && (e->segs[TL_CS].flags & L))
    return f | TL_HF_CS32 | TL_HF_CS64;
  return f | (e->segs[TL_CS].flags >> B_SHIFT & 1 ? TL_HF_CS32 : 0) | (e->segs[TL_SS].flags >> B_SHIFT & 1 ? TL_HF_SS32 : 0);
}

static bool modes_sound(const struct tl_amd64_env *e) {
  const uint64_t efer_bits = 1 | LME | LMA | 1 << 11, cr4_bits = 0x10fff; // no LA57, VMX, SMAP
  uint64_t efer = efer_of(e);
  bool paging = e->cr[0] & (uint32_t)PG, is_long = efer & LMA;
  return !(e->cr[0] >> 32) && !(e->cr[4] & ~cr4_bits) && !(efer & ~efer_bits) && (!paging || (e->cr[0] & PE)) &&
         is_long == (paging && (efer & LME)) && (!is_long || (e->cr[4] & PAE));
}

static bool flags_sound(const struct tl_cpu *c, const struct tl_amd64_env *e) {
  const struct tl_amd64_env *fresh = (const void *)c->fresh;
  const uint64_t known = 0x3f7fd7; // the arithmetic flags are stale
  enum { LAST_CC_OP = 50, VM = 1 << 17 };
  uint32_t free = TL_HF_INHIBIT | TL_HF_ADDSEG | (e->hflags & TL_HF_CS64 ? TL_HF_SS32 : 0);
  bool eflags = !(e->eflags & ~known) && !(e->eflags & VM) && e->cc_op <= LAST_CC_OP && (e->df == 1 || e->df == -1);
  return eflags && !((e->hflags ^ hflags_of(e)) & ~free) && !((e->hflags2 ^ fresh->hflags2) & ~TL_HF2_NMI);
}

static bool fpu_sound(const uint8_t *env) {
  uint32_t top;
  memcpy(&top, env + FPSTT, sizeof top);
  return top < 8 && tl_float_sound(env + FP_STATUS) && tl_float_sound(env + MMX_STATUS) && tl_float_sound(env + SSE_STATUS);
}

static bool selectors_sound(const struct tl_amd64_env *e) {
  const struct tl_seg *s = e->segs;
  for (unsigned i = 0; i < SEGS; i++) // segs, ldt, tr, gdt, idt
    if (s[i].selector > UINT16_MAX)
      return false;
  return true;
}

const char *tl_amd64_sound(const struct tl_cpu *c, const uint8_t *env) {
  const struct tl_amd64_env *e = (const void *)env;
  if (!modes_sound(e))
    return "its control registers contradict each other";
  if (!flags_sound(c, e))
    return "its flags are not those of its registers";
  if (!fpu_sound(env))
    return "its floating point is in no known state";
  return selectors_sound(e) ? NULL : "a selector is too large";
}
