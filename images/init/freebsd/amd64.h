/*
 * amd64: the number in rax, arguments as in Linux's system calls; an error sets
 * the carry flag. fork gives the child 1 in rdx, and the parent 0.
 */
static inline long syscall2(long n, long a, long b, long c, long d, long e, long f, long *second)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	u8 failed;
	long r;

	__asm__ volatile("syscall; setc %1"
			 : "=a"(r), "=r"(failed), "+d"(c), "+r"(r10), "+r"(r8), "+r"(r9)
			 : "0"(n), "D"(a), "S"(b)
			 : "rcx", "r11", "cc", "memory");
	*second = c;
	return failed ? -r : r;
}

static inline long syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	long second;

	return syscall2(n, a, b, c, d, e, f, &second);
}

static inline long fork_process(void)
{
	long child, pid = syscall2(SYS_fork, 0, 0, 0, 0, 0, 0, &child);

	return pid > 0 && child == 1 ? 0 : pid;
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	andq $-16, %rsp\n"
	"	call init\n"
	"	ud2\n");
