// The range of the trampolines, which is divided into slots (slots.c).
#ifndef TL_SLOTS_H
#define TL_SLOTS_H

#include "base.h"

#define TL_SLOTS_SIZE (128ull << 20) // 4 million trampolines of 32 bytes

struct tl_slots {
  uint64_t base, size; // virtual range
  uint64_t hidden;     // of size: what the guest never sees. All, or nothing (tl_share_slots)
  unsigned shift;      // log2 of the bytes of a slot
  uint32_t *id;        // 1 + id of the breakpoint that owns a slot
};

static inline bool tl_in_slots(const struct tl_slots *s, uint64_t pc) { return pc - s->base < s->size; }

// Slots that the guest sees are code of its own.
static inline bool tl_in_hidden_slots(const struct tl_slots *s, uint64_t pc) { return pc - s->base < s->hidden; }

// 1 + id of the breakpoint in whose slot pc is, an address in the range; 0 if it is in none.
static inline uint32_t *tl_slot_owner(const struct tl_slots *s, uint64_t pc) {
  return &s->id[(pc - s->base) >> s->shift];
}

// How far pc, an address in the range, is from the start of its slot.
static inline uint64_t tl_slot_offset(const struct tl_slots *s, uint64_t pc) {
  return (pc - s->base) & ((1ull << s->shift) - 1);
}

bool tl_slots_open(struct tl_machine *m);
void tl_slots_close(struct tl_machine *m);
void tl_place_slots(struct tl_machine *m, uint64_t base);
void tl_own_slot(struct tl_machine *m, uint64_t slot, uint32_t id);
uint64_t tl_canonical(struct tl_cpu *c, uint64_t pc);
void tl_write_slots(struct tl_machine *m, uint64_t addr, const uint8_t *code, uint64_t n);
void tl_share_slots(struct tl_machine *m);
void tl_use_slot(struct tl_machine *m, uint64_t addr, uint64_t slot);

#endif
