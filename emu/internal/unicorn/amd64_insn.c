// Instructions with which a guest could end the tracer: the library divides on the host where the
// host traps, and gives up on some bytes that are no instruction.
#include "amd64.h"

enum { VECTOR_DE = 0 };

// SDM vol. 2, IDIV, 64 by 32 bits. The library's divides INT64_MIN by -1.
void TL_AMD64(helper_idivl_EAX)(void *env, uint64_t divisor) {
  struct tl_amd64_env *e = env;
  int64_t n = (int64_t)(e->regs[TL_RDX] << 32 | (uint32_t)e->regs[TL_RAX]), d = (int32_t)divisor;
  bool fits = d && !(n == INT64_MIN && d == -1) && n / d == (int32_t)(n / d);
  if (!fits)
    tl_amd64_lib.raise_exception(env, VECTOR_DE, 0, (uintptr_t)__builtin_return_address(0));
  e->regs[TL_RAX] = (uint32_t)(n / d);
  e->regs[TL_RDX] = (uint32_t)(n % d);
}

// How far the instruction that is being translated is read.
static enum { PREFIXES, FAR_BRANCH, BEHIND } at;

// SDM vol. 2, 2.1.1 and 2.2.1.
static bool is_prefix(uint8_t b) {
  return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || (b & 0xe7) == 0x26 || (b & 0xfe) == 0x64 ||
         (b & 0xf0) == 0x40;
}

// The library reads a byte of code. FF /3 and FF /5, the far branches, have their operand in memory.
// With one in a register they are undefined, and the library aborts; it gets FF /7, which is so too.
uint32_t TL_AMD64(cpu_ldub_code)(void *env, uint64_t va) {
  uint8_t b = (uint8_t)tl_amd64_lib.code_byte(env, va);
  tl_kept_read(va + 1);
  if (at == FAR_BRANCH && (b >> 3 == 033 || b >> 3 == 035))
    b |= 070;
  if (at != PREFIXES || !is_prefix(b))
    at = at == PREFIXES && b == 0xff ? FAR_BRANCH : BEHIND;
  return b;
}

static struct tl_amd64_translator replaced;
static void (*translate_insn)(void *block, void *cs);

static void on_instruction(void *block, void *cs) {
  at = PREFIXES;
  translate_insn(block, cs);
}

void TL_AMD64(translator_loop)(const struct tl_amd64_translator *t, void *block, void *cs, void *tb, int max) {
  replaced = *t;
  translate_insn = t->translate_insn;
  replaced.translate_insn = on_instruction;
  tl_amd64_lib.translate(&replaced, block, cs, tb, max);
}
