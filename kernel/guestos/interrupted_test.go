package guestos

import (
	"slices"
	"testing"

	"trapline/kernel/arch"
)

// An exception on riscv64 leaves its registers, the pc first, where the stack pointer of
// its handler begins, to which the frame pointer of that leads. The stack goes on by them: the
// interrupted function may have its return address nowhere else.
func TestRISCV64Interrupted(t *testing.T) {
	img := openImage(t, "testdata/linux-riscv64.elf")
	guest := detect(t, img)
	back, epc, outer := symbol(t, img, "handle_exception")+2, symbol(t, img, "normal")+2, symbol(t, img, "noinstr")+2
	handler := symbol(t, img, "forbidden")
	saved := func(pc, ra, s0 uint64) []uint64 {
		words := make([]uint64, 33)
		words[0], words[1], words[8] = pc, ra, s0
		return words
	}
	for _, tt := range []struct {
		name  string
		regs  fakeRegs
		words []uint64 // from stackAt up
		want  []uint64
	}{
		{"first instruction of the handler",
			fakeRegs{arch.RISCV64PC: handler, arch.RISCV64RA: back, arch.RISCV64SP: stackAt, arch.RISCV64S0: stackAt + 32},
			saved(epc, outer, 0), []uint64{handler, back, epc, outer}},
		{"further in",
			fakeRegs{arch.RISCV64PC: outer, arch.RISCV64RA: handler + 2, arch.RISCV64SP: stackAt, arch.RISCV64S0: stackAt + 16},
			append([]uint64{stackAt + 48, back}, saved(epc, outer, 0)...), []uint64{outer, handler + 2, back, epc, outer}},
		{"further in, from user mode, whose frame pointer looks like the kernel's",
			fakeRegs{arch.RISCV64PC: outer, arch.RISCV64RA: handler + 2, arch.RISCV64SP: stackAt, arch.RISCV64S0: stackAt + 16},
			append([]uint64{stackAt + 48, back}, saved(0x10000, outer, stackAt)...), []uint64{outer, handler + 2, back}},
		{"from user mode",
			fakeRegs{arch.RISCV64PC: handler, arch.RISCV64RA: back, arch.RISCV64SP: stackAt, arch.RISCV64S0: 0x7000},
			saved(0x10000, outer, stackAt), []uint64{handler, back}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.regs[arch.RISCV64PRIV] = 1
			pcs := make([]uint64, 8)
			n := guest.Stack(fakeMem{}.stack(stackAt, tt.words...), tt.regs, pcs)
			if !slices.Equal(pcs[:n], tt.want) {
				t.Errorf("got  %#x\nwant %#x", pcs[:n], tt.want)
			}
		})
	}
}

// On arm64 the entry makes a record in what it saves, with the interrupted pc. The caller of that
// may be in x30 alone. Where the record does not lie as in the kernels that are known, records are
// all there is.
func TestARM64Interrupted(t *testing.T) {
	img := openImage(t, "testdata/linux-arm64.elf")
	guest := detect(t, img)
	back, epc, outer := symbol(t, img, "el1h_64_irq")+4, symbol(t, img, "normal")+4, symbol(t, img, "noinstr")+4
	handler := symbol(t, img, "forbidden") + 4
	saved := func(at, pc uint64) []uint64 {
		words := make([]uint64, at/8+2)
		words[30], words[32], words[33] = outer, epc, 5 // EL1h
		return append(words[:at/8], 0, pc)
	}
	for _, tt := range []struct {
		name  string
		words []uint64
		next  uint64 // where the record lies in words
		want  []uint64
	}{
		{"as in Linux 6.1", saved(304, epc), 304, []uint64{outer, handler, back, epc, outer}},
		{"another layout", saved(320, epc), 320, []uint64{outer, handler, back, epc}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := fakeMem{}.stack(stackAt, stackAt+16+tt.next, back).stack(stackAt+16, tt.words...)
			regs := fakeRegs{arch.ARM64PC: outer, arch.ARM64FP: stackAt, arch.ARM64LR: handler, arch.ARM64SP: stackAt, arch.ARM64PSTATE: 5}
			pcs := make([]uint64, 8)
			n := guest.Stack(mem, regs, pcs)
			if !slices.Equal(pcs[:n], tt.want) {
				t.Errorf("got  %#x\nwant %#x", pcs[:n], tt.want)
			}
		})
	}
}

// The registers of user mode are in the record at the top of the thread's stack.
func TestSavedRegs(t *testing.T) {
	for _, tt := range []struct {
		isa      *isa
		words    map[int]uint64 // by index in the record
		reg      arch.Reg
		want     uint64
		fromUser bool
	}{
		{arm64, map[int]uint64{29: 0x7000, 33: 0x1000}, arch.ARM64FP, 0x7000, true},
		{arm64, map[int]uint64{32: 0x400000, 33: 0x1000}, arch.ARM64PC, 0x400000, true},
		{arm64, map[int]uint64{32: 0x400000, 33: 0x3c5}, arch.ARM64PC, 0x400000, false},
		{riscv64, map[int]uint64{0: 0x10000, 8: 0x7000, 32: 0x20}, arch.RISCV64S0, 0x7000, true},
		{riscv64, map[int]uint64{0: 0x10000, 32: 0x20}, arch.RISCV64PC, 0x10000, true},
		{riscv64, map[int]uint64{0: 0x10000, 32: 0x120}, arch.RISCV64PC, 0x10000, false},
	} {
		mem := fakeMem{}
		for i := range tt.isa.savedSize / 8 {
			mem[stackAt+uint64(8*i)] = tt.words[i]
		}
		l := &linux{isa: tt.isa}
		if got := l.savedUserMode(mem, stackAt); got != tt.fromUser {
			t.Errorf("%v: from user mode %v", tt.words, got)
		}
		if got := (&savedRegs{&l.reader, l.isa.savedRegs, mem, stackAt}).Reg(tt.reg); got != tt.want {
			t.Errorf("%v: register %d is %#x, want %#x", tt.words, tt.reg, got, tt.want)
		}
	}
	if arm64SavedReg(arch.ARM64TTBR0) >= 0 || riscv64SavedReg(arch.RISCV64X0) >= 0 || riscv64SavedReg(arch.RISCV64SATP) >= 0 {
		t.Error("a register that no record has")
	}
}
