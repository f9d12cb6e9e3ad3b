// What the two halves of keeping translations share: kept.c finds and places them, kept_make.c makes
// them.
#ifndef TL_KEPT_PARTS_H
#define TL_KEPT_PARTS_H

#include "library.h"

#define TL_INSNS 512           // of a block, at most
#define TL_FIXES 1024          // and values that name places

// The index is a hash table, of which half is empty.
enum { TL_STORE_SLOTS = 1 << 18, TL_STORE_MOST = TL_STORE_SLOTS / 2, TL_STORE_UNIT = 8 };

struct tl_store {
  uint64_t used; // bytes, of all
  uint64_t blocks;
  uint32_t index[TL_STORE_SLOTS]; // in units from the start, 0 for none
  uint8_t translations[];
};

// A value of 32 bits in host code that names a place of the process.
enum tl_fix_kind {
  TL_FIX_LIBRARY, // a call or jump to the library; to is from where it lies
  TL_FIX_BUFFER,  // a jump to what begins the buffer of code; to is from the first block
  TL_FIX_CPU,     // a field of tl_cpu, from the CPU state; to is from the tl_cpu
};

struct tl_fix {
  uint16_t at; // in the host code
  uint16_t kind;
  int32_t to;
};

// A translation. Its parts lie behind it.
struct tl_kept {
  uint64_t pc, cs_base;
  uint32_t flags, cflags;
  uint16_t max;  // instructions that the block was allowed
  uint16_t size; // bytes of the guest's code that it is of,
  uint16_t read; // and that were read for it
  uint16_t icount;
  uint16_t code, fixes;
  uint16_t reset[2];
  uint32_t target[2];
};

struct tl_parts {
  uint64_t *data;
  struct tl_fix *fixes;
  uint16_t *ends;
  uint8_t *text, *code, *end;
};

static inline struct tl_parts tl_parts(const struct tl_cpu *c, const struct tl_kept *k) {
  struct tl_parts p = {.data = (uint64_t *)(k + 1)};
  p.fixes = (struct tl_fix *)(p.data + k->icount * c->m->t->insn_words);
  p.ends = (uint16_t *)(p.fixes + k->fixes);
  p.text = (uint8_t *)(p.ends + k->icount);
  p.code = p.text + k->read;
  p.end = p.code + k->code;
  return p;
}

// The library's translator, as far as it is known: alike for all architectures, but for how many
// words there are in data for an instruction.
struct tl_translator {
  uint8_t unused[TL_TCG_NEXT];
  uint8_t *next, *unused2, *full; // the next block's place, and where the buffer is as good as full
  uint64_t unused3;
  void *cs; // while a block is translated
  uint8_t unused4[TL_TCG_ENDS - TL_TCG_NEXT - 40];
  uint16_t ends[TL_INSNS];
  uint64_t data[];
};

// Where host code has the jump number i to another block; 0 if there is none.
static inline uint32_t tl_target_of(const struct tl_block *b, int i) {
  return b->reset[i] == UINT16_MAX ? 0 : (uint32_t)b->target[i];
}

void tl_keep_make(struct tl_cpu *c, const struct tl_block *b, int n);
struct tl_kept *tl_kept_room(struct tl_machine *m, uint64_t n);
bool tl_kept_sound(const struct tl_cpu *c, const struct tl_kept *k, const uint8_t *end);
void tl_kept_add(struct tl_machine *m, struct tl_kept *k, const struct tl_block *b, uint64_t n);

#endif
