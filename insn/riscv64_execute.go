package insn

import (
	"math/bits"

	"trapline/kernel/arch"
)

// riscv64Execute: see Unprivileged ISA, 2, 13 and 34. A compressed instruction is executed as the
// one that it stands for.
func riscv64Execute(m Machine, code []byte, pc uint64) error {
	if do := RISCV64Emulation(code); do.Op != arch.OpNone {
		m.SetReg(arch.RISCV64PC, pc)
		do.Run(arch.RISCV64, len(code), m)
		return nil
	}
	m.SetReg(arch.RISCV64PC, pc+uint64(len(code)))
	x := riscv64Word(code, len(code))
	if len(code) == 2 {
		x = expand(uint16(x))
	}
	return riscv64Compute4(m, x)
}

// riscv64Compute4 executes an instruction of four bytes that is neither a jump nor a call.
func riscv64Compute4(m Machine, x uint32) error {
	rd, rs1, rs2 := arch.Reg(x>>7&31), arch.Reg(x>>15&31), arch.Reg(x>>20&31)
	a, b := riscv64Value(m, rs1), riscv64Value(m, rs2)
	imm := signed(uint64(x>>20), 12)
	set := func(v uint64) error {
		if rd != 0 {
			m.SetReg(rd, v)
		}
		return nil
	}
	switch f3 := x >> 12 & 7; x & 0x7f {
	case 0x37: // lui
		return set(signed(uint64(x&^0xfff), 32))
	case 0x03: // loads
		n := 1 << (f3 & 3)
		v := m.Mem(a+imm, n)
		if f3 < 4 {
			v = signed(v, uint(8*n))
		}
		return set(v)
	case 0x23: // stores
		m.SetMem(a+signed(uint64(x>>25<<5|x>>7&31), 12), 1<<f3, b)
		return nil
	case 0x13:
		return set(riscv64Compute(f3, f3 == 5 && x>>30&1 == 1, a, riscv64Shift(f3, imm)))
	case 0x1b:
		return set(riscv64Compute32(f3, f3 == 5 && x>>30&1 == 1, a, riscv64Shift(f3, imm)))
	case 0x33, 0x3b:
		v, ok := riscv64Regs(x, f3, a, b)
		if !ok {
			return ErrUnknown
		}
		return set(v)
	case 0x0f: // fence
		return nil
	case 0x2f:
		return riscv64Atomic(m, x, a, b, set)
	case 0x73:
		return riscv64CSR(m, x, a, set)
	}
	return ErrUnknown
}

// riscv64CSRs are those that kernels read and write wherever they are: interrupts off and on, and what
// belongs to the CPU.
var riscv64CSRs = map[uint32]arch.Reg{0x100: arch.RISCV64SSTATUS, 0x140: arch.RISCV64SSCRATCH}

// riscv64CSR is csrrw, csrrs, csrrc and those with an immediate (Unprivileged ISA, 6.1).
func riscv64CSR(m Machine, x uint32, a uint64, set func(uint64) error) error {
	r, known := riscv64CSRs[x>>20]
	f3, from := x>>12&7, x>>15&31
	if !known || f3&3 == 0 {
		return ErrUnknown
	}
	if f3 >= 4 {
		a = uint64(from)
	}
	old := m.Reg(r)
	switch f3 & 3 {
	case 1:
		m.SetReg(r, a)
	case 2:
		m.SetReg(r, old|a)
	case 3:
		m.SetReg(r, old&^a)
	}
	return set(old)
}

// riscv64Value is a general register; x0 is 0.
func riscv64Value(m Machine, r arch.Reg) uint64 {
	if r == 0 {
		return 0
	}
	return m.Reg(r)
}

// riscv64Shift is the immediate of an operation: of a shift, the amount alone.
func riscv64Shift(f3 uint32, imm uint64) uint64 {
	if f3 == 1 || f3 == 5 {
		return imm & 63
	}
	return imm
}

// riscv64Regs computes with two registers.
func riscv64Regs(x, f3 uint32, a, b uint64) (uint64, bool) {
	wide := x&0x7f == 0x33
	switch x >> 25 {
	case 0x00, 0x20:
		alt := x>>30&1 == 1
		if alt && f3 == 0 {
			b, alt = -b, false
		}
		if wide {
			return riscv64Compute(f3, alt, a, b), true
		}
		return riscv64Compute32(f3, alt, a, b), true
	case 0x01:
		return riscv64Multiply(wide, f3, a, b)
	}
	return 0, false
}

// riscv64Compute is an operation by its number; alt makes a shift arithmetic.
func riscv64Compute(f3 uint32, alt bool, a, b uint64) uint64 {
	switch f3 {
	case 0:
		return a + b
	case 1:
		return a << (b & 63)
	case 2:
		return boolean(int64(a) < int64(b))
	case 3:
		return boolean(a < b)
	case 4:
		return a ^ b
	case 5:
		if alt {
			return uint64(int64(a) >> (b & 63))
		}
		return a >> (b & 63)
	case 6:
		return a | b
	}
	return a & b
}

// riscv64Compute32 is one on 32 bits.
func riscv64Compute32(f3 uint32, alt bool, a, b uint64) uint64 {
	switch {
	case f3 == 5 && alt:
		a = signed(a, 32)
	case f3 == 5:
		a = unsigned(a, 32)
	}
	if f3 == 1 || f3 == 5 {
		b &= 31
	}
	return signed(riscv64Compute(f3, alt, a, b), 32)
}

// riscv64Multiply is what the extension M has. Results for a divisor 0 are as specified
// (Unprivileged ISA, 13.2).
func riscv64Multiply(wide bool, f3 uint32, a, b uint64) (uint64, bool) {
	if !wide {
		if f3 == 5 || f3 == 7 {
			a, b = unsigned(a, 32), unsigned(b, 32)
		} else {
			a, b = signed(a, 32), signed(b, 32)
		}
		v, ok := riscv64Multiply(true, f3, a, b)
		return signed(v, 32), ok && (f3 == 0 || f3 >= 4)
	}
	switch f3 {
	case 0:
		return a * b, true
	case 3:
		hi, _ := bits.Mul64(a, b)
		return hi, true
	case 4, 6:
		return riscv64Divide(f3 == 6, a, b), true
	case 5, 7:
		return riscv64DivideUnsigned(f3 == 7, a, b), true
	}
	return 0, false
}

func riscv64Divide(rest bool, a, b uint64) uint64 {
	switch {
	case b == 0 && rest:
		return a
	case b == 0:
		return ^uint64(0)
	case rest:
		return uint64(int64(a) % int64(b))
	}
	return uint64(int64(a) / int64(b))
}

func riscv64DivideUnsigned(rest bool, a, b uint64) uint64 {
	switch {
	case b == 0 && rest:
		return a
	case b == 0:
		return ^uint64(0)
	case rest:
		return a % b
	}
	return a / b
}

// riscv64Atomic is a read-modify-write: add, swap, and, or, xor.
func riscv64Atomic(m Machine, x uint32, addr, b uint64, set func(uint64) error) error {
	n := 1 << (x >> 12 & 7)
	old := signed(m.Mem(addr, n), uint(8*n))
	v := uint64(0)
	switch x >> 27 {
	case 0x00:
		v = old + b
	case 0x01:
		v = b
	case 0x04:
		v = old ^ b
	case 0x08:
		v = old | b
	case 0x0c:
		v = old & b
	default:
		return ErrUnknown
	}
	m.SetMem(addr, n, v)
	return set(old)
}
