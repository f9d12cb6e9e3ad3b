package insn

import "bytes"

var amd64MovRBP = []byte{0x48, 0x89, 0xe5} // mov %rsp,%rbp

// amd64Frame knows how compilers make and drop a frame (System V ABI, 3.2.2). A call stores the
// return address.
func amd64Frame(code []byte) Frame {
	if bytes.HasPrefix(code, amd64MovRBP) {
		return Frame{SetsFP: true}
	}
	if len(code) == 0 {
		return Frame{}
	}
	return Frame{
		SavesFP:    code[0] == 0x55,                    // push %rbp
		RestoresFP: code[0] == 0x5d || code[0] == 0xc9, // pop %rbp, leave
	}
}

// amd64Class looks at the first byte alone: with a prefix these instructions are others.
func amd64Class(code []byte) Class {
	if len(code) == 0 {
		return Ordinary
	}
	switch code[0] {
	case 0xcc:
		return Breakpoint
	case 0x9d:
		return PopFlags
	case 0xfb:
		return EnableInterrupts
	}
	return Ordinary
}
