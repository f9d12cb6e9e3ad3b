/*
 * probe.c: static probes for tests of a tracer: one for each number of arguments, with
 * values that the caller knows.
 */
#include "dtrace_probe.h"
#include "kernel.h"

/*
 * probe_fire fires test:::args-0 to args-5, the first argument n, each other 1 more, and
 * then sdt:::fired with a text and n.
 */
void probe_fire(u64 n)
{
	DTRACE_PROVIDER_PROBE(test, args__0);
	DTRACE_PROVIDER_PROBE(test, args__1, n);
	DTRACE_PROVIDER_PROBE(test, args__2, n, n + 1);
	DTRACE_PROVIDER_PROBE(test, args__3, n, n + 1, n + 2);
	DTRACE_PROVIDER_PROBE(test, args__4, n, n + 1, n + 2, n + 3);
	DTRACE_PROVIDER_PROBE(test, args__5, n, n + 1, n + 2, n + 3, n + 4);
	DTRACE_PROBE(fired, "all of them", n);
}
