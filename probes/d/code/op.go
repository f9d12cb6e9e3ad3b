package code

import "fmt"

// An Instr is one instruction. What N and Imm hold is said beside each Op.
type Instr struct {
	Op  Op
	N   uint16
	Imm uint64
}

// Op is an operation of the machine. The picture beside each shows the stack before and
// after, top on the right: x, y, a (address) are scalars, s, t strings, v a value of any
// kind, k a key tuple, b bytes.
type Op uint8

// Operations.
const (
	OpNop Op = iota // - -> -

	// Constants and the stack itself.

	OpPush // - -> x        Imm
	OpStr  // - -> s        Strings[Imm]
	OpDup  // v -> v v
	OpDup2 // v w -> v w v w
	OpPop  // v -> -

	// Arithmetic on 64 bits, wrapping. A shift counts modulo 64. Division rounds to zero;
	// by zero it is the fault divide-by-zero; the smallest integer by -1 is itself.

	OpAdd  // x y -> x+y
	OpSub  // x y -> x-y
	OpMul  // x y -> x*y
	OpDivS // x y -> x/y    signed
	OpDivU // x y -> x/y    unsigned
	OpModS // x y -> x%y    signed, the sign of x
	OpModU // x y -> x%y    unsigned
	OpAnd  // x y -> x&y
	OpOr   // x y -> x|y
	OpXor  // x y -> x^y
	OpShl  // x y -> x<<y
	OpShrS // x y -> x>>y   filled with the sign
	OpShrU // x y -> x>>y   filled with 0
	OpNeg  // x -> -x
	OpNot  // x -> ^x       every bit
	OpLNot // x -> x==0     1 or 0

	// Conversion to an integer of N = 1, 2 or 4 bytes: the low bytes, extended to 64 bits.

	OpSext // x -> x        with its sign
	OpZext // x -> x        with 0

	// Comparison: 1 or 0.

	OpEq   // x y -> x==y
	OpNe   // x y -> x!=y
	OpLtS  // x y -> x<y    signed
	OpLeS  // x y -> x<=y
	OpGtS  // x y -> x>y
	OpGeS  // x y -> x>=y
	OpLtU  // x y -> x<y    unsigned
	OpLeU  // x y -> x<=y
	OpGtU  // x y -> x>y
	OpGeU  // x y -> x>=y
	OpScmp // s t -> x      bytewise: -1, 0, 1 (signed) as s is less, equal, greater

	// Jumps, to Code[Imm] and only forward; Imm == len(Code) ends.

	OpJmp // - -> -
	OpJz  // x -> -         if x == 0
	OpJnz // x -> -         if x != 0

	// Guest memory, at a virtual address; a byte not mapped is the fault invalid address.
	// No alignment is asked for.

	OpLoadS     // a -> x   N = 1, 2, 4, 8 bytes in the guest's order, sign-extended
	OpLoadU     // a -> x   N = 1, 2, 4, 8 bytes, zero-extended
	OpLoadStr   // a -> s   the bytes up to a NUL, at most Imm-1 of them
	OpLoadBytes // a -> b   Imm bytes

	// Variables: Imm is the index into Vars. A store leaves the value, as it is after
	// conversion to the variable, on the stack. An unset variable is 0 or "".

	OpLoadGlobal  // - -> v
	OpLoadSelf    // - -> v
	OpLoadThis    // - -> v
	OpStoreGlobal // v -> v
	OpStoreSelf   // v -> v   0 and "" free it
	OpStoreThis   // v -> v

	// Associative arrays, of any scope: Imm is the index into Vars. OpKey makes the tuple
	// of keys, in order, into one value; scalars count with all 64 bits.

	OpKey      // v... -> k  as many as Vars[Imm].Keys
	OpLoadArr  // k -> v     an element never stored is 0 or ""
	OpStoreArr // k v -> v   0 and "" free it

	// Parts of variables that are arrays or structures, o bytes from their start: Imm is
	// PartImm(variable, bytes), N is 0 or, in an integer that is a bit-field, BitsN. Of an
	// associative array there is a k before the o. A part not inside the variable is the
	// fault illegal operation. The put operations leave the value on the stack.

	OpBound     // x -> x      the fault invalid address unless x, unsigned, is less than Imm
	OpPartS     // [k] o -> x    sign-extended
	OpPartU     // [k] o -> x    zero-extended
	OpPartStr   // [k] o -> s
	OpPartBytes // [k] o -> b
	OpPut       // [k] o x -> x
	OpPutStr    // [k] o s -> s
	OpPutBytes  // [k] o b -> b
	OpPlace     // [k] o -> a    its address, which the program may read and write; o need not be inside

	// The firing.

	OpArg     // - -> x      argN of the probe, 0 to 9
	OpReg     // - -> x      register Imm: the index in the architecture's list
	OpUReg    // - -> x      register Imm as the process has it
	OpBuiltin // - -> v      Builtin(Imm)
	OpCall    // v... -> v   Sub(Imm) of N arguments
	OpStore   // a x -> x    N = 1, 2, 4, 8 low bytes of x, in the scratch space
	OpStrAddr // s -> a      the address of a copy in the scratch space, with a NUL, of Imm bytes or more
	OpLocal   // - -> a      the local variable Strings[Imm]: its address, or that of a copy in the scratch space
	OpFrames  // - -> f      at most Imm program counters (0: as the option says) of the kernel, N = 1: of the process

	opMax
)

