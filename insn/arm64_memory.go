package insn

import "trapline/kernel/arch"

// access loads or stores one register of the size and in the way of the instruction. Vector
// registers are not known.
func (e arm64Exec) access(addr uint64) error {
	size, opc, rt := e.field(30, 2), e.field(22, 2), e.field(0, 5)
	n := 1 << size
	switch {
	case e.field(26, 1) == 1:
		return ErrUnknown
	case opc == 0:
		e.SetMem(addr, n, e.get(rt))
		return nil
	case size == 3 && opc == 2: // prfm
		return nil
	}
	v := e.Mem(addr, n)
	switch opc {
	case 2:
		v = signed(v, uint(8*n))
	case 3:
		v = unsigned(signed(v, uint(8*n)), 32)
	}
	if rt != 31 {
		e.SetReg(arch.ARM64X0+arch.Reg(rt), v)
	}
	return nil
}

func (e arm64Exec) base() uint64 { return e.getSP(e.field(5, 5)) }

func (e arm64Exec) scaled() error {
	return e.access(e.base() + uint64(e.field(10, 12))<<e.field(30, 2))
}

// offset is the signed one of the forms that are not scaled.
func (e arm64Exec) offset() uint64 { return signed(uint64(e.field(12, 9)), 9) }

func (e arm64Exec) unscaled() error { return e.access(e.base() + e.offset()) }

func (e arm64Exec) postIndexed() error {
	base, off := e.base(), e.offset()
	err := e.access(base)
	_ = e.setSP(e.field(5, 5), base+off)
	return err
}

func (e arm64Exec) preIndexed() error {
	addr := e.base() + e.offset()
	err := e.access(addr)
	_ = e.setSP(e.field(5, 5), addr)
	return err
}

func (e arm64Exec) registerOffset() error {
	shift := e.field(12, 1) * e.field(30, 2)
	return e.access(e.base() + e.extended(e.field(16, 5), e.field(13, 3), shift))
}

// pair is ldp, stp and ldpsw.
func (e arm64Exec) pair() error {
	opc, mode := e.field(30, 2), e.field(23, 2)
	n := 4 << (opc >> 1)
	if e.field(26, 1) == 1 {
		return ErrUnknown
	}
	off := signed(uint64(e.field(15, 7)), 7) * uint64(n)
	base := e.base()
	addr := base + off
	if mode == 1 { // post-indexed
		addr = base
	}
	for i, r := range []uint32{e.field(0, 5), e.field(10, 5)} {
		at := addr + uint64(i*n)
		if e.field(22, 1) == 0 {
			e.SetMem(at, n, e.get(r))
			continue
		}
		v := e.Mem(at, n)
		if opc == 1 {
			v = signed(v, 32)
		}
		if r != 31 {
			e.SetReg(arch.ARM64X0+arch.Reg(r), v)
		}
	}
	if mode&1 == 1 {
		return e.setSP(e.field(5, 5), base+off)
	}
	return nil
}

// atomic is ldadd, ldclr, ldeor, ldset and swp, of which those that drop the old value have
// names of their own.
func (e arm64Exec) atomic() error {
	n := 1 << e.field(30, 2)
	addr, b := e.base(), e.get(e.field(16, 5))
	old := e.Mem(addr, n)
	switch e.field(12, 4) {
	case 0:
		b = old + b
	case 1:
		b = old &^ b
	case 2:
		b = old ^ b
	case 3:
		b = old | b
	case 8:
	default:
		return ErrUnknown
	}
	e.SetMem(addr, n, b)
	if rt := e.field(0, 5); rt != 31 {
		e.SetReg(arch.ARM64X0+arch.Reg(rt), old)
	}
	return nil
}

// exclusive is a load or store of one register that is exclusive, ordered or both. Stores
// succeed.
func (e arm64Exec) exclusive() error {
	n, rt, addr := 1<<e.field(30, 2), e.field(0, 5), e.base()
	ordered := e.field(23, 1) == 1
	switch {
	case e.field(21, 1) == 1:
		return ErrUnknown // pairs, compare and swap
	case e.field(22, 1) == 1:
		if v := e.Mem(addr, n); rt != 31 {
			e.SetReg(arch.ARM64X0+arch.Reg(rt), v)
		}
		return nil
	}
	e.SetMem(addr, n, e.get(rt))
	if rs := e.field(16, 5); !ordered && rs != 31 {
		e.SetReg(arch.ARM64X0+arch.Reg(rs), 0)
	}
	return nil
}
