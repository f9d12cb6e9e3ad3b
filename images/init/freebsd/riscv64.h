/*
 * riscv64: the number in t0, arguments from a0 on; after an error t0 is not zero.
 * fork gives the child 0.
 */
static inline long syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long t0 __asm__("t0") = n;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0), "+r"(a1), "+r"(t0)
			 : "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory");
	return t0 ? -a0 : a0;
}

static inline long fork_process(void)
{
	return syscall6(SYS_fork, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	li s0, 0\n"
	"	call init\n"
	"	ebreak\n");