// info is what there is to know of an operation.
type info struct {
	name    string
	in, out string // kinds of what is popped and pushed, bottom first: see kindOf
	arg     argForm
}

// argForm says which operands an instruction has, for the disassembly and the verifier.
type argForm uint8

const (
	argNone   argForm = iota
	argImm            // Imm, any number
	argString         // Imm, an index into Strings
	argInt            // N, the size of an integer narrower than a slot
	argLoad           // N, the size of an integer
	argSize           // Imm, a number of bytes
	argJump           // Imm, an instruction
	argVar            // Imm, an index into Vars
	argArray          // Imm, an index into Vars, of one with keys
	argArg            // N, 0 to 9
	argBuiltin
	argCall
	argPart // Imm, a variable and a size, N bits
	argFrames
)

// The letters of in and out: i scalar, s string, b bytes, f frames, k key tuple, v and w any kind
// (the same one where it is pushed again), * as the operand says.
var ops = [opMax]info{
	OpNop:  {"nop", "", "", argNone},
	OpPush: {"push", "", "i", argImm},
	OpStr:  {"str", "", "s", argString},
	OpDup:  {"dup", "v", "vv", argNone},
	OpDup2: {"dup2", "vw", "vwvw", argNone},
	OpPop:  {"pop", "v", "", argNone},

	OpAdd:  {"add", "ii", "i", argNone},
	OpSub:  {"sub", "ii", "i", argNone},
	OpMul:  {"mul", "ii", "i", argNone},
	OpDivS: {"divs", "ii", "i", argNone},
	OpDivU: {"divu", "ii", "i", argNone},
	OpModS: {"mods", "ii", "i", argNone},
	OpModU: {"modu", "ii", "i", argNone},
	OpAnd:  {"and", "ii", "i", argNone},
	OpOr:   {"or", "ii", "i", argNone},
	OpXor:  {"xor", "ii", "i", argNone},
	OpShl:  {"shl", "ii", "i", argNone},
	OpShrS: {"shrs", "ii", "i", argNone},
	OpShrU: {"shru", "ii", "i", argNone},
	OpNeg:  {"neg", "i", "i", argNone},
	OpNot:  {"not", "i", "i", argNone},
	OpLNot: {"lnot", "i", "i", argNone},

	OpSext: {"sext", "i", "i", argInt},
	OpZext: {"zext", "i", "i", argInt},

	OpEq:   {"eq", "ii", "i", argNone},
	OpNe:   {"ne", "ii", "i", argNone},
	OpLtS:  {"lts", "ii", "i", argNone},
	OpLeS:  {"les", "ii", "i", argNone},
	OpGtS:  {"gts", "ii", "i", argNone},
	OpGeS:  {"ges", "ii", "i", argNone},
	OpLtU:  {"ltu", "ii", "i", argNone},
	OpLeU:  {"leu", "ii", "i", argNone},
	OpGtU:  {"gtu", "ii", "i", argNone},
	OpGeU:  {"geu", "ii", "i", argNone},
	OpScmp: {"scmp", "ss", "i", argNone},

	OpJmp: {"jmp", "", "", argJump},
	OpJz:  {"jz", "i", "", argJump},
	OpJnz: {"jnz", "i", "", argJump},

	OpLoadS:     {"loads", "i", "i", argLoad},
	OpLoadU:     {"loadu", "i", "i", argLoad},
	OpLoadStr:   {"loadstr", "i", "s", argSize},
	OpLoadBytes: {"loadbytes", "i", "b", argSize},

	OpLoadGlobal:  {"loadglobal", "", "*", argVar},
	OpLoadSelf:    {"loadself", "", "*", argVar},
	OpLoadThis:    {"loadthis", "", "*", argVar},
	OpStoreGlobal: {"storeglobal", "*", "*", argVar},
	OpStoreSelf:   {"storeself", "*", "*", argVar},
	OpStoreThis:   {"storethis", "*", "*", argVar},

	OpKey:      {"key", "*", "k", argArray},
	OpLoadArr:  {"loadarr", "k", "*", argArray},
	OpStoreArr: {"storearr", "k*", "*", argArray},

	OpBound:     {"bound", "i", "i", argSize},
	OpPartS:     {"parts", "i", "i", argPart},
	OpPartU:     {"partu", "i", "i", argPart},
	OpPartStr:   {"partstr", "i", "s", argPart},
	OpPartBytes: {"partbytes", "i", "b", argPart},
	OpPut:       {"put", "ii", "i", argPart},
	OpPutStr:    {"putstr", "is", "s", argPart},
	OpPutBytes:  {"putbytes", "ib", "b", argPart},
	OpPlace:     {"place", "i", "i", argPart},

	OpArg:     {"arg", "", "i", argArg},
	OpReg:     {"reg", "", "i", argImm},
	OpUReg:    {"ureg", "", "i", argImm},
	OpBuiltin: {"builtin", "", "*", argBuiltin},
	OpCall:    {"call", "*", "*", argCall},
	OpStore:   {"store", "ii", "i", argLoad},
	OpStrAddr: {"straddr", "s", "i", argSize},
	OpLocal:   {"local", "", "i", argString},
	OpFrames:  {"frames", "", "f", argFrames},
}

