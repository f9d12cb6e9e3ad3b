/* types.h: the few types and helpers everything else is written with. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef int s32;
typedef long s64;

#define PAGE_SIZE 4096ul

#define noreturn __attribute__((noreturn))
#define noinline __attribute__((noinline))
#define always_inline inline __attribute__((always_inline))
#define countof(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

static inline u64 min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 page_down(u64 addr)
{
	return addr & ~(PAGE_SIZE - 1);
}

static inline u64 page_up(u64 addr)
{
	return page_down(addr + PAGE_SIZE - 1);
}
