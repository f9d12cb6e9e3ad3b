package walk

import (
	"encoding/binary"
	"math/bits"

	"trapline/kernel/arch"
)

// An arm64 is an instruction under way.
type arm64 struct {
	*Walker
	x    uint32
	next uint64
}

// An armClass is the instructions whose bits under mask are value.
type armClass struct {
	mask, value uint32
	do          func(arm64) error
}

// armClasses are the instructions that a walk knows (Arm ARM, C4.1). The first that fits
// counts.
var armClasses = []armClass{
	{0xfffff01f, 0xd503201f, arm64.nothing}, // hints, among them paciasp
	{0xfffff01f, 0xd503301f, arm64.nothing}, // barriers
	{0xffc00000, 0xf9800000, arm64.nothing}, // prfm
	{0xfc000000, 0x94000000, arm64.call},
	{0xfffffc1f, 0xd63f0000, arm64.callReg},
	{0xfffffc1f, 0xd65f0000, arm64.ret},
	{0xfffffbff, 0xd65f0bff, arm64.ret}, // retaa, retab
	{0xfff00000, 0xd5300000, arm64.readSystem},
	{0xffffffe0, 0xd5184600, arm64.nothing}, // msr icc_pmr_el1: which interrupts there may be
	{0x1f000000, 0x10000000, arm64.address},
	{0x1f800000, 0x11000000, arm64.addImmediate},
	{0x1f800000, 0x12000000, arm64.logicImmediate},
	{0x1f800000, 0x12800000, arm64.moveWide},
	{0x1f800000, 0x13000000, arm64.bitfield},
	{0x1f000000, 0x0a000000, arm64.logicShifted},
	{0x1f200000, 0x0b000000, arm64.addShifted},
	{0x1fe00000, 0x0b200000, arm64.addExtended},
	{0x1fe00000, 0x1a800000, arm64.choose},
	{0x7fe00000, 0x1ac00000, arm64.twoRegs},
	{0x7fe00000, 0x1b000000, arm64.multiply},
	{0x3b000000, 0x39000000, arm64.scaled},
	{0x3b200c00, 0x38000000, arm64.unscaled},
	{0x3b200c00, 0x38000400, arm64.postIndexed},
	{0x3b200c00, 0x38000c00, arm64.preIndexed},
	{0x3b200c00, 0x38200800, arm64.registerOffset},
	{0x3e000000, 0x28000000, arm64.pair},
	{0x3f200c00, 0x38200000, arm64.atomic},
	{0x3f000000, 0x08000000, arm64.exclusive},
}

// doARM64 executes what is neither a jump nor a branch.
func doARM64(w *Walker, code []byte, next uint64) error {
	e := arm64{w, binary.LittleEndian.Uint32(code), next}
	for i := range armClasses {
		if c := &armClasses[i]; e.x&c.mask == c.value {
			return c.do(e)
		}
	}
	return ErrUnknown
}

// field is n bits of the instruction from bit at on.
func (e arm64) field(at, n uint) uint32 { return e.x >> at & (1<<n - 1) }

// width is the bits of the operands.
func (e arm64) width() uint { return 32 << e.field(31, 1) }

// get reads a register; 31 is zero.
func (e arm64) get(r uint32) uint64 {
	if r == 31 {
		return 0
	}
	return e.Reg(arch.ArmX0 + arch.Reg(r))
}

// getSP reads a register; 31 is the stack pointer.
func (e arm64) getSP(r uint32) uint64 { return e.Reg(arch.ArmX0 + arch.Reg(r)) }

// set writes as many bits of a register as the operation has; 31 is none.
func (e arm64) set(r uint32, v uint64) error {
	if r != 31 {
		e.SetReg(arch.ArmX0+arch.Reg(r), unsigned(v, e.width()))
	}
	return nil
}

func (e arm64) setSP(r uint32, v uint64) error {
	e.SetReg(arch.ArmX0+arch.Reg(r), v)
	return nil
}

func (e arm64) nothing() error { return nil }

func (e arm64) call() error {
	e.SetReg(arch.ArmLR, e.next)
	e.Walker.call(e.next - 4 + signed(uint64(e.field(0, 26)), 26)<<2)
	return nil
}

func (e arm64) callReg() error {
	to := e.get(e.field(5, 5))
	e.SetReg(arch.ArmLR, e.next)
	e.Walker.call(to)
	return nil
}

// ret goes where the register says; a signature is in bits that an address of the kernel
// has all set.
func (e arm64) ret() error {
	if e.field(10, 2) == 0 {
		e.SetReg(arch.ArmPC, e.get(e.field(5, 5)))
		return nil
	}
	e.SetReg(arch.ArmPC, e.Reg(arch.ArmLR)|0xffff<<48)
	return nil
}

// readSystem is mrs of the registers in which a kernel keeps what belongs to the CPU and to
// the thread.
func (e arm64) readSystem() error {
	rt := e.field(0, 5)
	switch e.field(5, 15) {
	case 1<<14 | 13<<7 | 4: // tpidr_el1 is 3, 0, c13, c0, 4
		return e.set(rt, e.Reg(arch.ArmTPIDR))
	case 1<<14 | 4<<7 | 1<<3: // sp_el0 is 3, 0, c4, c1, 0
		return e.set(rt, e.Reg(arch.ArmSP_EL0))
	}
	return ErrUnknown
}

// address is adr and adrp.
func (e arm64) address() error {
	imm := signed(uint64(e.field(5, 19)<<2|e.field(29, 2)), 21)
	pc := e.next - 4
	if e.field(31, 1) == 1 {
		imm, pc = imm<<12, pc&^0xfff
	}
	return e.setSP(e.field(0, 5), pc+imm)
}

func (e arm64) moveWide() error {
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
func (e arm64) bitfield() error {
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
func (e arm64) choose() error {
	if e.x>>29&1 == 1 {
		return ErrUnknown
	}
	rd, m := e.field(0, 5), e.get(e.field(16, 5))
	if armHolds(e.Reg(arch.ArmPSTATE), e.field(12, 4)) {
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

// armHolds reports whether a condition holds (Arm ARM, C1.2.4).
func armHolds(pstate uint64, cond uint32) bool {
	n, z, c, v := pstate>>31&1 == 1, pstate>>30&1 == 1, pstate>>29&1 == 1, pstate>>28&1 == 1
	held := [8]bool{z, c, n, v, c && !z, n == v, n == v && !z, true}[cond>>1]
	return held != (cond&1 == 1 && cond != 15)
}

// twoRegs is udiv, sdiv and the shifts by a register.
func (e arm64) twoRegs() error {
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
func (e arm64) multiply() error {
	v := e.get(e.field(5, 5)) * e.get(e.field(16, 5))
	if e.field(15, 1) == 1 {
		v = -v
	}
	return e.set(e.field(0, 5), e.get(e.field(10, 5))+v)
}

// logicImmediate is and, orr, eor and ands with a pattern of bits (Arm ARM, J1.1.3,
// DecodeBitMasks).
func (e arm64) logicImmediate() error {
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
