package insn

import (
	"math/bits"

	"trapline/kernel/arch"
)

// flags sets the flags that a result has, and carry and overflow.
func (e amd64Exec) flags(result uint64, width uint, carry, overflow bool) {
	f := e.Reg(arch.RFLAGS) &^ allFlags
	set := func(flag uint64, on bool) {
		if on {
			f |= flag
		}
	}
	set(carryFlag, carry)
	set(overflowFlag, overflow)
	set(zeroFlag, unsigned(result, width) == 0)
	set(signFlag, result>>(width-1)&1 == 1)
	set(parityFlag, bits.OnesCount8(uint8(result))&1 == 0)
	e.SetReg(arch.RFLAGS, f)
}

// sum adds b to a, and sets the flags.
func (e amd64Exec) sum(a, b uint64, width uint) uint64 {
	r := unsigned(a+b, width)
	e.flags(r, width, r < a, (a^r)&(b^r)>>(width-1)&1 == 1)
	return r
}

// difference subtracts b from a, and sets the flags.
func (e amd64Exec) difference(a, b uint64, width uint) uint64 {
	r := unsigned(a-b, width)
	e.flags(r, width, a < b, ((a^b)&(a^r))>>(width-1)&1 == 1)
	return r
}

func (e amd64Exec) add() error {
	e.set(0, e.sum(e.get(0), e.get(1), e.width(0)))
	return nil
}

func (e amd64Exec) sub() error {
	e.set(0, e.difference(e.get(0), e.get(1), e.width(0)))
	return nil
}

func (e amd64Exec) compare() error {
	e.difference(e.get(0), e.get(1), e.width(0))
	return nil
}

// keepCarry does something that leaves the carry flag as it is.
func (e amd64Exec) keepCarry(do func()) {
	carry := e.Reg(arch.RFLAGS) & carryFlag
	do()
	e.SetReg(arch.RFLAGS, e.Reg(arch.RFLAGS)&^carryFlag|carry)
}

func (e amd64Exec) increment() error {
	e.keepCarry(func() { e.set(0, e.sum(e.get(0), 1, e.width(0))) })
	return nil
}

func (e amd64Exec) decrement() error {
	e.keepCarry(func() { e.set(0, e.difference(e.get(0), 1, e.width(0))) })
	return nil
}

func (e amd64Exec) negate() error {
	e.set(0, e.difference(0, e.get(0), e.width(0)))
	return nil
}

func (e amd64Exec) not() error {
	e.set(0, ^e.get(0))
	return nil
}

// logic is and, or and xor.
func logic(of func(a, b uint64) uint64) func(amd64Exec) error {
	return func(e amd64Exec) error {
		r := of(e.get(0), e.get(1))
		e.flags(r, e.width(0), false, false)
		e.set(0, r)
		return nil
	}
}

func (e amd64Exec) test() error {
	e.flags(e.get(0)&e.get(1), e.width(0), false, false)
	return nil
}

// shift is shl, shr and sar. Carry and overflow are not kept: compilers do not look at
// them.
func shift(of func(v, n uint64, width uint) uint64) func(amd64Exec) error {
	return func(e amd64Exec) error {
		width, n := e.width(0), uint64(1)
		if e.x.Args[1] != nil {
			n = e.get(1)
		}
		if n &= uint64(max(width, 32) - 1); n == 0 {
			e.set(0, e.get(0))
			return nil
		}
		r := of(e.get(0), n, width)
		e.flags(r, width, false, false)
		e.set(0, r)
		return nil
	}
}

// multiply is imul with two or three operands; its flags are not kept.
func (e amd64Exec) multiply() error {
	switch {
	case e.x.Args[1] == nil:
		return ErrUnknown
	case e.x.Args[2] == nil:
		e.set(0, e.get(0)*e.get(1))
	default:
		e.set(0, e.get(1)*e.get(2))
	}
	return nil
}

// bitTest is bt. In memory the bit may be beyond the operand (SDM vol. 2, 3.1.1.9).
func (e amd64Exec) bitTest() error {
	width := uint64(e.width(0))
	n := e.get(1)
	v := uint64(0)
	if m, ok := e.memory(); ok && !e.immediate(1) {
		v = e.Mem(m+uint64(int64(signed(n, e.width(1)))>>3), 1) >> (n & 7)
	} else {
		v = e.get(0) >> (n & (width - 1))
	}
	e.SetReg(arch.RFLAGS, e.Reg(arch.RFLAGS)&^carryFlag|v&1)
	return nil
}

// divide is div of 32 and 64 bits, where the dividend's upper half is 0.
func (e amd64Exec) divide() error {
	width, by := e.width(0), e.get(0)
	if width < 32 || by == 0 || unsigned(e.Reg(arch.RDX), width) != 0 {
		return ErrUnknown
	}
	a := unsigned(e.Reg(arch.RAX), width)
	e.SetReg(arch.RAX, a/by)
	e.SetReg(arch.RDX, a%by)
	return nil
}

// divideSigned is idiv of 32 and 64 bits, where the dividend's upper half is its sign.
func (e amd64Exec) divideSigned() error {
	width := e.width(0)
	a, by := int64(signed(e.Reg(arch.RAX), width)), int64(signed(e.get(0), width))
	if width < 32 || by == 0 || unsigned(e.Reg(arch.RDX), width) != unsigned(uint64(a>>63), width) {
		return ErrUnknown
	}
	e.SetReg(arch.RAX, unsigned(uint64(a/by), width))
	e.SetReg(arch.RDX, unsigned(uint64(a%by), width))
	return nil
}
