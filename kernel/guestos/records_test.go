package guestos

import (
	"slices"
	"testing"

	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
)

// A linkedCase is a moment of a CPU with a link register.
type linkedCase struct {
	name         string
	pc, fp, link uint64
	words        []uint64 // from stackAt up
	want         []uint64
}

const stackAt = 0xffff800000010000

func testLinked(t *testing.T, path string, cases []linkedCase, regs func(linkedCase) fakeRegs) {
	img := openImage(t, path)
	guest := detect(t, img)
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			mem := fakeMem{}.stack(stackAt, tt.words...)
			pcs := make([]uint64, 16)
			if n := guest.Stack(mem, regs(tt), pcs); !slices.Equal(pcs[:n], tt.want) {
				t.Errorf("got  %#x\nwant %#x", pcs[:n], tt.want)
			}
			if n := guest.Stack(mem, regs(tt), pcs[:2]); n != min(2, len(tt.want)) {
				t.Errorf("%d frames in room for two", n)
			}
			if n := guest.Stack(mem, regs(tt), nil); n != 0 {
				t.Errorf("%d frames in no room", n)
			}
		})
	}
}

// (aarch64-linux-gnu-objdump -d testdata/tiny-arm64.elf)
func TestARM64Stack(t *testing.T) {
	const (
		text    = 0xffff800008000000
		plain   = text
		leaf    = text + 0x10
		inLeaf  = text + 0x20
		late    = text + 0x30
		inLate  = text + 0x48
		starter = text + 0x58 // some return address further up
		top     = stackAt
	)
	// The records of a call from late to leaf.
	records := []uint64{top + 16, inLate, 0, starter}
	testLinked(t, "testdata/tiny-arm64.elf", []linkedCase{
		{"no frame needed", plain, top, inLeaf, records, []uint64{plain, inLeaf, inLate, starter}},
		{"at its ret", plain + 4, top, inLeaf, records, []uint64{plain + 4, inLeaf, inLate, starter}},
		{"first instruction", leaf, top + 16, inLate, records, []uint64{leaf, inLate, starter}},
		{"after the stp", leaf + 4, top + 16, inLate, records, []uint64{leaf + 4, inLate, starter}},
		{"at the mov", leaf + 8, top + 16, inLate, records, []uint64{leaf + 8, inLate, starter}},
		{"framed", leaf + 12, top, inLate, records, []uint64{leaf + 12, inLate, starter}},
		{"after a call", inLeaf, top, inLeaf, records, []uint64{inLeaf, inLate, starter}},
		{"at the ldp", leaf + 0x14, top, inLeaf, records, []uint64{leaf + 0x14, inLate, starter}},
		{"at the ret", leaf + 0x18, top + 16, inLate, records, []uint64{leaf + 0x18, inLate, starter}},
		{"after the ldp", late + 0x1c, top + 16, inLate, records, []uint64{late + 0x1c, inLate, starter}},
		{"path without a frame", late + 0x24, top + 16, inLate, records, []uint64{late + 0x24, inLate, starter}},
		{"link register used otherwise", plain, top, 12345, records, []uint64{plain, inLate, starter}},
		{"round", leaf + 12, top, 0, []uint64{top, inLate}, []uint64{leaf + 12, inLate}},
		{"odd", leaf + 12, top + 1, 0, records, []uint64{leaf + 12}},
		{"into user space", leaf + 12, top, 0, []uint64{top + 16, 0x400000}, []uint64{leaf + 12}},
		{"off the end", leaf + 12, top, 0, []uint64{top + 16, inLate}, []uint64{leaf + 12, inLate}},
		{"from an interrupt's stack", leaf + 12, top, 0,
			[]uint64{top - 1<<20, inLate}, []uint64{leaf + 12, inLate}},
		{"user mode", 0x400000, 0, 0, nil, nil},
	}, func(c linkedCase) fakeRegs {
		regs := fakeRegs{arch.ARM64PC: c.pc, arch.ARM64FP: c.fp, arch.ARM64LR: c.link, arch.ARM64PSTATE: 0x3c5}
		if c.name == "user mode" {
			regs[arch.ARM64PSTATE] = 0
		}
		return regs
	})
}

