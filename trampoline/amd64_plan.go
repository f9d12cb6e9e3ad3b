package trampoline

import (
	"errors"

	"trapline/insn"
	"trapline/kernel/arch"
)

// The forms of a trampoline of amd64. "back" is jmp rel32 to pc+len.
const (
	amd64Copy    form = iota // the instruction; back
	amd64RIP                 // the instruction with another disp32; back
	amd64Jump                // prefixes, jmp rel32; back (never reached)
	amd64Cond                // prefixes, jcc rel32; back
	amd64Loop                // prefixes, jrcxz or loop over jmp back; jmp target.
	amd64Xbegin              // prefixes, xbegin rel32; back
	amd64Call                // push pc+len; prefixes, jmp rel32; back (never reached)
	amd64CallReg             // push pc+len; the same as jmp; back (never reached)
	amd64CallMem             // the same as push; int3, at which the machine does the rest; back (never reached)
	amd64CallRIP             // that with another disp32
)

// amd64Plan decides how an instruction is displaced.
//
// Copied: everything that neither names an address relative to itself nor saves one. That
// includes what is special about interrupts (sti, cli, popf, mov ss, hlt: the emulator takes
// interrupts at branches alone, and never at the jump back, so what follows the slot follows
// the instruction), what changes the machine under it (mov cr, wrmsr, swapgs, iret, sysret,
// far jumps), what faults on purpose (ud0, ud1, ud2: the fault is reported at pc), and rep
// forms, which are restarted at the start of the slot.
//
// Relocated: memory operands relative to RIP, whatever the instruction and segment (an
// immediate may follow: the displacement counts from the end of the instruction), and near
// branches, which get 32-bit displacements. jrcxz and loop have no such form: they jump
// over a jump.
//
// Emulated: near calls. The return address is a constant, so push imm32, which extends its
// sign, can push it, and a jump follows. A call through memory reads its operand before it
// writes to the stack, and either can fault: a push of the operand does both in that order, and
// the second breakpoint stands for the rest, which cannot fail: the machine takes the target off
// the stack, puts the return address there, and goes on at the target. So does a call through
// RSP: a push saves its old value.
//
// Prefixes are kept everywhere: bnd and notrack, a hint to a conditional jump, padding.
//
// Refused, besides: what saves its address where nobody can correct it (syscall in RCX,
// software interrupts and far calls on the stack, x87 arithmetic in the unit's instruction
// pointer), and what cannot be rewritten.
func amd64Plan(code []byte, pc uint64) Plan {
	in, err := insn.DecodeAMD64(code)
	if err != nil {
		return Plan{reason: amd64DecodeReason(err)}
	}
	p := Plan{Kind: Copy, Len: uint8(in.Len), at: uint8(in.At), modrm: uint8(in.ModRM), disp: uint8(in.Disp)}
	switch {
	case in.OneByte():
		p = planOneByte(p, &in, code, pc)
	case in.TwoBytes():
		p = plan0F(p, &in)
	}
	if p.Kind == Copy && in.RIPRel {
		p = planRIP(p, &in)
	}
	return p
}

func amd64DecodeReason(err error) reason {
	switch {
	case errors.Is(err, insn.ErrTruncated):
		return reasonTruncated
	case errors.Is(err, insn.ErrTooLong):
		return reasonTooLong
	}
	return reasonUndefined
}

// refuse turns a plan into a refusal.
func (p Plan) refuse(r reason) Plan { return Plan{Len: p.Len, reason: r} }

// as fills in the kind and form of a plan.
func (p Plan) as(k Kind, f form) Plan {
	p.Kind, p.form = k, f
	return p
}

func planRIP(p Plan, in *insn.AMD64Inst) Plan {
	if in.AddrSize {
		return p.refuse(reasonEIPRelative)
	}
	return p.as(Relocate, amd64RIP)
}

