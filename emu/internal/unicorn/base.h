// What every file of the shim builds on: sizes, and names of what is declared further on.
#ifndef TL_BASE_H
#define TL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !__has_include(<unicorn/unicorn.h>)
#error the emulator library is not in lib/trapline: run "make deps" first
#endif
#include <unicorn/unicorn.h>

#define TL_PAGE 4096ull
#define TL_NEVER (~0ull)
#define TL_CPUS 8 // at most, of a machine
#define TL_LIKELY(x) __builtin_expect(!!(x), 1)
#define TL_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct tl_cpu;
struct tl_machine;
struct tl_target; // what differs from one guest architecture to the next, target.h

// The library's description of a block, and of its host code.
struct tl_block {
  uint64_t pc, cs_base;
  uint32_t flags;
  uint16_t size, icount; // bytes of code, instructions
  uint32_t cflags, traced;
  uint8_t *code; // a multiple of 64
  uint64_t code_size, unused[5];
  uint16_t reset[2]; // of the jumps to other blocks, in the host code
  uint64_t target[2];
};

#endif
