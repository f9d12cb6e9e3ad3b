package kinst

import (
	"bytes"
	"fmt"
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
	// run in, functions that do not begin with push %rbp, and popf and sti. Linux kernels
	// begin nearly every function with endbr64 or the room for ftrace: for them that
	// leaves next to nothing, as it would in the original.
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
	prologue   []byte // of every function that is traced
	noPrologue string // why another is not
	unsafe     []unsafe
}

// unsafe is an instruction the original does not trace, by its only form.
type unsafe struct {
	code []byte
	why  string
}

// originals has a row for each architecture.
var originals = map[string]original{
	"amd64": {
		prologue:   []byte{0x55}, // push %rbp
		noPrologue: "the function does not begin with push %rbp",
		unsafe: []unsafe{
			{[]byte{0x9d}, "popf changes the interrupt mask"},
			{[]byte{0xfb}, "sti changes the interrupt mask"},
		},
	},
}

// function says why the policy refuses the function with this text, or "".
func (o original) function(text []byte) string {
	if bytes.HasPrefix(text, o.prologue) {
		return ""
	}
	return o.noPrologue
}

// instruction says why the policy refuses an instruction, or "".
func (o original) instruction(code []byte) string {
	for _, u := range o.unsafe {
		if bytes.Equal(code, u.code) {
			return u.why
		}
	}
	return ""
}
