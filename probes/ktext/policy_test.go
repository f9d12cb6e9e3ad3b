package ktext

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes/patch"
)

// TestOriginals: what the original refuses, on the architectures with exclusive accesses.
func TestOriginals(t *testing.T) {
	const (
		none       = ""
		noRoom     = "the function makes no room on the stack"
		noRA       = "the function does not save the return address"
		system     = "it is a SYSTEM instruction, which may read or change the interrupt mask"
		adr        = "adr and adrp are not traced"
		between    = inExclusive
		frame      = 0xa9bf7bfd // stp x29, x30, [sp, #-16]!
		sdRA       = 0x00113423 // sd ra,8(sp)
		csdspRA    = 0xe406
		nop        = 0xd503201f
		bti        = 0xd503245f
		ldxr       = 0xc85f7c20
		stxr       = 0xc8037c20
		add        = 0x91000400
		riscv64Nop = 0x13
	)
	for _, tt := range []struct {
		arch     *arch.Arch
		name     string
		code     []uint32
		function string
		want     []string
	}{
		{arch.ARM64, "frame", []uint32{frame, add}, none, []string{none, none}},
		{arch.ARM64, "no frame", []uint32{add, nop}, noRoom, nil},
		{arch.ARM64, "sub sp", []uint32{add, 0xd10083ff}, none, nil},
		{arch.ARM64, "nop", []uint32{nop, add}, none, nil},
		{arch.ARM64, "bti and nop", []uint32{bti, nop}, none, nil},
		{arch.ARM64, "address", []uint32{frame, 0x90000000, 0x10000000}, none, []string{none, adr, adr}},
		{arch.ARM64, "exclusive", []uint32{frame, ldxr, add, stxr, add, stxr}, none,
			[]string{none, between, between, between, none, none}},
		{arch.ARM64, "pairs", []uint32{0x887f0820, add, 0x88230820, add}, noRoom, []string{between, between, between, none}},
		{arch.ARM64, "acquire, release", []uint32{0x085ffc20, add, 0x0803fc20, 0xc8dffc20}, noRoom,
			[]string{between, between, between, none}}, // ldaxrb, stlxrb, ldar
		{arch.ARM64, "swap", []uint32{0xc8e07c41, add}, noRoom, []string{none, none}},
		{arch.RISCV64, "frame", []uint32{riscv64Nop, sdRA}, none, []string{none, none}},
		{arch.RISCV64, "short frame", []uint32{riscv64Nop, csdspRA}, none, nil},
		{arch.RISCV64, "no frame", []uint32{riscv64Nop, 0x00813023}, noRA, nil},
		{arch.RISCV64, "system", []uint32{0x00000073, 0x10002573, 0x10200073, riscv64Nop}, noRA,
			[]string{system, system, system, none}},
		{arch.RISCV64, "exclusive", []uint32{0x1005a52f, 0x0505, 0x18c5a52f, riscv64Nop}, noRA,
			[]string{between, between, between, none}},
		{arch.RISCV64, "amo", []uint32{0x00b6252f, riscv64Nop}, noRA, []string{none, none}},
	} {
		t.Run(tt.arch.Name+" "+tt.name, func(t *testing.T) {
			var instrs []patch.Instr
			off := 0
			for _, w := range tt.code {
				code := binary.LittleEndian.AppendUint32(nil, w)
				if tt.arch == arch.RISCV64 && w&3 != 3 {
					code = code[:2]
				}
				instrs = append(instrs, patch.Instr{Off: off, Len: len(code), Code: code})
				off += len(code)
			}
			o, _ := originals.Of(tt.arch)
			if got := o.function(instrs); got != tt.function {
				t.Errorf("function: %q, want %q", got, tt.function)
			}
			for i, want := range tt.want {
				if got := o.instruction(instrs, i); got != want {
					t.Errorf("%#08x: %q, want %q", tt.code[i], got, want)
				}
			}
		})
	}
}

// TestOriginalAMD64: the same on amd64, where instructions differ in length.
func TestOriginalAMD64(t *testing.T) {
	const noFrame = "the function has no push %rbp"
	for _, tt := range []struct {
		code     []string // instructions
		function string
		want     []string
	}{
		{[]string{"\x55", "\x48\x89\xe5", "\xc3"}, "", []string{"", "", ""}},
		{[]string{"\x55"}, "", []string{""}},
		{[]string{"\xf3\x0f\x1e\xfa", "\x55"}, "", []string{"", ""}},              // endbr64
		{[]string{"\x85\xff", "\x74\x01", "\x55", "\xc3"}, "", nil},               // past an early return
		{[]string{"\x41\x55", "\x48\x55", "\xc3"}, noFrame, []string{"", "", ""}}, // push %r13; with a prefix
		{[]string{"\xb8\x55\x55\x55\x55", "\xc3"}, noFrame, nil},
		{[]string{"\x55", "\x9d", "\xfb", "\xfa", "\x9c", "\xc3"}, "", []string{"", "popf changes the interrupt mask", "sti changes the interrupt mask", "", "", ""}},
		{[]string{"\x55", "\x66\x9d", "\xb0\xfb", "\xb0\x9d"}, "", []string{"", "", "", ""}}, // only the plain ones, as the original has it
	} {
		var instrs []patch.Instr
		off := 0
		for _, code := range tt.code {
			instrs = append(instrs, patch.Instr{Off: off, Len: len(code), Code: []byte(code)})
			off += len(code)
		}
		o, _ := originals.Of(arch.AMD64)
		if got := o.function(instrs); got != tt.function {
			t.Errorf("% x: %q, want %q", tt.code, got, tt.function)
		}
		for i, want := range tt.want {
			if got := o.instruction(instrs, i); got != want {
				t.Errorf("% x: %q, want %q", tt.code[i], got, want)
			}
		}
	}
}
