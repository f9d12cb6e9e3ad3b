package guestos

import (
	"strings"

	"trapline/kernel"
)

// FreeBSDPolicy leaves out what FreeBSD's kinst does: functions by their names, functions that are not
// made as the architecture's compilers make one, and some instructions. On amd64 a function must have
// push %rbp, but most of Linux's have none: of such a kernel it leaves next to nothing, as the
// original would.
var FreeBSDPolicy = &Policy{Name: "freebsd", Function: freebsdExcludes, Code: true, Sized: true}

// freebsdNames are the functions that FreeBSD's kinst (15.0) leaves alone: what its breakpoint handler
// or the debugger may run, and the handlers of exceptions, where a breakpoint would come back for
// ever.
var freebsdNames = []struct{ pattern, reason string }{
	{"dtrace_*", "runs while DTrace handles a probe"},
	{"db_*", "a part of the kernel debugger"},
	{"kdb_*", "a part of the kernel debugger"},
	{"__msan*", "runs at every access to memory"},
	{"kmsan_*", "runs at every access to memory"},
	{"cpu_switch", "runs while the CPU is between two threads"},
	{"owner_mtx", "runs when a D program asks who owns a lock"},
	{"owner_rm", "runs when a D program asks who owns a lock"},
	{"owner_rw", "runs when a D program asks who owns a lock"},
	{"owner_sx", "runs when a D program asks who owns a lock"},
	{"trap_check", "runs at every breakpoint"},
	{"handle_el1h_sync", "an exception handler"}, // arm64
	{"do_el1h_sync", "an exception handler"},
	{"cpu_exception_handler", "an exception handler"}, // riscv64
	{"cpu_exception_handler_supervisor", "an exception handler"},
	{"cpu_exception_handler_user", "an exception handler"},
	{"do_trap_supervisor", "an exception handler"},
	{"do_trap_user", "an exception handler"},
}

func freebsdExcludes(name string) string {
	if strings.HasPrefix(name, "dtrace_safe_") {
		return ""
	}
	for _, n := range freebsdNames {
		if kernel.Match(n.pattern, name) {
			return n.reason
		}
	}
	return ""
}
