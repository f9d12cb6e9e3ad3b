/* user_call.h: how a user program makes a system call. */
#pragma once

#include "../types.h"

static inline s64 system_call(u64 number, u64 a, u64 b, u64 c)
{
	u64 result = number;

	asm volatile("syscall"
		     : "+a"(result)
		     : "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return result;
}
