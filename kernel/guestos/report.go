package guestos

import "strings"

// reports begin the message with which a kernel says that it has found something wrong: Linux's
// lockdep, KCSAN, KASAN, watchdogs, WARN and oopses, and what a panic says; FreeBSD's traps and witness.
var reports = []string{
	"BUG: ", "WARNING: ", "INFO: rcu", "INFO: task ", "rcu: INFO: ", "watchdog: BUG: ", "kernel BUG at ",
	"Oops", "UBSAN: ", "Internal error: ", "Unable to handle kernel ", "Kernel panic - not syncing", "tiny: panic: ",
	"Fatal trap ", "lock order reversal: ",
}

// Report is the message of a line of a kernel's log, without its time, if it is one with which a
// kernel says that something has gone wrong; otherwise "".
func Report(line string) string {
	text := trimStamps(line)
	for _, r := range reports {
		if strings.HasPrefix(text, r) {
			return text
		}
	}
	return ""
}

// Begins reports whether the message of a line of a kernel's log, after its time and the like, begins so.
func Begins(line, with string) bool { return strings.HasPrefix(trimStamps(line), with) }
