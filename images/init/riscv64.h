/*
 * riscv64: the system call (number in a7, arguments in a0 to a5, result in a0) and
 * the entry point, which the kernel enters with argc at the stack pointer. The
 * linker shortens addresses by gp, so that must be right before anything else.
 */
#include "unistd.h"

static inline long syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = n;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return a0;
}

__asm__(".globl _start\n"
	"_start:\n"
	".option push\n"
	".option norelax\n"
	"	la gp, __global_pointer$\n"
	".option pop\n"
	"	mv fp, zero\n"
	"	call init\n"
	"	unimp\n");
