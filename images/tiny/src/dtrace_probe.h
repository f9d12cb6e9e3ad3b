/*
 * Static probes for kernel code: a loadable module of Linux, or a kernel.
 *
 *	DTRACE_PROBE(read__done, count, buffer);
 *	DTRACE_PROVIDER_PROBE(hello, read__done, count);
 *
 * is the probe sdt:MODULE:FUNCTION:read-done, or with a provider's name
 * hello:MODULE:FUNCTION:read-done. It passes up to five integers or pointers, arg0
 * to arg4. "__" in a name stands for a dash. Wherever a name is used in a file it
 * has the same number of arguments.
 *
 * A probe is compiled to a call of a function whose name begins with __dtrace_probe_:
 *
 *	__dtrace_probe_read__done		DTRACE_PROBE
 *	__dtrace_probe_hello___read__done	DTRACE_PROVIDER_PROBE
 *
 * trapline finds the calls by that name and makes no-operations of them. Where nobody
 * does, the function is there: a weak symbol that leads to a stub which returns at once.
 * So a module needs no symbol from elsewhere: it passes modpost, and loads into any kernel.
 */
#ifndef DTRACE_PROBE_H
#define DTRACE_PROBE_H

#if defined(__x86_64__)
#define DTRACE_STUB_JUMP "jmp"
#elif defined(__aarch64__)
#define DTRACE_STUB_JUMP "b"
#elif defined(__riscv)
#define DTRACE_STUB_JUMP "tail"
#else
#error "no static probes on this architecture"
#endif

/* In C, so that it returns the way the kernel's own functions do. */
static __attribute__((__used__)) void __dtrace_stub(void)
{
	__asm__ volatile("");
}

/* The weak function of a probe, once in a file. Each has an address of its own. */
#define DTRACE_WEAK(function)                                        \
	__asm__(".ifndef " #function "\n"                            \
		".pushsection .text.dtrace_probes, \"ax\"\n"         \
		".weak " #function "\n"                              \
		".type " #function ", %function\n"                   \
		#function ":\n"                                      \
		"\t" DTRACE_STUB_JUMP " __dtrace_stub\n"             \
		".size " #function ", . - " #function "\n"           \
		".popsection\n"                                      \
		".endif\n")

/*
 * The call. The empty asm behind it keeps it from becoming a jump at the end of a
 * function.
 */
#define DTRACE_CALL(function, types, values)    \
	do {                                    \
		extern void function types;     \
		DTRACE_WEAK(function);          \
		function values;                \
		__asm__ volatile("");           \
	} while (0)

#define DTRACE_ARG(x) ((unsigned long)(x))
#define DTRACE_CALL0(f) DTRACE_CALL(f, (void), ())
#define DTRACE_CALL1(f, a) DTRACE_CALL(f, (unsigned long), (DTRACE_ARG(a)))
#define DTRACE_CALL2(f, a, b) \
	DTRACE_CALL(f, (unsigned long, unsigned long), (DTRACE_ARG(a), DTRACE_ARG(b)))
#define DTRACE_CALL3(f, a, b, c)                                  \
	DTRACE_CALL(f, (unsigned long, unsigned long, unsigned long), \
		    (DTRACE_ARG(a), DTRACE_ARG(b), DTRACE_ARG(c)))
#define DTRACE_CALL4(f, a, b, c, d)                                              \
	DTRACE_CALL(f, (unsigned long, unsigned long, unsigned long, unsigned long), \
		    (DTRACE_ARG(a), DTRACE_ARG(b), DTRACE_ARG(c), DTRACE_ARG(d)))
#define DTRACE_CALL5(f, a, b, c, d, e)                                          \
	DTRACE_CALL(f,                                                          \
		    (unsigned long, unsigned long, unsigned long, unsigned long, \
		     unsigned long),                                            \
		    (DTRACE_ARG(a), DTRACE_ARG(b), DTRACE_ARG(c), DTRACE_ARG(d), \
		     DTRACE_ARG(e)))

/* Chooses the macro for the number of arguments after the function. */
#define DTRACE_NTH(f, a, b, c, d, e, macro, ...) macro
#define DTRACE_DO(...)                                                            \
	DTRACE_NTH(__VA_ARGS__, DTRACE_CALL5, DTRACE_CALL4, DTRACE_CALL3,         \
		   DTRACE_CALL2, DTRACE_CALL1, DTRACE_CALL0, 0)(__VA_ARGS__)

#define DTRACE_PROBE(name, ...) DTRACE_DO(__dtrace_probe_##name, ##__VA_ARGS__)
#define DTRACE_PROVIDER_PROBE(provider, name, ...) \
	DTRACE_DO(__dtrace_probe_##provider##___##name, ##__VA_ARGS__)

#endif
