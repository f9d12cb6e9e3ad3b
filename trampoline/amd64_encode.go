package trampoline

import (
	"encoding/binary"
	"fmt"

	"trapline/insn"
)

const amd64INT3 = 0xcc

// amd64Encode writes the trampoline of a plan.
func amd64Encode(p Plan, code []byte, pc, slot uint64) ([]byte, error) {
	if !p.InSlot() {
		return nil, fmt.Errorf("encoding the trampoline of %#x: there is none (%s)", pc, p.Kind)
	}
	if len(code) < int(p.Len) {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %w", pc, insn.ErrTruncated)
	}
	e := amd64Encoder{p: p, code: code[:p.Len], next: pc + uint64(p.Len), slot: slot, out: make([]byte, 0, amd64SlotSize)}
	e.instruction()
	e.branch(e.next, 0xe9)
	if e.far {
		return nil, fmt.Errorf("encoding the trampoline of %#x: %#x is not within 2 GiB of the slot at %#x", pc, e.where, slot)
	}
	return e.out, nil
}

// An amd64Encoder writes one trampoline.
type amd64Encoder struct {
	p    Plan
	code []byte // the instruction in place
	next uint64 // address of the instruction after it
	slot uint64

	out   []byte
	far   bool   // something is out of reach:
	where uint64 // this
}

// instruction writes all but the jump back.
func (e *amd64Encoder) instruction() {
	switch e.p.form {
	case amd64Copy:
		e.copy(e.code)
	case amd64RIP:
		e.copyRIP(e.code)
	case amd64Jump:
		e.copy(e.prefixes())
		e.branch(e.target(), 0xe9)
	case amd64Cond:
		e.copy(e.prefixes())
		e.branch(e.target(), 0x0f, 0x80|e.condition())
	case amd64Loop:
		e.loop()
	case amd64Xbegin:
		e.copy(e.prefixes())
		e.branch(e.target(), 0xc7, 0xf8)
	case amd64Call:
		e.push()
		e.copy(e.prefixes())
		e.branch(e.target(), 0xe9)
	case amd64CallReg:
		e.push()
		e.copy(e.callAs(4))
	case amd64CallMem:
		e.copy(e.callAs(6))
		e.copy([]byte{amd64INT3})
	case amd64CallRIP:
		e.copyRIP(e.callAs(6))
		e.copy([]byte{amd64INT3})
	}
}

func (e *amd64Encoder) copy(b []byte)    { e.out = append(e.out, b...) }
func (e *amd64Encoder) prefixes() []byte { return e.code[:e.p.at] }

// here is the address of the byte that is written next.
func (e *amd64Encoder) here() uint64 { return e.slot + uint64(len(e.out)) }

// relative returns the displacement that reaches target from an instruction that ends at
// end, and remembers if there is none.
func (e *amd64Encoder) relative(target, end uint64) uint32 {
	d := target - end
	if d != uint64(int32(d)) {
		e.far, e.where = true, target
	}
	return uint32(d)
}

// branch writes a branch of the given opcode with a 32-bit displacement.
func (e *amd64Encoder) branch(target uint64, opcode ...byte) {
	e.copy(opcode)
	e.out = binary.LittleEndian.AppendUint32(e.out, e.relative(target, e.here()+4))
}

// push writes the push of the return address.
func (e *amd64Encoder) push() {
	e.copy([]byte{0x68})
	e.out = binary.LittleEndian.AppendUint32(e.out, uint32(e.next))
}

// copyRIP copies an instruction with a memory operand relative to RIP.
func (e *amd64Encoder) copyRIP(code []byte) {
	at := len(e.out) + int(e.p.disp)
	target := e.target()
	e.copy(code)
	binary.LittleEndian.PutUint32(e.out[at:], e.relative(target, e.here()))
}

// loop writes jrcxz, loop, loope or loopne, which reach 127 bytes at most:
//
//	         jrcxz 1f
//	         jmp short 2f
//	1:       jmp target
//	2:       jmp back, written by the caller
func (e *amd64Encoder) loop() {
	e.copy(e.code[:e.p.at+1])
	e.copy([]byte{2, 0xeb, 5})
	e.branch(e.target(), 0xe9)
}

// target is the address that the instruction names relative to its end.
func (e *amd64Encoder) target() uint64 {
	disp, _ := insn.AMD64Displacement(e.code)
	return e.next + uint64(disp)
}

// condition is the condition of jcc rel8 or rel32.
func (e *amd64Encoder) condition() byte {
	op := e.code[e.p.at]
	if op == 0x0f {
		op = e.code[e.p.at+1]
	}
	return op & 0xf
}

// callAs returns an indirect call (ff /2) as another instruction with its operand: a jump
// (ff /4) or a push (ff /6).
func (e *amd64Encoder) callAs(op byte) []byte {
	b := append([]byte(nil), e.code...)
	m := &b[e.p.modrm]
	*m = *m&^0x38 | op<<3
	return b
}