func (op Op) String() string {
	if op < opMax {
		return ops[op].name
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// effect returns the kinds that an instruction takes from the stack and puts there,
// bottom first, in the letters of ops; "v" is left for the verifier to fill in.
func (p *Program) effect(in Instr) (pop, push string) {
	o := ops[in.Op]
	switch o.arg {
	case argVar:
		return expand(o, letter(p.Vars[in.Imm].Type.Kind))
	case argArray:
		v := p.Vars[in.Imm]
		if in.Op != OpKey {
			return expand(o, letter(v.Type.Kind))
		}
		return letters(v.Keys), o.out
	case argPart:
		if v, _ := in.Part(); len(p.Vars[v].Keys) > 0 {
			return "k" + o.in, o.out
		}
	case argBuiltin:
		return "", letter(Builtin(in.Imm).Type().Kind)
	case argCall:
		pop, push = Sub(in.Imm).signature()
		return pop[:in.N], push
	}
	return o.in, o.out
}

// expand puts kind in the place of the star.
func expand(o info, kind string) (pop, push string) {
	star := func(s string) string {
		if n := len(s); n > 0 && s[n-1] == '*' {
			return s[:n-1] + kind
		}
		return s
	}
	return star(o.in), star(o.out)
}

func letter(k Kind) string {
	return [...]string{Void: "", Int: "i", String: "s", Bytes: "b", Frames: "f"}[k]
}

func letters(types []Type) (s string) {
	for _, t := range types {
		s += letter(t.Kind)
	}
	return s
}
