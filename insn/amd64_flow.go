package insn

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"trapline/kernel/arch"
)

func amd64Flow(code []byte, pc uint64) Flow {
	if len(code) == 0 || !amd64Passes[code[0]] {
		return Flow{}
	}
	in, err := DecodeAMD64(code)
	if err != nil {
		return Flow{}
	}
	code = code[:in.Len]
	next := pc + uint64(in.Len)
	switch {
	case in.space == space0F && in.Opcode&0xf0 == 0x80: // jcc rel32
		return amd64Branch(next, code, 4, amd64Condition(in.Opcode&0xf))
	case in.space != spaceOne:
		return Flow{}
	}
	switch op := in.Opcode; {
	case op == 0xe8, op == 0xff && code[in.ModRM]>>3&7 == 2: // call
		return Flow{Way: Call}
	case op == 0xc3, op == 0xc2: // ret
		return Flow{Way: Return}
	case op == 0xeb:
		return Flow{Way: Jump, Target: next + uint64(int32At(code, len(code)-1, 1))}
	case op == 0xe9:
		return Flow{Way: Jump, Target: next + uint64(int32At(code, len(code)-4, 4))}
	case op&0xf0 == 0x70: // jcc rel8
		return amd64Branch(next, code, 1, amd64Condition(op&0xf))
	case 0xe0 <= op && op <= 0xe3: // loopne, loope, loop, jrcxz
		return amd64Branch(next, code, 1, amd64Count(op, in.AddrSize))
	case op == 0xff && code[in.ModRM]>>3&7 == 4: // jmp r/m64
		return amd64Indirect(code, next)
	}
	return Flow{}
}

// amd64Passes has the first bytes, prefixes among them, of instructions that may go
// elsewhere than onward: most instructions need no further look.
var amd64Passes = amd64FirstBytes()

func amd64FirstBytes() (first [256]bool) {
	for _, r := range [][2]int{{0x40, 0x4f}, {0x64, 0x67}, {0x70, 0x7f}, {0xc2, 0xc3}, {0xe0, 0xe3}, {0xf2, 0xf3}} {
		for b := r[0]; b <= r[1]; b++ {
			first[b] = true
		}
	}
	for _, b := range []byte{0x0f, 0x26, 0x2e, 0x36, 0x3e, 0xe8, 0xe9, 0xeb, 0xff} {
		first[b] = true
	}
	return first
}

// amd64Branch is a conditional branch whose displacement is in the last n bytes of code.
func amd64Branch(next uint64, code []byte, n int, holds func(arch.Regs) bool) Flow {
	target := next + uint64(int32At(code, len(code)-n, n))
	return Flow{Way: Branch, Target: target, Next: func(regs arch.Regs, _ ReadMem) (uint64, bool) {
		if holds(regs) {
			return target, true
		}
		return next, true
	}}
}

// amd64Condition is a condition of jcc, as its lowest four bits number it (SDM vol. 1,
// appendix B).
func amd64Condition(cc byte) func(arch.Regs) bool {
	return func(regs arch.Regs) bool { return amd64Holds(regs.Reg(arch.RFLAGS), cc) }
}

// amd64Holds reports whether a condition holds for some flags.
func amd64Holds(flags uint64, cc byte) bool {
	bit := func(flag uint64) bool { return flags&flag != 0 }
	carry, parity, zero := bit(carryFlag), bit(parityFlag), bit(zeroFlag)
	sign, less := bit(signFlag), bit(signFlag) != bit(overflowFlag)
	held := [8]bool{bit(overflowFlag), carry, zero, carry || zero, sign, parity, less, zero || less}[cc>>1]
	return held != (cc&1 == 1)
}

// amd64Count is the condition of loopne, loope, loop or jrcxz, with RCX or ECX.
func amd64Count(op byte, narrow bool) func(arch.Regs) bool {
	return func(regs arch.Regs) bool {
		count := regs.Reg(arch.RCX)
		if op != 0xe3 {
			count--
		}
		if narrow {
			count = uint64(uint32(count))
		}
		zero := regs.Reg(arch.RFLAGS)>>6&1 == 1
		switch op {
		case 0xe0:
			return count != 0 && !zero
		case 0xe1:
			return count != 0 && zero
		case 0xe2:
			return count != 0
		}
		return count == 0
	}
}

// amd64Indirect is a near jump through a register or memory.
func amd64Indirect(code []byte, next uint64) Flow {
	x, err := x86asm.Decode(code, 64)
	if err != nil {
		return Flow{}
	}
	switch to := x.Args[0].(type) {
	case x86asm.Reg:
		if r, bits, _, ok := register(to); ok && bits == 64 {
			return Flow{Way: Indirect, Next: func(regs arch.Regs, _ ReadMem) (uint64, bool) { return regs.Reg(r), true }}
		}
	case x86asm.Mem:
		return Flow{Way: Indirect, Next: func(regs arch.Regs, read ReadMem) (uint64, bool) {
			var p [8]byte
			err := read(amd64Address(to, next, regs), p[:])
			return binary.LittleEndian.Uint64(p[:]), err == nil
		}}
	}
	return Flow{}
}

// amd64Address is the address of a memory operand; next is RIP. With registers of 32 bits the
// address has as many (SDM vol. 1, 3.3.7).
func amd64Address(m x86asm.Mem, next uint64, regs arch.Regs) uint64 {
	addr, bits := uint64(int32(m.Disp)), uint(64) // x86asm leaves out its sign
	if r, n, _, ok := register(m.Base); ok {
		addr, bits = addr+regs.Reg(r), n
	} else if m.Base == x86asm.RIP {
		addr += next
	}
	if r, n, _, ok := register(m.Index); ok {
		addr, bits = addr+regs.Reg(r)*uint64(m.Scale), n
	}
	addr = unsigned(addr, bits)
	switch m.Segment {
	case x86asm.FS:
		addr += regs.Reg(arch.FSBase)
	case x86asm.GS:
		addr += regs.Reg(arch.GSBase)
	}
	return addr
}
