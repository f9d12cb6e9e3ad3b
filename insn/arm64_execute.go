package insn

import (
	"math/bits"

	"trapline/kernel/arch"
)

// An arm64Exec is an instruction under way.
type arm64Exec struct {
	Machine
	x uint32
}

// An arm64Op executes the instructions whose bits under mask are value.
type arm64Op struct {
	mask, value uint32
	do          func(arm64Exec) error
}

// arm64Ops are the instructions that compute (Arm ARM, C4.1). The first that fits
// counts.
var arm64Ops = []arm64Op{
	{0xfffff01f, 0xd503201f, arm64Exec.nothing},          // hints, among them paciasp
	{0xfffff01f, 0xd503301f, arm64Exec.nothing},          // barriers
	{0xffc00000, 0xf9800000, arm64Exec.nothing},          // prfm
	{0xfffffbff, 0xd65f0bff, arm64Exec.retAuthenticated}, // retaa, retab
	{0xfff00000, 0xd5300000, arm64Exec.readSystem},
	{0xffffffe0, 0xd5184600, arm64Exec.nothing}, // msr icc_pmr_el1: which interrupts there may be
	{0x1f800000, 0x11000000, arm64Exec.addImmediate},
	{0x1f800000, 0x12000000, arm64Exec.logicImmediate},
	{0x1f800000, 0x12800000, arm64Exec.moveWide},
	{0x1f800000, 0x13000000, arm64Exec.bitfield},
	{0x1f000000, 0x0a000000, arm64Exec.logicShifted},
	{0x1f200000, 0x0b000000, arm64Exec.addShifted},
	{0x1fe00000, 0x0b200000, arm64Exec.addExtended},
	{0x1fe00000, 0x1a800000, arm64Exec.choose},
	{0x7fe00000, 0x1ac00000, arm64Exec.twoRegs},
	{0x7fe00000, 0x1b000000, arm64Exec.multiply},
	{0x3b000000, 0x39000000, arm64Exec.scaled},
	{0x3b200c00, 0x38000000, arm64Exec.unscaled},
	{0x3b200c00, 0x38000400, arm64Exec.postIndexed},
	{0x3b200c00, 0x38000c00, arm64Exec.preIndexed},
	{0x3b200c00, 0x38200800, arm64Exec.registerOffset},
	{0x3e000000, 0x28000000, arm64Exec.pair},
	{0x3f200c00, 0x38200000, arm64Exec.atomic},
	{0x3f000000, 0x08000000, arm64Exec.exclusive},
}

func arm64Execute(m Machine, code []byte, pc uint64) error {
	e := arm64Exec{m, arm64Word(code)}
	if do := arm64Emulation(e.x, pc); do.Op != arch.OpNone {
		m.SetReg(arch.ARM64PC, pc)
		do.Run(arch.ARM64, len(code), m)
		return nil
	}
	m.SetReg(arch.ARM64PC, pc+uint64(len(code)))
	for i := range arm64Ops {
		if c := &arm64Ops[i]; e.x&c.mask == c.value {
			return c.do(e)
		}
	}
	return ErrUnknown
}

// field is n bits of the instruction from bit at on.
func (e arm64Exec) field(at, n uint) uint32 { return e.x >> at & (1<<n - 1) }

// width is the bits of the operands.
func (e arm64Exec) width() uint { return 32 << e.field(31, 1) }

// get reads a register; 31 is zero.
func (e arm64Exec) get(r uint32) uint64 {
	if r == 31 {
		return 0
	}
	return e.Reg(arch.ARM64X0 + arch.Reg(r))
}

// getSP reads a register; 31 is the stack pointer.
func (e arm64Exec) getSP(r uint32) uint64 { return e.Reg(arch.ARM64X0 + arch.Reg(r)) }

// set writes as many bits of a register as the operation has; 31 is none.
func (e arm64Exec) set(r uint32, v uint64) error {
	if r != 31 {
		e.SetReg(arch.ARM64X0+arch.Reg(r), unsigned(v, e.width()))
	}
	return nil
}

func (e arm64Exec) setSP(r uint32, v uint64) error {
	e.SetReg(arch.ARM64X0+arch.Reg(r), v)
	return nil
}

func (e arm64Exec) nothing() error { return nil }

// retAuthenticated goes where the link register says; a signature is in bits that an address of
// the kernel has all set.
func (e arm64Exec) retAuthenticated() error {
	e.SetReg(arch.ARM64PC, e.Reg(arch.ARM64LR)|0xffff<<48)
	return nil
}

