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

// SDM vol. 2, 2.1.1 and 2.2.1.
static bool is_prefix(uint8_t b) {
  return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || (b & 0xe7) == 0x26 || (b & 0xfe) == 0x64 ||
         (b & 0xf0) == 0x40;
}

// How far the instruction is read, with a byte of it.
static enum tl_amd64_read read_on(enum tl_amd64_read read, uint8_t b) {
  if (read == TL_PREFIXES && is_prefix(b))
    return TL_PREFIXES;
  return read == TL_PREFIXES && b == 0xff ? TL_FAR_BRANCH : TL_BEHIND;
}

// The library reads a byte of code. FF /3 and FF /5, the far branches, have their operand in memory.
// With one in a register they are undefined, and the library aborts; it gets FF /7, which is so too.
uint32_t TL_AMD64(cpu_ldub_code)(void *env, uint64_t va) {
  struct tl_cpu *c = tl_current();
  uint8_t b = (uint8_t)tl_amd64_lib.code_byte(env, va);
  if (!c)
    return b;
  tl_keep_read(va + 1);
  struct tl_amd64_cpu *own = tl_amd64_own(c);
  if (own->read == TL_FAR_BRANCH && (b >> 3 == 033 || b >> 3 == 035))
    b |= 070;
  own->read = read_on(own->read, b);
  return b;
}

static void on_instruction(void *block, void *cs) {
  struct tl_amd64_cpu *own = tl_amd64_own(tl_current());
  own->read = TL_PREFIXES;
  own->translate_insn(block, cs);
}

void TL_AMD64(translator_loop)(const struct tl_amd64_translator *t, void *block, void *cs, void *tb, int max) {
  struct tl_cpu *c = tl_current();
  if (!c) {
    tl_amd64_lib.translate(t, block, cs, tb, max);
    return;
  }
  struct tl_amd64_cpu *own = tl_amd64_own(c);
  own->translator = *t;
  own->translator.translate_insn = on_instruction;
  own->translate_insn = t->translate_insn;
  tl_amd64_lib.translate(&own->translator, block, cs, tb, max);
}
