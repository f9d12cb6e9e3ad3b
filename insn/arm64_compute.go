package insn

import "trapline/kernel/arch"

// logic is and, orr, eor and ands of the first register and b.
func (e arm64Exec) logic(b uint64, immediate bool) error {
	rd, a := e.field(0, 5), e.get(e.field(5, 5))
	op := e.field(29, 2)
	v := [4]uint64{a & b, a | b, a ^ b, a & b}[op]
	if op == 3 {
		v = unsigned(v, e.width())
		e.arm64Flags(v, false, false)
		return e.set(rd, v)
	}
	if immediate && rd == 31 {
		return e.setSP(rd, v)
	}
	return e.set(rd, v)
}

// arm64Flags sets the flags that a result has, and carry and overflow.
func (e arm64Exec) arm64Flags(v uint64, carry, overflow bool) {
	f := e.Reg(arch.ARM64PSTATE) &^ (0xf << 28)
	f |= v >> (e.width() - 1) & 1 << 31
	f |= boolean(unsigned(v, e.width()) == 0) << 30
	f |= boolean(carry)<<29 | boolean(overflow)<<28
	e.SetReg(arch.ARM64PSTATE, f)
}

// shifted is a register shifted by a constant.
func (e arm64Exec) shifted() uint64 {
	w, n := e.width(), e.field(10, 6)
	v := unsigned(e.get(e.field(16, 5)), w)
	switch e.field(22, 2) {
	case 0:
		return v << n
	case 1:
		return v >> n
	case 2:
		return uint64(int64(signed(v, w)) >> n)
	}
	n &= uint32(w - 1)
	return v>>n | v<<(uint32(w)-n)
}

func (e arm64Exec) logicShifted() error {
	b := e.shifted()
	if e.field(21, 1) == 1 {
		b = ^b
	}
	return e.logic(b, false)
}

// extended is some bits of a register, with or without their sign.
func (e arm64Exec) extended(r, how, shift uint32) uint64 {
	v, n := e.get(r), uint(8)<<(how&3)
	if how&4 == 0 {
		return unsigned(v, n) << shift
	}
	return signed(v, n) << shift
}

// plus is a + b or a - b, with flags if they are to be set.
func (e arm64Exec) plus(a, b uint64, sp bool) error {
	w, rd := e.width(), e.field(0, 5)
	a, b = unsigned(a, w), unsigned(b, w)
	v := unsigned(a+b, w)
	carry, overflow := v < a, (a^v)&(b^v)>>(w-1)&1 == 1
	if e.field(30, 1) == 1 {
		v = unsigned(a-b, w)
		carry, overflow = a >= b, ((a^b)&(a^v))>>(w-1)&1 == 1
	}
	switch {
	case e.field(29, 1) == 1:
		e.arm64Flags(v, carry, overflow)
	case sp && rd == 31:
		return e.setSP(rd, v)
	}
	return e.set(rd, v)
}

func (e arm64Exec) addImmediate() error {
	return e.plus(e.getSP(e.field(5, 5)), uint64(e.field(10, 12))<<(12*e.field(22, 1)), true)
}

func (e arm64Exec) addShifted() error { return e.plus(e.get(e.field(5, 5)), e.shifted(), false) }

func (e arm64Exec) addExtended() error {
	return e.plus(e.getSP(e.field(5, 5)), e.extended(e.field(16, 5), e.field(13, 3), e.field(10, 3)), true)
}
