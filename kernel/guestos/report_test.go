package guestos

import "testing"

func TestReport(t *testing.T) {
	for line, want := range map[string]string{
		"[    1.234567] BUG: KCSAN: data-race in a / b":                                 "BUG: KCSAN: data-race in a / b",
		"[    1.234567][    T1] WARNING: possible circular locking dependency detected": "WARNING: possible circular locking dependency detected",
		"[    0.010000] tiny: panic: out of memory":                                     "tiny: panic: out of memory",
		"[    1.234567] rcu: INFO: rcu_sched self-detected stall on CPU":                "rcu: INFO: rcu_sched self-detected stall on CPU",
		"[    1.234567] Freeing unused kernel memory":                                   "",
		"[    1.234567] x: BUG: no":                                                     "",
		"":                                                                              "",
	} {
		if have := Report(line); have != want {
			t.Errorf("%q: %q, want %q", line, have, want)
		}
	}
}
