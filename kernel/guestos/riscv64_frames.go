package guestos

import (
	"trapline/kernel"
	"trapline/kernel/arch"
)

// riscv64Frames follows frame pointers (RISC-V ELF psABI, 2.3): before the address in s0
// lie the caller's s0 and, before that in order, the return address: a function that calls
// no other stores only s0.
func riscv64Frames(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int {
	if riscv64User(regs) {
		return 0
	}
	return f.linked(&riscv64Links, mem, regs, pcs)
}

const (
	before8  = ^uint64(8) + 1
	before16 = ^uint64(16) + 1
)

var riscv64Links = linkISA{
	fp: arch.RiscvS0, link: arch.RiscvRA,
	full:       record{next: before16, ret: before8},
	leaf:       record{next: before8},
	length:     riscv64Length,
	storesLink: riscv64StoresRA,
	makesFrame: riscv64SetsS0,
	dropsFrame: riscv64LoadsS0,
	exit:       riscv64Exit,
	loadsLink:  riscv64LoadsRA,
	entries:    []string{"handle_exception", "ret_from_exception"},
	saved:      riscv64Saved,
	savedReg:   riscv64SavedReg,
}

func riscv64Length(code []byte) int {
	switch {
	case len(code) >= 2 && code[0]&3 != 3:
		return 2
	case len(code) >= 4:
		return 4
	}
	return 0
}

// riscv64StoresRA tells sd ra,n(sp) and c.sdsp ra,n.
func riscv64StoresRA(code []byte) bool {
	if len(code) == 2 {
		return word(code)&0xe07f == 0xe006
	}
	return word(code)&0x01fff07f == 0x00113023
}

// riscv64SetsS0 tells addi s0,sp,n and c.addi4spn s0,sp,n.
func riscv64SetsS0(code []byte) bool {
	if len(code) == 2 {
		return word(code)&0xe01f == 0x0000 && word(code) != 0
	}
	return word(code)&0x000fffff == 0x00010413
}

// riscv64LoadsS0 tells ld s0,n(sp) and c.ldsp s0,n.
func riscv64LoadsS0(code []byte) bool {
	if len(code) == 2 {
		return word(code)&0xef83 == 0x6402
	}
	return word(code)&0x000fffff == 0x00013403
}

// riscv64LoadsRA tells ld ra,n(sp) and c.ldsp ra,n (Unprivileged ISA, 16.3).
func riscv64LoadsRA(code []byte) (off uint64, ok bool) {
	w := word(code)
	if len(code) == 2 {
		return uint64(w>>12&1<<5 | w>>5&3<<3 | w>>2&7<<6), w&0xef83 == 0x6082
	}
	return uint64(int64(int32(w)) >> 20), w&0x000fffff == 0x00013083
}

// riscv64Exit tells jumps: they are calls if they save a return address.
func riscv64Exit(code []byte, at uint64, fn kernel.Symbol) exit {
	w := word(code)
	if len(code) == 2 {
		switch {
		case w == 0x9002: // c.ebreak
			return stays
		case w&0xf07f == 0x8002 && w&0xf80 != 0: // c.jr
			return leaves
		case w&0xf07f == 0x9002 && w&0xf80 != 0: // c.jalr
			return stays
		case w&0xe003 == 0xa001: // c.j
			return jump(at+cjOffset(w), fn)
		}
		return goesOn
	}
	switch rd := w >> 7 & 31; {
	case w&0x7f == 0x6f && rd == 0: // j
		imm := w>>31<<20 | w>>12&0xff<<12 | w>>20&1<<11 | w>>21&0x3ff<<1
		return jump(at+uint64(int64(int32(imm<<11)>>11)), fn)
	case w&0x7f == 0x6f, w&0x707f == 0x67 && rd != 0, w == 0x00100073: // jal, jalr, ebreak
		return stays
	case w&0x707f == 0x67:
		return leaves
	}
	return goesOn
}

// cjOffset is the offset of c.j (Unprivileged ISA, 16.4).
func cjOffset(w uint32) uint64 {
	imm := w>>12&1<<11 | w>>8&1<<10 | w>>9&3<<8 | w>>6&1<<7 | w>>7&1<<6 | w>>2&1<<5 | w>>11&1<<4 | w>>3&7<<1
	return uint64(int64(int32(imm<<20) >> 20))
}

// riscv64Saved: the entry makes no record, so the frame pointer of what it calls leads to the
// stack pointer it has called with.
func riscv64Saved(_ *frames, _ Mem, fp, _ uint64) (at uint64, ok bool) { return fp, true }
