package insn

// arm64Frame returns what an instruction does to a frame record (AAPCS64, 6.4.6), in which x29 and x30
// are stored and loaded together.
func arm64Frame(code []byte) Frame {
	if len(code) < 4 {
		return Frame{}
	}
	w := arm64Word(code)
	store, load := w&0xfe407fff == 0xa8007bfd, w&0xfe407fff == 0xa8407bfd // stp, ldp x29, x30, [sp]
	return Frame{
		Grows:      w&0xffc003e0 == 0xa98003e0 || w&0xff8003ff == 0xd10003ff, // stp x, x, [sp, #n]!; sub sp, sp, #n
		SavesFP:    store,
		StoresLink: store,
		SetsFP:     w&0xffc003ff == 0x910003fd, // add x29, sp, #n
		RestoresFP: load,
	}
}

// arm64Class returns the class of an instruction (Arm ARM, C4.1).
func arm64Class(code []byte) Class {
	if len(code) < 4 {
		return Ordinary
	}
	switch w := arm64Word(code); {
	case w&0xffe0001f == 0xd4200000:
		return Breakpoint
	case w == 0xd503201f:
		return Nop
	case w&0xffffff3f == 0xd503241f: // bti
		return Landing
	case w&0x1f000000 == 0x10000000: // adr, adrp
		return Address
	case w&0x3fe00000 == 0x08400000, w&0xbfe00000 == 0x88600000: // ldxr, ldaxr and their like
		return LoadExclusive
	case w&0x3fe00000 == 0x08000000, w&0xbfe00000 == 0x88200000: // stxr, stlxr and their like
		return StoreExclusive
	}
	return Ordinary
}
