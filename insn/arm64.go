package insn

import "trapline/kernel/arch"

// ARM64 is the instructions of AArch64.
var ARM64 = sets.Row(arch.ARM64, &Set{
	Arch:    arch.ARM64,
	Length:  arm64Length,
	Flow:    arm64Flow,
	Frame:   arm64Frame,
	Class:   arm64Class,
	Text:    arm64Text,
	Execute: arm64Execute,
})

// arm64Length: every instruction has four bytes. That a word is undefined is no reason to
// stop: the next one begins where it ends.
func arm64Length(code []byte) (int, error) {
	if len(code) < 4 {
		return 0, ErrTruncated
	}
	return 4, nil
}
