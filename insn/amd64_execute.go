package insn

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"trapline/kernel/arch"
)

// Flags in RFLAGS (SDM vol. 1, 3.4.3).
const (
	carryFlag    = 1 << 0
	parityFlag   = 1 << 2
	zeroFlag     = 1 << 6
	signFlag     = 1 << 7
	overflowFlag = 1 << 11
	allFlags     = carryFlag | parityFlag | zeroFlag | signFlag | overflowFlag
)

// An amd64Exec is an instruction under way.
type amd64Exec struct {
	Machine
	x    x86asm.Inst
	next uint64
	bits uint // of the operands
}

func amd64Execute(m Machine, code []byte, pc uint64) error {
	next := pc + uint64(len(code))
	m.SetReg(arch.RIP, next)
	if len(code) == 4 && string(code) == "\xf3\x0f\x1e\xfa" {
		return nil // endbr64
	}
	x, err := x86asm.Decode(code, 64)
	if err != nil {
		return err
	}
	e := amd64Exec{m, x, next, uint(x.DataSize)}
	if do := amd64Ops[x.Op]; do != nil {
		return do(e)
	}
	if cc, ok := amd64Conditional[x.Op]; ok {
		return e.conditional(cc)
	}
	return ErrUnknown
}

// amd64Ops are the operations that are known.
var amd64Ops = map[x86asm.Op]func(amd64Exec) error{
	x86asm.STOSB: stores(1), x86asm.STOSW: stores(2), x86asm.STOSD: stores(4), x86asm.STOSQ: stores(8),
	x86asm.NOP: amd64Exec.nothing, x86asm.LFENCE: amd64Exec.nothing, x86asm.PAUSE: amd64Exec.nothing,
	x86asm.MOV: amd64Exec.move, x86asm.MOVZX: amd64Exec.move, x86asm.MOVSX: amd64Exec.moveSigned, x86asm.MOVSXD: amd64Exec.moveSigned,
	x86asm.LEA: amd64Exec.lea, x86asm.PUSH: amd64Exec.push, x86asm.POP: amd64Exec.pop, x86asm.CALL: amd64Exec.call, x86asm.RET: amd64Exec.ret,
	x86asm.XCHG: amd64Exec.exchange, x86asm.CDQE: amd64Exec.widen, x86asm.CDQ: amd64Exec.spread, x86asm.CQO: amd64Exec.spread,
	x86asm.DIV: amd64Exec.divide, x86asm.IDIV: amd64Exec.divideSigned,
	x86asm.ADD: amd64Exec.add, x86asm.SUB: amd64Exec.sub, x86asm.CMP: amd64Exec.compare, x86asm.INC: amd64Exec.increment, x86asm.DEC: amd64Exec.decrement,
	x86asm.AND: logic(func(a, b uint64) uint64 { return a & b }), x86asm.OR: logic(func(a, b uint64) uint64 { return a | b }),
	x86asm.XOR: logic(func(a, b uint64) uint64 { return a ^ b }), x86asm.TEST: amd64Exec.test,
	x86asm.NOT: amd64Exec.not, x86asm.NEG: amd64Exec.negate, x86asm.IMUL: amd64Exec.multiply, x86asm.BT: amd64Exec.bitTest,
	x86asm.SHL: shift(func(v, n uint64, _ uint) uint64 { return v << n }),
	x86asm.SHR: shift(func(v, n uint64, _ uint) uint64 { return v >> n }),
	x86asm.SAR: shift(func(v, n uint64, bits uint) uint64 { return uint64(int64(signed(v, bits)) >> n) }),
}

// amd64Conditional are the moves and stores that depend on a condition, by its number.
var amd64Conditional = map[x86asm.Op]byte{
	x86asm.CMOVO: 0, x86asm.CMOVNO: 1, x86asm.CMOVB: 2, x86asm.CMOVAE: 3, x86asm.CMOVE: 4, x86asm.CMOVNE: 5, x86asm.CMOVBE: 6,
	x86asm.CMOVA: 7, x86asm.CMOVS: 8, x86asm.CMOVNS: 9, x86asm.CMOVL: 12, x86asm.CMOVGE: 13, x86asm.CMOVLE: 14, x86asm.CMOVG: 15,
	x86asm.SETO: 0, x86asm.SETNO: 1, x86asm.SETB: 2, x86asm.SETAE: 3, x86asm.SETE: 4, x86asm.SETNE: 5, x86asm.SETBE: 6,
	x86asm.SETA: 7, x86asm.SETS: 8, x86asm.SETNS: 9, x86asm.SETL: 12, x86asm.SETGE: 13, x86asm.SETLE: 14, x86asm.SETG: 15,
}

func (e amd64Exec) nothing() error { return nil }

// stores is stos of n bytes, upwards, as kernels have the direction flag.
func stores(n int) func(amd64Exec) error {
	const most = 1 << 16 // of repetitions
	return func(e amd64Exec) error {
		times, at := uint64(1), e.Reg(arch.RDI)
		if slices.Contains(e.x.Prefix[:], x86asm.PrefixREP) {
			times = e.Reg(arch.RCX)
			e.SetReg(arch.RCX, 0)
		}
		if times > most {
			return ErrUnknown
		}
		for ; times > 0; times-- {
			e.SetMem(at, n, e.Reg(arch.RAX))
			at += uint64(n)
		}
		e.SetReg(arch.RDI, at)
		return nil
	}
}

