package ktext

import (
	"fmt"

	"trapline/probes/patch"
)

// A Policy says what is refused because a live tracer could not survive it.
type Policy uint8

// Policies. Here the breakpoint never enters the guest's own handlers, so All is safe.
const (
	// All refuses only what the trampoline cannot displace.
	All Policy = iota
	// Linux refuses what Linux itself keeps kprobes away from.
	Linux
	// FreeBSD refuses what the original kinst does: functions that the guest's tracer may
	// run in, functions that do not begin as the architecture's compilers begin one, and
	// some instructions. On amd64 that is push %rbp, but Linux kernels begin nearly every
	// function with endbr64 or the room for ftrace: for them it leaves next to nothing,
	// as it would in the original.
	FreeBSD
)

var policyNames = []string{"all", "linux", "freebsd"}

func (p Policy) String() string { return policyNames[p] }

// ParsePolicy reads the value of the option kinstpolicy.
func ParsePolicy(s string) (Policy, error) {
	for i, name := range policyNames {
		if s == name {
			return Policy(i), nil
		}
	}
	return 0, fmt.Errorf("all, linux or freebsd, not %q", s)
}

// original is what the original kinst refuses on one architecture.
type original struct {
	// function says why the function with these instructions, at least one, is refused,
	// or "".
	function func(instrs []patch.Instr) string
	// instruction says why the i-th of them is refused, or "".
	instruction func(instrs []patch.Instr, i int) string
}

// originals has a row for each architecture.
var originals = map[string]original{
	"amd64":   {amd64Function, amd64Instruction},
	"arm64":   {arm64Function, arm64Instruction},
	"riscv64": {riscv64Function, riscv64Instruction},
}

// exclusive reports whether the i-th instruction is one of those from a load-exclusive to its
// store-exclusive, both included: a breakpoint among them would make a live kernel try for
// ever.
func exclusive(instrs []patch.Instr, i int, load, store func(code []byte) bool) bool {
	if store(instrs[i].Code) {
		i--
	}
	for ; i >= 0 && !store(instrs[i].Code); i-- {
		if load(instrs[i].Code) {
			return true
		}
	}
	return false
}

const inExclusive = "it is between a load-exclusive and its store-exclusive"