// (riscv64-linux-gnu-objdump -d testdata/tiny-riscv64.elf)
func TestRISCV64Stack(t *testing.T) {
	const (
		text    = 0xffffffff80200000
		plain   = text
		leaf    = text + 0xe
		inLeaf  = text + 0x1e
		late    = text + 0x2a
		inLate  = text + 0x3e
		starter = text + 0x4c // some return address further up
		top     = stackAt + 32
	)
	// Records lie below the frame pointers: leaf's below top, late's below top + 32.
	records := []uint64{0, 0, top + 32, inLate, 0, 0, 0, starter}
	calledPlain := []uint64{0, stackAt + 48, 0, 0, stackAt + 80, inLate, 0, 0, 0, starter}
	testLinked(t, "testdata/tiny-riscv64.elf", []linkedCase{
		{"first instruction of a leaf", plain, top, inLeaf, records, []uint64{plain, inLeaf, inLate, starter}},
		{"before the leaf's frame pointer", plain + 4, top, inLeaf, records, []uint64{plain + 4, inLeaf, inLate, starter}},
		{"leaf with a frame pointer", plain + 6, stackAt + 16, inLeaf, calledPlain,
			[]uint64{plain + 6, inLeaf, inLate, starter}},
		{"leaf without it again", plain + 8, top, inLeaf, records, []uint64{plain + 8, inLeaf, inLate, starter}},
		{"at the leaf's ret", plain + 12, top, inLeaf, records, []uint64{plain + 12, inLeaf, inLate, starter}},
		{"first instruction", leaf, top + 32, inLate, records, []uint64{leaf, inLate, starter}},
		{"saved, not yet framed", leaf + 8, top + 32, inLate, records, []uint64{leaf + 8, inLate, starter}},
		{"framed", leaf + 10, top, inLate, records, []uint64{leaf + 10, inLate, starter}},
		{"after a call", inLeaf, top, inLeaf, records, []uint64{inLeaf, inLate, starter}},
		{"after ra came back", leaf + 0x12, top, inLate, records, []uint64{leaf + 0x12, inLate, starter}},
		{"after s0 came back", leaf + 0x14, top + 32, inLate, records, []uint64{leaf + 0x14, inLate, starter}},
		{"at the ret", leaf + 0x1a, top + 32, inLate, records, []uint64{leaf + 0x1a, inLate, starter}},
		{"path without a frame", late + 0x20, top + 32, inLate, records, []uint64{late + 0x20, inLate, starter}},
		{"leaf's frame not mapped", plain + 6, stackAt - 4096, inLeaf, records, []uint64{plain + 6, inLeaf}},
		{"round", leaf + 10, top, 0, []uint64{0, 0, top, inLate}, []uint64{leaf + 10, inLate}},
		{"user mode", 0x400000, 0, 0, nil, nil},
	}, func(c linkedCase) fakeRegs {
		regs := fakeRegs{arch.RISCV64PC: c.pc, arch.RISCV64S0: c.fp, arch.RISCV64RA: c.link, arch.RISCV64PRIV: 1}
		if c.name == "user mode" {
			regs[arch.RISCV64PRIV] = 0
		}
		return regs
	})
}

// TestExitOf: what the branches of a function of 64 bytes mean for it.
func TestExitOf(t *testing.T) {
	le := func(w uint32) []byte { return []byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)} }
	half := func(w uint16) []byte { return []byte{byte(w), byte(w >> 8)} }
	for _, tt := range []struct {
		name string
		set  *insn.Set
		code []byte
		want exit
	}{
		{"retaa", insn.ARM64, le(0xd65f0bff), leaves},
		{"retab", insn.ARM64, le(0xd65f0fff), leaves},
		{"br x16", insn.ARM64, le(0xd61f0200), leaves},
		{"blr x16", insn.ARM64, le(0xd63f0200), stays},
		{"blraa x0, x1", insn.ARM64, le(0xd73f0801), stays},
		{"braa x0, x1", insn.ARM64, le(0xd71f0801), leaves},
		{"ret x3", insn.ARM64, le(0xd65f0060), leaves},
		{"bl .+4096", insn.ARM64, le(0x94000400), stays},
		{"cbz x0, .+4096", insn.ARM64, le(0xb4008000), goesOn},
		{"brk #0x800", insn.ARM64, le(0xd4210000), stays},
		{"ebreak, long", insn.RISCV64, le(0x00100073), stays},
		{"eret", insn.ARM64, le(0xd69f03e0), goesOn},
		{"b .+4096", insn.ARM64, le(0x14000400), leaves},
		{"b .+16", insn.ARM64, le(0x14000004), stays},
		{"b .-4096", insn.ARM64, le(0x17fffc00), leaves},
		{"ret, long", insn.RISCV64, le(0x00008067), leaves},
		{"jr -1952(t1)", insn.RISCV64, le(0x86030067), leaves},
		{"jalr a0", insn.RISCV64, half(0x9502), stays},
		{"jr a0", insn.RISCV64, half(0x8502), leaves},
		{"ebreak", insn.RISCV64, half(0x9002), stays},
		{"add a0,a0,a1", insn.RISCV64, half(0x952e), goesOn},
		{"mv a0,a1", insn.RISCV64, half(0x852e), goesOn},
		{"j .+32, short", insn.RISCV64, half(0xa005), stays},
		{"j .-2, short", insn.RISCV64, half(0xbffd), stays},
		{"j .+128, short", insn.RISCV64, half(0xa041), leaves},
		{"beqz a0,.+128", insn.RISCV64, half(0xc141), goesOn},
		{"j .+4096", insn.RISCV64, le(0x0000106f), leaves},
		{"j .-4096", insn.RISCV64, le(0x800ff06f), leaves},
		{"j .+16", insn.RISCV64, le(0x0100006f), stays},
		{"jal .+4096", insn.RISCV64, le(0x000010ef), stays},
	} {
		if got := exitOf(tt.set, tt.code, 0x10010, symbolOf(0x10000, 64)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func symbolOf(addr, size uint64) kernel.Symbol {
	return kernel.Symbol{Name: "f", Addr: addr, Size: size, Func: true}
}
