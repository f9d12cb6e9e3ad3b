package walk

import (
	"encoding/binary"
	"math/bits"

	"trapline/kernel/arch"
)

// doRISCV64 executes what is neither a jump nor a branch (Unprivileged ISA, 2, 13 and 34). A
// compressed instruction is executed as the one that it stands for.
func doRISCV64(w *Walker, code []byte, next uint64) error {
	pc := next - uint64(len(code))
	var x uint32
	if len(code) == 2 {
		if x = expand(binary.LittleEndian.Uint16(code)); x == 0 {
			return ErrUnknown
		}
	} else {
		x = binary.LittleEndian.Uint32(code)
	}
	rd, rs1, rs2 := arch.Reg(x>>7&31), arch.Reg(x>>15&31), arch.Reg(x>>20&31)
	a, b := riscvReg(w, rs1), riscvReg(w, rs2)
	imm := signed(uint64(x>>20), 12)
	set := func(v uint64) error {
		if rd != 0 {
			w.SetReg(rd, v)
		}
		return nil
	}
	switch f3 := x >> 12 & 7; x & 0x7f {
	case 0x37: // lui
		return set(signed(uint64(x&^0xfff), 32))
	case 0x17: // auipc
		return set(pc + signed(uint64(x&^0xfff), 32))
	case 0x6f: // jal, a call
		w.call(pc + riscvJump(x))
		return set(next)
	case 0x67: // jalr, a call or a return
		w.call((a + imm) &^ 1)
		w.Called = rd == arch.RiscvRA
		return set(next)
	case 0x03: // loads
		n := 1 << (f3 & 3)
		v := w.Mem(a+imm, n)
		if f3 < 4 {
			v = signed(v, uint(8*n))
		}
		return set(v)
	case 0x23: // stores
		w.setMem(a+signed(uint64(x>>25<<5|x>>7&31), 12), 1<<f3, b)
		return nil
	case 0x13:
		return set(riscvCompute(f3, f3 == 5 && x>>30&1 == 1, a, riscvShift(f3, imm)))
	case 0x1b:
		return set(riscvCompute32(f3, f3 == 5 && x>>30&1 == 1, a, riscvShift(f3, imm)))
	case 0x33, 0x3b:
		v, ok := riscvRegs(x, f3, a, b)
		if !ok {
			return ErrUnknown
		}
		return set(v)
	case 0x0f: // fence
		return nil
	case 0x2f:
		return riscvAtomic(w, x, a, b, set)
	}
	return ErrUnknown
}

// riscvReg is a general register; x0 is 0.
func riscvReg(w *Walker, r arch.Reg) uint64 {
	if r == 0 {
		return 0
	}
	return w.Reg(r)
}

// riscvJump is the immediate of a jal.
func riscvJump(x uint32) uint64 {
	return signed(uint64(x>>31<<20|x>>12&0xff<<12|x>>20&1<<11|x>>21&0x3ff<<1), 21)
}

// riscvShift is the immediate of an operation: of a shift, the amount alone.
func riscvShift(f3 uint32, imm uint64) uint64 {
	if f3 == 1 || f3 == 5 {
		return imm & 63
	}
	return imm
}

// riscvRegs computes with two registers.
func riscvRegs(x, f3 uint32, a, b uint64) (uint64, bool) {
	wide := x&0x7f == 0x33
	switch x >> 25 {
	case 0x00, 0x20:
		alt := x>>30&1 == 1
		if alt && f3 == 0 {
			b, alt = -b, false
		}
		if wide {
			return riscvCompute(f3, alt, a, b), true
		}
		return riscvCompute32(f3, alt, a, b), true
	case 0x01:
		return riscvMultiply(wide, f3, a, b)
	}
	return 0, false
}

// riscvCompute is an operation by its number; alt makes a shift arithmetic.
func riscvCompute(f3 uint32, alt bool, a, b uint64) uint64 {
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

// riscvCompute32 is one on 32 bits.
func riscvCompute32(f3 uint32, alt bool, a, b uint64) uint64 {
	switch {
	case f3 == 5 && alt:
		a = signed(a, 32)
	case f3 == 5:
		a = unsigned(a, 32)
	}
	if f3 == 1 || f3 == 5 {
		b &= 31
	}
	return signed(riscvCompute(f3, alt, a, b), 32)
}

// riscvMultiply is what the extension M has. Results for a divisor 0 are as specified
// (Unprivileged ISA, 13.2).
func riscvMultiply(wide bool, f3 uint32, a, b uint64) (uint64, bool) {
	if !wide {
		if f3 == 5 || f3 == 7 {
			a, b = unsigned(a, 32), unsigned(b, 32)
		} else {
			a, b = signed(a, 32), signed(b, 32)
		}
		v, ok := riscvMultiply(true, f3, a, b)
		return signed(v, 32), ok && (f3 == 0 || f3 >= 4)
	}
	switch f3 {
	case 0:
		return a * b, true
	case 3:
		hi, _ := bits.Mul64(a, b)
		return hi, true
	case 4, 6:
		return riscvDivide(f3 == 6, a, b), true
	case 5, 7:
		return riscvDivideUnsigned(f3 == 7, a, b), true
	}
	return 0, false
}

func riscvDivide(rest bool, a, b uint64) uint64 {
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

func riscvDivideUnsigned(rest bool, a, b uint64) uint64 {
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

func boolean(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// riscvAtomic is a read-modify-write: add, swap, and, or, xor.
func riscvAtomic(w *Walker, x uint32, addr, b uint64, set func(uint64) error) error {
	n := 1 << (x >> 12 & 7)
	old := signed(w.Mem(addr, n), uint(8*n))
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
	w.setMem(addr, n, v)
	return set(old)
}