// register is the register behind a name, and which bits of it are meant.
func register(r x86asm.Reg) (full arch.Reg, bits, shift uint, ok bool) {
	switch {
	case x86asm.RAX <= r && r <= x86asm.R15:
		return arch.RAX + arch.Reg(r-x86asm.RAX), 64, 0, true
	case x86asm.EAX <= r && r <= x86asm.R15L:
		return arch.RAX + arch.Reg(r-x86asm.EAX), 32, 0, true
	case x86asm.AX <= r && r <= x86asm.R15W:
		return arch.RAX + arch.Reg(r-x86asm.AX), 16, 0, true
	case x86asm.AH <= r && r <= x86asm.BH:
		return arch.RAX + arch.Reg(r-x86asm.AH), 8, 8, true
	case x86asm.AL <= r && r <= x86asm.BL:
		return arch.RAX + arch.Reg(r-x86asm.AL), 8, 0, true
	case x86asm.SPB <= r && r <= x86asm.R15B:
		return arch.RSP + arch.Reg(r-x86asm.SPB), 8, 0, true
	}
	return 0, 0, 0, false
}

// width is the bits of operand i.
func (e amd64Exec) width(i int) uint {
	switch a := e.x.Args[i].(type) {
	case x86asm.Reg:
		_, bits, _, _ := register(a)
		return bits
	case x86asm.Mem:
		return uint(e.x.MemBytes) * 8
	}
	return e.bits
}

// get reads operand i. An immediate has its sign.
func (e amd64Exec) get(i int) uint64 {
	switch a := e.x.Args[i].(type) {
	case x86asm.Reg:
		r, bits, shift, ok := register(a)
		if !ok {
			e.Fail(ErrUnknown)
			return 0
		}
		return unsigned(e.Reg(r)>>shift, bits)
	case x86asm.Mem:
		return e.Mem(e.address(a), e.x.MemBytes)
	case x86asm.Imm:
		return unsigned(uint64(a), e.width(0))
	}
	e.Fail(ErrUnknown)
	return 0
}

// set writes operand i. A register's upper half becomes 0 with the lower one (SDM vol. 1,
// 3.4.1.1).
func (e amd64Exec) set(i int, v uint64) {
	switch a := e.x.Args[i].(type) {
	case x86asm.Reg:
		r, bits, shift, ok := register(a)
		switch {
		case !ok:
			e.Fail(ErrUnknown)
		case bits >= 32:
			e.SetReg(r, unsigned(v, bits))
		default:
			mask := unsigned(^uint64(0), bits) << shift
			e.SetReg(r, e.Reg(r)&^mask|v<<shift&mask)
		}
	case x86asm.Mem:
		e.SetMem(e.address(a), e.x.MemBytes, v)
	default:
		e.Fail(ErrUnknown)
	}
}

// address is that of a memory operand. That of lea has no segment.
func (e amd64Exec) address(m x86asm.Mem) uint64 {
	if e.x.Op == x86asm.LEA {
		m.Segment = 0
	}
	return amd64Address(m, e.next, e)
}

func (e amd64Exec) move() error {
	e.set(0, e.get(1))
	return nil
}

func (e amd64Exec) moveSigned() error {
	e.set(0, signed(e.get(1), e.width(1)))
	return nil
}

func (e amd64Exec) widen() error {
	e.SetReg(arch.RAX, signed(e.Reg(arch.RAX), 32))
	return nil
}

// spread is cdq and cqo.
func (e amd64Exec) spread() error {
	e.SetReg(arch.RDX, unsigned(uint64(int64(signed(e.Reg(arch.RAX), e.bits))>>63), e.bits))
	return nil
}

func (e amd64Exec) lea() error {
	m, ok := e.x.Args[1].(x86asm.Mem)
	if !ok {
		return ErrUnknown
	}
	e.set(0, e.address(m))
	return nil
}

func (e amd64Exec) exchange() error {
	a, b := e.get(0), e.get(1)
	e.set(0, b)
	e.set(1, a)
	return nil
}

func (e amd64Exec) pushed(v uint64) {
	sp := e.Reg(arch.RSP) - 8
	e.SetReg(arch.RSP, sp)
	e.SetMem(sp, 8, v)
}

func (e amd64Exec) popped() uint64 {
	sp := e.Reg(arch.RSP)
	e.SetReg(arch.RSP, sp+8)
	return e.Mem(sp, 8)
}

func (e amd64Exec) push() error {
	v := e.get(0)
	if _, ok := e.x.Args[0].(x86asm.Imm); ok {
		v = uint64(e.x.Args[0].(x86asm.Imm))
	}
	e.pushed(v)
	return nil
}

func (e amd64Exec) pop() error {
	e.set(0, e.popped())
	return nil
}

func (e amd64Exec) call() error {
	to := e.next
	if rel, ok := e.x.Args[0].(x86asm.Rel); ok {
		to += uint64(rel)
	} else {
		to = e.get(0)
	}
	e.pushed(e.next)
	e.SetReg(arch.RIP, to)
	return nil
}

func (e amd64Exec) ret() error {
	e.SetReg(arch.RIP, e.popped())
	return nil
}

func (e amd64Exec) conditional(cc byte) error {
	holds := amd64Holds(e.Reg(arch.RFLAGS), cc)
	switch {
	case e.x.Args[1] == nil && holds: // setcc
		e.set(0, 1)
	case e.x.Args[1] == nil:
		e.set(0, 0)
	case holds:
		e.set(0, e.get(1))
	default:
		e.set(0, e.get(0)) // the upper half becomes 0 nevertheless
	}
	return nil
}

// memory is the address of operand 0, if it is in memory.
func (e amd64Exec) memory() (addr uint64, ok bool) {
	m, ok := e.x.Args[0].(x86asm.Mem)
	if !ok {
		return 0, false
	}
	return e.address(m), true
}

// immediate reports whether operand i is one.
func (e amd64Exec) immediate(i int) bool {
	_, ok := e.x.Args[i].(x86asm.Imm)
	return ok
}
