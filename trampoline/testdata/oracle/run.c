/*
 * run: executes single instructions, for qemu_test.go.
 *
 * Standard input: cases, one after the other. Standard output: what became of each.
 * An instruction stands at the end of a page of breakpoints; those around it have
 * numbers that can be loaded and no permission to execute. So it ends in a signal
 * whatever it does, and the handler of that signal is where the next one is set up.
 *
 * The handler runs with the registers of a case, so that it must not use what hangs on
 * the thread or global pointer: compile with -fno-stack-protector, link with --no-relax.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PC 0x1000000ff8ul
#define AROUND (1ul << 21)

struct in {
	uint64_t reg[32], flags;
	uint32_t code, size; /* size in bytes */
};
struct out {
	uint64_t reg[32], pc, flags, vector[64];
};

static struct in in[1 << 16];
static struct out out[1 << 16];
static long n, at = -1;
static unsigned char stack[1 << 16];

#if defined __aarch64__
static const uint32_t trap = 0xd4200000;

static void save(ucontext_t *u, struct out *o)
{
	struct fpsimd_context *v = (void *)u->uc_mcontext.__reserved;
	for (int i = 0; i < 31; i++)
		o->reg[i] = u->uc_mcontext.regs[i];
	o->pc = u->uc_mcontext.pc;
	o->flags = u->uc_mcontext.pstate & 0xf0000000;
	for (int i = 0; i < 64; i++)
		o->vector[i] = ((uint64_t *)v->vregs)[i];
}

static void load(ucontext_t *u, const struct in *c)
{
	for (int i = 0; i < 31; i++)
		u->uc_mcontext.regs[i] = c->reg[i];
	u->uc_mcontext.pc = PC;
	u->uc_mcontext.pstate = (u->uc_mcontext.pstate & 0x0fffffff) | c->flags;
}

static void finish(long bytes)
{
	register long x0 asm("x0") = 1, x1 asm("x1") = (long)out, x2 asm("x2") = bytes, x8 asm("x8") = 64;
	asm volatile("svc #0; mov x0, #0; mov x8, #94; svc #0" : "+r"(x0), "+r"(x8) : "r"(x1), "r"(x2) : "memory");
}
#else
static const uint32_t trap = 0x90029002; /* c.ebreak, twice */

static void save(ucontext_t *u, struct out *o)
{
	for (int i = 1; i < 32; i++)
		o->reg[i] = u->uc_mcontext.__gregs[i];
	o->pc = u->uc_mcontext.__gregs[0];
}

static void load(ucontext_t *u, const struct in *c)
{
	for (int i = 1; i < 32; i++)
		u->uc_mcontext.__gregs[i] = c->reg[i];
	u->uc_mcontext.__gregs[0] = PC;
}

static void finish(long bytes)
{
	register long a0 asm("a0") = 1, a1 asm("a1") = (long)out, a2 asm("a2") = bytes, a7 asm("a7") = 64;
	asm volatile("ecall; li a0, 0; li a7, 94; ecall" : "+r"(a0), "+r"(a7) : "r"(a1), "r"(a2) : "memory");
}
#endif

static void on_signal(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	(void)sig;
	(void)info;
	if (at >= 0)
		save(u, &out[at]);
	if (++at == n)
		finish(n * (long)sizeof *out);
	*(volatile uint32_t *)PC = in[at].size == 2 ? (trap & 0xffff0000) | in[at].code : in[at].code;
	load(u, &in[at]);
}

int main(void)
{
	stack_t s = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	const int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL};
	const uint64_t page = PC & ~0xffful;
	uint64_t *data = mmap((void *)(page - AROUND), 2 * AROUND, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	long got;

	for (uint64_t i = 0, x = 1; i < 2 * AROUND / 8; i++)
		data[i] = x = x * 6364136223846793005ul + 1442695040888963407ul;
	for (uint32_t *p = (void *)page; p < (uint32_t *)(page + 0x2000); p++)
		*p = trap;
	mprotect((void *)page, 0x2000, PROT_READ | PROT_WRITE | PROT_EXEC);
	while ((got = read(0, (char *)in + n, sizeof in - (size_t)n)) > 0)
		n += got;
	n /= (long)sizeof *in;
	sigaltstack(&s, NULL);
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &a, NULL);
	raise(SIGTRAP);
	return 1;
}