// readSystem is mrs of the registers in which a kernel keeps what belongs to the CPU and to
// the thread, and of how its addresses are made.
func (e arm64Exec) readSystem() error {
	rt := e.field(0, 5)
	switch e.field(5, 15) {
	case 1<<14 | 13<<7 | 4: // tpidr_el1 is 3, 0, c13, c0, 4
		return e.set(rt, e.Reg(arch.ARM64TPIDR))
	case 1<<14 | 4<<7 | 1<<3: // sp_el0 is 3, 0, c4, c1, 0
		return e.set(rt, e.Reg(arch.ARM64SP_EL0))
	case 1<<14 | 2<<7 | 2: // tcr_el1 is 3, 0, c2, c0, 2
		return e.set(rt, e.Reg(arch.ARM64TCR))
	}
	return ErrUnknown
}

func (e arm64Exec) moveWide() error {
	rd, v := e.field(0, 5), uint64(e.field(5, 16))
	at := 16 * e.field(21, 2)
	switch e.field(29, 2) {
	case 0: // movn
		return e.set(rd, ^(v << at))
	case 2: // movz
		return e.set(rd, v<<at)
	case 3: // movk
		return e.set(rd, e.get(rd)&^(0xffff<<at)|v<<at)
	}
	return ErrUnknown
}

// bitfield is sbfm, bfm and ubfm, with their many names.
func (e arm64Exec) bitfield() error {
	r, s, width := e.field(16, 6), e.field(10, 6), uint32(e.width())
	rd, v := e.field(0, 5), unsigned(e.get(e.field(5, 5)), uint(width))
	n, at := s-r+1, uint32(0) // bits, and where they go
	if s < r {
		n, at = s+1, width-r
	} else {
		v >>= r
	}
	out := unsigned(v, uint(n))
	switch e.field(29, 2) {
	case 0:
		out = signed(out, uint(n)) << at
	case 1:
		mask := unsigned(^uint64(0), uint(n)) << at
		out = e.get(rd)&^mask | out<<at
	case 2:
		out <<= at
	default:
		return ErrUnknown
	}
	return e.set(rd, out)
}

// choose is csel, csinc, csinv and csneg.
func (e arm64Exec) choose() error {
	if e.x>>29&1 == 1 {
		return ErrUnknown
	}
	rd, m := e.field(0, 5), e.get(e.field(16, 5))
	if arch.FlagsHold(e.Reg(arch.ARM64PSTATE)>>28, uint8(e.field(12, 4))) {
		return e.set(rd, e.get(e.field(5, 5)))
	}
	switch e.field(30, 1)<<1 | e.field(10, 2)&1 {
	case 1:
		m++
	case 2:
		m = ^m
	case 3:
		m = -m
	}
	return e.set(rd, m)
}

// twoRegs is udiv, sdiv and the shifts by a register.
func (e arm64Exec) twoRegs() error {
	w := e.width()
	a, b := unsigned(e.get(e.field(5, 5)), w), unsigned(e.get(e.field(16, 5)), w)
	n := b & uint64(w-1)
	rd := e.field(0, 5)
	switch e.field(10, 6) {
	case 2:
		if b == 0 {
			return e.set(rd, 0)
		}
		return e.set(rd, a/b)
	case 3:
		if b == 0 {
			return e.set(rd, 0)
		}
		return e.set(rd, uint64(int64(signed(a, w))/int64(signed(b, w))))
	case 8:
		return e.set(rd, a<<n)
	case 9:
		return e.set(rd, a>>n)
	case 10:
		return e.set(rd, uint64(int64(signed(a, w))>>n))
	}
	return ErrUnknown
}

// multiply is madd and msub.
func (e arm64Exec) multiply() error {
	v := e.get(e.field(5, 5)) * e.get(e.field(16, 5))
	if e.field(15, 1) == 1 {
		v = -v
	}
	return e.set(e.field(0, 5), e.get(e.field(10, 5))+v)
}

// logicImmediate is and, orr, eor and ands with a pattern of bits (Arm ARM, J1.1.3,
// DecodeBitMasks).
func (e arm64Exec) logicImmediate() error {
	n, r, s := e.field(22, 1), uint(e.field(16, 6)), uint(e.field(10, 6))
	length := bits.Len32(n<<6|^uint32(s)&0x3f) - 1
	if length < 1 {
		return ErrUnknown
	}
	size := uint(1) << length
	ones := unsigned(^uint64(0), s&(size-1)+1)
	r &= size - 1
	element := ones
	if r != 0 {
		element = unsigned(ones>>r|ones<<(size-r), size)
	}
	mask := uint64(0)
	for at := uint(0); at < 64; at += size {
		mask |= element << at
	}
	return e.logic(mask, true)
}
