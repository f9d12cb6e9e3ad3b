/*
 * amd64: system call numbers (arch/x86/entry/syscalls/syscall_64.tbl), the call
 * itself (psABI A.2: rdi rsi rdx r10 r8 r9, result in rax, rcx and r11 lost) and
 * the entry point, which the kernel enters with argc at the stack pointer.
 */
enum {
	SYS_read = 0,
	SYS_write = 1,
	SYS_close = 3,
	SYS_rt_sigprocmask = 14,
	SYS_ioctl = 16,
	SYS_clone = 56,
	SYS_execve = 59,
	SYS_exit = 60,
	SYS_wait4 = 61,
	SYS_kill = 62,
	SYS_fcntl = 72,
	SYS_setsid = 112,
	SYS_sync = 162,
	SYS_mount = 165,
	SYS_reboot = 169,
	SYS_openat = 257,
	SYS_ppoll = 271,
	SYS_signalfd4 = 289,
	SYS_dup3 = 292,
	SYS_pipe2 = 293,
};

static inline long syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	andq $-16, %rsp\n"
	"	call init\n"
	"	ud2\n");
