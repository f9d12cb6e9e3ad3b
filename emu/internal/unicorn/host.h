// What depends on the host: where the library's build for it has what the shim touches, and whether
// host code is kept. No other file depends on the host. Another host is a column of it, and
// what it has in host.c.
//
// What the compiler of the library lays out alike on all hosts is in target.h and in the headers of
// the guests. All of it is looked at when an engine is opened, and a library laid out otherwise is
// refused.
#ifndef TL_HOST_H
#define TL_HOST_H

#if defined(__x86_64__)
#define TL_HOST(amd64, arm64) amd64
#elif defined(__aarch64__)
#define TL_HOST(amd64, arm64) arm64
#else
#error "the emulator library is known on amd64 and arm64 hosts; another one is a column of host.h"
#endif

enum {
  // In CPUState; on arm64 its jmp_env has 112 bytes more.
  TL_CS_ENV = TL_HOST(296, 408),       // env_ptr
  TL_CS_IO_PC = TL_HOST(33144, 33256), // mem_io_pc: the host address of an access to a device

  // In TCGContext, which has a set of registers and what is in each of them.
  TL_TCG_NEXT = TL_HOST(0xc0, 0xc8),                   // code_gen_ptr
  TL_TCG_ENDS = TL_HOST(0x74b8, 0x75c0),               // gen_insn_end_off
  TL_TCG_OPERATIONS_AMD64 = TL_HOST(0x9968, 0x9a88),   // tcg_op_defs, by guest
  TL_TCG_OPERATIONS_ARM64 = TL_HOST(0xa968, 0xaa88),
  TL_TCG_OPERATIONS_RISCV64 = TL_HOST(0x8968, 0x8a88),
};

// Whether translations can be kept: kept_make.c has to know how host code names a place.
#define TL_HOST_KEEPS TL_HOST(1, 0)

// Writes what the host's CPU can do to text, in TL_HOST_FEATURES bytes at most, a zero among them; nothing
// where translations are not kept.
#define TL_HOST_FEATURES 37
void tl_host_features(char *text);

#endif