// planOneByte plans what has a one-byte opcode.
func planOneByte(p Plan, in *insn.AMD64Inst, code []byte, pc uint64) Plan {
	switch op := in.Opcode; {
	case op == 0xcc && in.Len == 1: // int3
		return Plan{Kind: Guest, Len: 1}
	case op == 0xcc, op == 0xcd, op == 0xf1: // int3, int, int1
		return p.refuse(reasonSoftwareInterrupt)
	case op&0xf0 == 0x70: // jcc rel8
		return planBranch(p, in, amd64Cond, 6)
	case op == 0xeb, op == 0xe9: // jmp
		return planBranch(p, in, amd64Jump, 5)
	case 0xe0 <= op && op <= 0xe3: // loopne, loope, loop, jrcxz
		return planBranch(p, in, amd64Loop, 2)
	case op == 0xc7 && code[in.ModRM] == 0xf8: // xbegin
		return planBranch(p, in, amd64Xbegin, 6)
	case op == 0xe8: // call rel32
		p = planBranch(p, in, amd64Call, 5)
		return planReturn(p, pc)
	case op == 0xff && code[in.ModRM]>>3&7 == 2: // call r/m64
		return planIndirectCall(p, in, code, pc)
	case op == 0xff && isFarRegister(code[in.ModRM]):
		return p.refuse(reasonUndefined)
	case op == 0xff && code[in.ModRM]>>3&7 == 3: // far call
		return p.refuse(reasonFarCall)
	case op&0xf8 == 0xd8 && !isX87Control(op, code[in.ModRM]):
		return p.refuse(reasonX87)
	}
	return p
}

// isX87Control tells the x87 instructions that leave the unit's instruction pointer alone
// (SDM vol. 1, 8.1.8): fldenv, fldcw, fnstenv, fnstcw; fnclex, fninit; frstor, fnsave,
// fnstsw to memory. fnstsw %ax would be one, but the emulator's sets it.
func isX87Control(opcode, modrm byte) bool {
	register, reg := modrm >= 0xc0, modrm>>3&7
	switch opcode {
	case 0xd9:
		return !register && reg >= 4
	case 0xdb:
		return register && reg == 4
	case 0xdd:
		return !register && reg >= 4
	}
	return false
}

// isFarRegister tells far calls and jumps through a register, which there are not. The emulator
// does not survive them.
func isFarRegister(modrm byte) bool {
	reg := modrm >> 3 & 7
	return modrm >= 0xc0 && (reg == 3 || reg == 5)
}

// plan0F plans what has an opcode after 0f.
func plan0F(p Plan, in *insn.AMD64Inst) Plan {
	switch {
	case in.Opcode == 0x05: // syscall
		return p.refuse(reasonSyscall)
	case in.Opcode&0xf0 == 0x80: // jcc rel32
		return planBranch(p, in, amd64Cond, 6)
	}
	return p
}

// planBranch plans a branch whose rewritten form has n bytes after the prefixes.
func planBranch(p Plan, in *insn.AMD64Inst, f form, n int) Plan {
	switch {
	case in.OpSize:
		return p.refuse(reasonNarrowBranch)
	case in.At+n > arch.AMD64.MaxInstr:
		return p.refuse(reasonNoRoom)
	case f == amd64Call:
		return p.as(Emulate, f)
	}
	return p.as(Relocate, f)
}

// planReturn looks whether the return address of a call can be pushed.
func planReturn(p Plan, pc uint64) Plan {
	if next := pc + uint64(p.Len); p.Kind == Emulate && next != uint64(int32(next)) {
		return p.refuse(reasonReturnAddress)
	}
	return p
}

// planIndirectCall plans a near call through a register or memory.
func planIndirectCall(p Plan, in *insn.AMD64Inst, code []byte, pc uint64) Plan {
	modrm := code[in.ModRM]
	register, rsp := modrm >= 0xc0, modrm&7 == 4 && !in.RexB()
	switch {
	case in.OpSize:
		return p.refuse(reasonNarrowBranch)
	case in.RIPRel && in.AddrSize:
		return p.refuse(reasonEIPRelative)
	case in.RIPRel:
		return p.as(Emulate, amd64CallRIP)
	case register && !rsp:
		return planReturn(p.as(Emulate, amd64CallReg), pc)
	}
	return p.as(Emulate, amd64CallMem)
}
