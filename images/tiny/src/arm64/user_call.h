/* user_call.h: how a user program makes a system call. */
#pragma once

#include "../types.h"

static inline s64 system_call(u64 number, u64 a, u64 b, u64 c)
{
	register u64 x8 asm("x8") = number;
	register u64 x0 asm("x0") = a;
	register u64 x1 asm("x1") = b;
	register u64 x2 asm("x2") = c;

	asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}
