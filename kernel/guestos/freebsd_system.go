package guestos

import (
	"strings"

	"trapline/kernel"
)

// FreeBSD is what is known of all FreeBSD kernels.
var FreeBSD = &System{
	Name: "freebsd", Title: "FreeBSD",
	Is: func(tab *kernel.Symtab) bool {
		return tab.Lookup(freebsdStart) != nil && tab.Lookup(freebsdThread0) != nil
	},
	New:       newFreeBSD,
	PanicLine: freebsdPanicLine,
	Module:    ModuleName{"kernel", "vmlinux"},
	Banner:    "version",
	Start:     freebsdStart,
	ThreadTag: "thread",
	Debug:     "kernel.debug",
	Modules:   []string{".ko"},

	Calls:       freebsdCalls,
	Tracepoints: freebsdTracepoints,
}

const (
	freebsdStart   = "mi_startup"
	freebsdThread0 = "thread0_st" // a struct thread, the first one
)

// freebsdPanicLine reports whether a line is a panic's first.
func freebsdPanicLine(line string) bool { return strings.HasPrefix(line, "panic: ") }
