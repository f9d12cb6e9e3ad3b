package insn

// riscv64Frame knows the loads and stores of s0 and ra relative to sp (Unprivileged ISA, 2.6), and
// the compressed ones by what they stand for.
func riscv64Frame(code []byte) Frame {
	n, err := riscv64Length(code)
	if err != nil {
		return Frame{}
	}
	w := riscv64Word(code, n)
	if n == 2 {
		w = expand(uint16(w))
	}
	return Frame{
		StoresLink: w&0x01fff07f == 0x00113023, // sd ra,n(sp)
		SavesFP:    w&0x01fff07f == 0x00813023, // sd s0,n(sp)
		SetsFP:     w&0x000fffff == 0x00010413, // addi s0,sp,n
		RestoresFP: w&0x000fffff == 0x00013403, // ld s0,n(sp)
		LoadsLink:  w&0x000fffff == 0x00013083, // ld ra,n(sp)
		LinkAt:     uint64(signedField(w, 20, 12)),
	}
}

// riscv64Class: see Unprivileged ISA, 24.1.
func riscv64Class(code []byte) Class {
	n, err := riscv64Length(code)
	if err != nil {
		return Ordinary
	}
	w := riscv64Word(code, n)
	switch {
	case n == 2 && w == 0x9002, w == 0x00100073: // c.ebreak, ebreak
		return Breakpoint
	case n == 2 && w == 0x0001, w == 0x00000013:
		return Nop
	case n == 2:
		return Ordinary
	case w&0x7f == 0x17: // auipc
		return Address
	case w&0x7f == 0x73:
		return System
	case w&0x7f == 0x2f && w>>27 == 2: // lr
		return LoadExclusive
	case w&0x7f == 0x2f && w>>27 == 3: // sc
		return StoreExclusive
	}
	return Ordinary
}
