package ktext

import (
	"bytes"

	"trapline/probes/patch"
)

func amd64Function(instrs []patch.Instr) string {
	if bytes.Equal(instrs[0].Code, []byte{0x55}) {
		return ""
	}
	return "the function does not begin with push %rbp"
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
