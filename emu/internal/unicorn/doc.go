// Package unicorn is a thin binding to libunicorn 2.0.1, and the one place of trapline
// with cgo. It names things as the upstream Go binding does where it has the same thing,
// so that it reads familiar; it is not that binding, because the callback path of that
// one (a global table, a lock and a type assertion for each call) costs more than a
// probe may, and because a whole machine needs more of the library than its API gives.
//
// Unicorn emulates a CPU. What makes it a machine is done by the C files here, which
// take the place of functions of the library (library.c has the list):
//
//	clock.c        the clock: bytes of code executed; the instants for interrupts
//	codebuf.c      the buffer of translated code
//	amd64_tlb.c    the guest's page tables, the two views of a page of text
//	amd64_trap.c   exceptions, interrupts, SYSCALL, HLT, port I/O
//	amd64_cpu.c    private state found and checked, features, entry state
//	breaks.c       breakpoints and trampolines
//	machine.c      opening, the check of the library, running
//
// The C side decides, Go hears of what remains: a probe that was hit, an event that is
// due, a device register. A Go function called from C returns before anything there
// leaves by longjmp.
package unicorn
