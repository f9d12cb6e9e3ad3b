/* user_call.h: how a user program makes a system call. */
#pragma once

#include "../types.h"

static inline s64 system_call(u64 number, u64 a, u64 b, u64 c)
{
	register u64 a7 asm("a7") = number;
	register u64 a0 asm("a0") = a;
	register u64 a1 asm("a1") = b;
	register u64 a2 asm("a2") = c;

	asm volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}
