package arch

// An Op is what a machine does for a displaced instruction besides, or instead of, running
// what is in its slot. It is for instructions that name or save their own address, on
// architectures where eight bytes of slot leave no room to write them anew.
//
// In what follows pc is the address of the instruction as the CPU fetched it, next is
// pc + Break.Len, and A, B, C and Imm are fields of Emulation. A register that is NoReg
// reads as zero; a write to it is dropped. All operands are read before A is written. No Op
// touches flags, and none but OpLend and OpLendOut can fault.
type Op uint8

const (
	// OpNone: the instruction runs in its slot, as it is.
	OpNone Op = iota

	// OpSet: A = pc + Imm; pc = next. Not a branch: no interrupt is taken after it
	// where the instruction in place would not allow one.
	OpSet
	// OpJump: A = next; pc = pc + Imm.
	OpJump
	// OpJumpReg: to = (B + Imm) with the bits of C cleared; A = next; pc = to.
	OpJumpReg

	// The conditional branches: if it holds, pc = pc + Imm, otherwise pc = next.
	OpIfEQ     // B == C
	OpIfNE     // B != C
	OpIfLT     // B < C, signed
	OpIfGE     // B >= C, signed
	OpIfLTU    // B < C, unsigned
	OpIfGEU    // B >= C, unsigned
	OpIfEQ32   // the low 32 bits of B and C are equal
	OpIfNE32   // they are not
	OpIfBitSet // bit C of B is 1; C is a number, 0 to 63
	OpIfBitClr // bit C of B is 0
	OpIfFlags  // condition C holds for the flags, 0 to 15, numbered as in arm64's B.cond (Arm ARM, C1.2.4)

	// OpLend: the slot runs with A = pc + Imm, and then A has its old value again,
	// whether the slot is left at its end or by a fault: unless A is also B, the register
	// that the instruction in the slot writes, which at the slot's end keeps what was
	// written. A is never NoReg; B may be.
	OpLend
	// OpLendOut: the slot, which ends in a jump out of it, runs with A = next. By a fault
	// of the slot's instruction A gets its old value again; otherwise A stays so.
	OpLendOut
)

// NoReg stands for no register in an Emulation.
const NoReg Reg = 0xff

// An Emulation is an Op and its operands. A and B are general registers or NoReg; C is
// one too, or a small number where the Op says so. The zero Emulation does nothing.
type Emulation struct {
	Op   Op
	A, B Reg
	C    uint8
	Imm  int64 // bytes
}

// InSlot reports whether something runs in a slot.
func (e Emulation) InSlot() bool { return e.Op == OpNone || e.Op >= OpLend }
