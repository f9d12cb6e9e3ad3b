/*
 * arm64: the number in x8, arguments from x0 on; an error sets the carry flag. fork
 * gives the child 0.
 */
static inline long syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0\n\tb.cc 1f\n\tneg x0, x0\n1:"
			 : "+r"(x0), "+r"(x1)
			 : "r"(x8), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "cc", "memory");
	return x0;
}

static inline long fork_process(void)
{
	return syscall6(SYS_fork, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	bl init\n"
	"	brk #1\n");
