package ktext

import (
	"bytes"
	"slices"

	"trapline/probes/patch"
)

// amd64Function wants a frame to be made somewhere: compilers put that off past an early return.
func amd64Function(instrs []patch.Instr) string {
	push := func(in patch.Instr) bool { return in.Code[0] == 0x55 }
	if slices.ContainsFunc(instrs, push) {
		return ""
	}
	return "the function has no push %rbp"
}

func amd64Instruction(instrs []patch.Instr, i int) string {
	code := instrs[i].Code
	switch {
	case bytes.Equal(code, []byte{0x9d}):
		return "popf changes the interrupt mask"
	case bytes.Equal(code, []byte{0xfb}):
		return "sti changes the interrupt mask"
	}
	return ""
}
