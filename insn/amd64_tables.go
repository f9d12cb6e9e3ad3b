package insn

import "strings"

// The opcode tables of 64-bit mode, from SDM vol. 2, appendix A, and AMD APM vol. 3,
// appendix A. Every cell is compared with objdump in amd64_tables_test.go.
//
// A grid has 16 rows of 16 cells; the row's first opcode stands at its end. A layout grid
// says what follows the opcode; an upper-case letter has a ModR/M byte:
//
//	.  nothing            b  imm8              B  ModR/M, imm8
//	-  no instruction     w  imm16             M  ModR/M
//	v  imm16, 32 or 64    n  imm16, imm8       R  ModR/M, always a register
//	o  address            z  imm16 or 32       T  ModR/M, imm8 if /0 or /1
//	j  rel8               k  rel16 or 32       U  ModR/M, imm16 or 32 if /0 or /1
//	                                           E  ModR/M, two imm8 if 66 or f2 (SSE4a)
//	                                           Z  ModR/M, imm16 or 32

var amd64OneLayout = grid(`
	MMMM bz-- MMMM bz-. 00
	MMMM bz-- MMMM bz-- 10
	MMMM bz.- MMMM bz.- 20
	MMMM bz.- MMMM bz.- 30
	.... .... .... .... 40
	.... .... .... .... 50
	---M .... zZbB .... 60
	jjjj jjjj jjjj jjjj 70
	BZ-B MMMM MMMM MMMM 80
	.... .... ..-. .... 90
	oooo .... bz.. .... a0
	bbbb bbbb vvvv vvvv b0
	BBw. --BZ n.w. .b-. c0
	MMMM ---. MMMM MMMM d0
	jjjj bbbb kk-j .... e0
	.... ..TU .... ..MM f0`)

var amd640FLayout = grid(`
	MMMM .... .... .M.. 00
	MMMM MMMM MMMM MMMM 10
	RRRR .... MMMM MMMM 20
	.... .... .... .... 30
	MMMM MMMM MMMM MMMM 40
	MMMM MMMM MMMM MMMM 50
	MMMM MMMM MMMM MMMM 60
	BBBB MMM. EMMM MMMM 70
	kkkk kkkk kkkk kkkk 80
	MMMM MMMM MMMM MMMM 90
	...M BM.. ...M BMMM a0
	MMMM MMMM MMBM MMMM b0
	MMBM BBBM .... .... c0
	MMMM MMMM MMMM MMMM d0
	MMMM MMMM MMMM MMMM e0
	MMMM MMMM MMMM MMMM f0`)

// Every opcode of the other spaces has a ModR/M byte, and an imm8 in the maps numbered 3.
var (
	amd64ModRM     = []byte(strings.Repeat("M", 256))
	amd64ModRMImm8 = []byte(strings.Repeat("B", 256))
)

// amd64HasModRM reports whether a layout has a ModR/M byte.
func amd64HasModRM(layout byte) bool { return 'A' <= layout && layout <= 'Z' }

// An amd64Table describes one opcode space.
type amd64Table struct {
	layout  []byte // by opcode: a letter of the list above
	allowed []byte // by opcode: mandatory prefixes for which there is an instruction
}

// The cells of the grids below are hex digits: 1 no mandatory prefix, 2 66, 4 f3, 8 f2,
// added up. f therefore also means that prefixes do not choose the instruction.
var amd64Tables = [spaceUnknown]amd64Table{
	spaceOne:   {amd64OneLayout, nil},
	space0F:    {amd640FLayout, amd640FAllowed},
	space0F38:  {amd64ModRM, amd640F38Allowed},
	space0F3A:  {amd64ModRMImm8, amd640F3AAllowed},
	spaceVEX1:  {amd640FLayout, amd64VEX1Allowed},
	spaceVEX2:  {amd64ModRM, amd64VEX2Allowed},
	spaceVEX3:  {amd64ModRMImm8, amd64VEX3Allowed},
	spaceEVEX1: {amd640FLayout, amd64EVEX1Allowed},
	spaceEVEX2: {amd64ModRM, amd64EVEX2Allowed},
	spaceEVEX3: {amd64ModRMImm8, amd64EVEX3Allowed},
	spaceEVEX5: {amd64ModRM, amd64EVEX5Allowed},
	spaceEVEX6: {amd64ModRM, amd64EVEX6Allowed},
}

// defines reports whether the table has an instruction of that opcode and mandatory prefix
// (numbered as amd64Insn.simd does).
func (t *amd64Table) defines(opcode, simd byte) bool {
	if t.allowed == nil {
		return t.layout[opcode] != '-'
	}
	return strings.IndexByte(hexDigits, t.allowed[opcode])>>simd&1 == 1
}

// Maps that the vector prefixes select by number.
var (
	amd64VEXMaps  = [8]amd64Space{spaceUnknown, spaceVEX1, spaceVEX2, spaceVEX3, spaceUnknown, spaceUnknown, spaceUnknown, spaceUnknown}
	amd64EVEXMaps = [8]amd64Space{spaceUnknown, spaceEVEX1, spaceEVEX2, spaceEVEX3, spaceUnknown, spaceEVEX5, spaceEVEX6, spaceUnknown}
)

var amd640FAllowed = grid(`
	ffff .fff f5.f .f.. 00
	fff3 3373 ffff ffff 10
	ffff .... 33ff ff33 20
	ffff ff.f f.3. .... 30
	ffff ffff ffff ffff 40
	3f55 3333 fff7 ffff 50
	3333 3333 3333 2237 60
	f333 3331 bb.. aa77 70
	ffff ffff ffff ffff 80
	ffff ffff ffff ffff 90
	ffff ff.. ffff ffff a0
	ffff ffff 4fff 77ff b0
	fff1 333f ffff ffff c0
	a333 33ef 3333 3333 d0
	3333 33e3 3333 3333 e0
	8333 3333 3333 333f f0`)

var amd640F38Allowed = grid(`
	3333 3333 3333 .... 00
	2... 22.2 .... 333. 10
	2222 22.. 2222 .... 20
	2222 22.2 2222 2222 30
	22.. .... .... .... 40
	.... .... .... .... 50
	.... .... .... .... 60
	.... .... .... .... 70
	222. .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	.... .... 1111 11.2 c0
	.... .... 4..2 6666 d0
	.... .... .... .... e0
	bb.. .27. e144 f... f0`)

var amd640F3AAllowed = grid(`
	.... .... 2222 2223 00
	.... 2222 .... .... 10
	222. .... .... .... 20
	.... .... .... .... 30
	222. 2... .... .... 40
	.... .... .... .... 50
	2222 .... .... .... 60
	.... .... .... .... 70
	.... .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	.... .... .... 1.22 c0
	.... .... .... ...2 d0
	.... .... .... .... e0
	4... .... .... .... f0`)

var amd64VEX1Allowed = grid(`
	.... .... .... .... 00
	fff3 3373 .... .... 10
	.... .... 33c3 cc33 20
	.... .... .... .... 30
	.33. 3333 ..33 .... 40
	3f55 3333 fff7 ffff 50
	2222 2222 2222 2226 60
	e222 222f .... aa66 70
	.... .... .... .... 80
	33bb .... 33.. .... 90
	.... .... .... ..f. a0
	.... .... .... .... b0
	..f. 223. .... .... c0
	a222 2222 2222 2222 d0
	2222 22e2 2222 2222 e0
	8222 2222 2222 222. f0`)

var amd64VEX2Allowed = grid(`
	2222 2222 2222 2222 00
	...2 ..22 222. 222. 10
	2222 22.. 2222 2222 20
	2222 2222 2222 2222 30
	22.. .222 .b.e .... 40
	ff22 .... 222. c.f. 50
	.... .... .... .... 60
	..4. .... 22.. .... 70
	.... .... .... 2.2. 80
	2222 ..22 2222 2222 90
	.... ..22 2222 2222 a0
	f6.. 2222 2222 2222 b0
	.... .... .... ...2 c0
	.... .... ...2 2222 d0
	2222 2222 2222 2222 e0
	..11 .d8f .... .... f0`)

var amd64VEX3Allowed = grid(`
	222. 222. 2222 2222 00
	.... 2222 22.. .2.. 10
	222. .... .... .... 20
	2222 .... 22.. .... 30
	222. 2.2. 2222 2... 40
	.... .... .... 2222 50
	2222 .... 2222 2222 60
	.... .... 2222 2222 70
	.... .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	.... .... .... ..22 c0
	.... .... .... ...2 d0
	.... .... .... .... e0
	8... .... .... .... f0`)

var amd64EVEX1Allowed = grid(`
	.... .... .... .... 00
	fff3 3373 .... .... 10
	.... .... 33c3 cc33 20
	.... .... .... .... 30
	.... .... .... .... 40
	.f.. 3333 fff7 ffff 50
	2222 2222 2222 222e 60
	e222 222. ffee ..6e 70
	.... .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	..f. 223. .... .... c0
	.222 222. 2222 2222 d0
	2222 22e2 2222 2222 e0
	.222 222. 2222 222. f0`)

var amd64EVEX2Allowed = grid(`
	2... 2... ...2 22.. 00
	6666 662. 2222 2222 10
	6666 6666 6662 22.. 20
	6666 6622 6662 2222 30
	2.22 2222 .... 22f2 40
	ffea 22.. 2222 .... 50
	..22 222. 8... .... 60
	22e2 .222 2222 2222 70
	...2 .... 2222 .2.2 80
	2222 ..22 22aa 2222 90
	2222 ..22 22aa 2222 a0
	.... 2222 2222 2222 b0
	.... 2.22 2.22 22.2 c0
	.... .... .... 2222 d0
	.... .... .... .... e0
	.... .... .... .... f0`)

var amd64EVEX3Allowed = grid(`
	22.2 22.. 3232 ...2 00
	.... 2222 2222 .222 10
	2222 .233 .... .... 20
	.... .... 2222 ..22 30
	..f2 2... .... .... 40
	22.. 2233 .... .... 50
	.... ..33 .... .... 60
	f2f2 .... .... .... 70
	.... .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	..5. .... .... ..22 c0
	.... .... .... .... d0
	.... .... .... .... e0
	.... .... .... .... f0`)

var amd64EVEX5Allowed = grid(`
	.... .... .... .... 00
	44.. .... .... .3.. 10
	.... .... ..4. 4411 20
	.... .... .... .... 30
	.... .... .... .... 40
	.5.. .... 55f7 5555 50
	.... .... .... ..2. 60
	.... .... 77a6 3f2. 70
	.... .... .... .... 80
	.... .... .... .... 90
	.... .... .... .... a0
	.... .... .... .... b0
	.... .... .... .... c0
	.... .... .... .... d0
	.... .... .... .... e0
	.... .... .... .... f0`)

var amd64EVEX6Allowed = grid(`
	.... .... .... .... 00
	...3 .... .... .... 10
	.... .... .... 22.. 20
	.... .... .... .... 30
	..22 .... .... 2222 40
	.... ..cc .... .... 50
	.... .... .... .... 60
	.... .... .... .... 70
	.... .... .... .... 80
	.... ..22 2222 2222 90
	.... ..22 2222 2222 a0
	.... ..22 2222 2222 b0
	.... .... .... .... c0
	.... ..cc .... .... d0
	.... .... .... .... e0
	.... .... .... .... f0`)

const hexDigits = ".123456789abcdef"

// grid reads a table of 16 rows as drawn above.
func grid(drawing string) []byte {
	var cells []byte
	for row := range strings.Lines(strings.TrimSpace(drawing)) {
		f := strings.Fields(row)
		cells = append(cells, strings.Join(f[:4], "")...)
	}
	return cells
}

// An amd64Group says which ModR/M bytes an opcode has instructions for.
type amd64Group struct {
	simd byte   // mandatory prefixes it speaks of, a sum as in the grids
	mem  byte   // bit n: /n with a memory operand
	reg  uint64 // bit n: ModR/M 0xc0+n
}

type amd64Opcode struct {
	space  amd64Space
	opcode byte
}

const all = 0xff

// regs is the set of all register operands of the given /n.
func regs(ns ...int) (set uint64) {
	for _, n := range ns {
		set |= all << (8 * n)
	}
	return set
}

// rms is the set of those register operands of /n whose rm has its bit in set.
func rms(n int, set uint64) uint64 { return set << (8 * n) }

// amd64Groups lists the opcodes of which ModR/M chooses the instruction and leaves gaps
// (SDM vol. 2, tables ). Register operands that repeat another x87 instruction
// and are in no manual count as gaps, except ffreep.
var amd64Groups = map[amd64Opcode][]amd64Group{
	{spaceOne, 0x8c}: {{0xf, 0x3f, regs(0, 1, 2, 3, 4, 5)}}, // mov from segment register
	{spaceOne, 0x8d}: {{0xf, all, 0}},                       // lea
	{spaceOne, 0x8e}: {{0xf, 0x3d, regs(0, 2, 3, 4, 5)}},    // mov to segment register
	{spaceOne, 0x8f}: {{0xf, 1 << 0, regs(0)}},              // pop
	{spaceOne, 0xc6}: {{0xf, 1 << 0, regs(0) | rms(7, 1)}},  // mov, xabort
	{spaceOne, 0xc7}: {{0xf, 1 << 0, regs(0) | rms(7, 1)}},  // mov, xbegin
	{spaceOne, 0xd9}: {{0xf, 0xfd, regs(0, 1, 6, 7) | rms(2, 1) | rms(4, 0x33) | rms(5, 0x7f)}},
	{spaceOne, 0xda}: {{0xf, all, regs(0, 1, 2, 3) | rms(5, 2)}},
	{spaceOne, 0xdb}: {{0xf, 0xaf, regs(0, 1, 2, 3, 5, 6) | rms(4, 0x3f)}},
	{spaceOne, 0xdc}: {{0xf, all, regs(0, 1, 4, 5, 6, 7)}},
	{spaceOne, 0xdd}: {{0xf, 0xdf, regs(0, 2, 3, 4, 5)}},
	{spaceOne, 0xde}: {{0xf, all, regs(0, 1, 4, 5, 6, 7) | rms(3, 2)}},
	{spaceOne, 0xdf}: {{0xf, all, regs(0, 5, 6) | rms(4, 1)}},
	{spaceOne, 0xfe}: {{0xf, 0x03, regs(0, 1)}},
	{spaceOne, 0xff}: {{0xf, 0x7f, regs(0, 1, 2, 4, 6)}},
	{space0F, 0x00}:  {{0x7, 0x3f, regs(0, 1, 2, 3, 4, 5)}, {0x8, 0x7f, regs(0, 1, 2, 3, 4, 5, 6)}}, // /6: lkgs
	{space0F, 0x01}: { // system, virtual machine and other instructions
		{0x1, 0xdf, rms(0, 0x7f) | rms(1, 0x8f) | rms(2, 0xf3) | rms(5, 0xc1) | regs(3, 4, 6, 7)},
		{0x2, 0xdf, rms(0, 0x3f) | rms(2, 0xf3) | rms(3, 0xfd) | rms(7, 0x13) | regs(1, 4, 6)},
		{0x4, all, rms(0, 0x7f) | rms(1, 0x0f) | rms(2, 0xf3) | rms(5, 0xf5) | rms(7, 0xf7) | regs(3, 4, 6)},
		{0x8, 0xdf, rms(0, 0x7f) | rms(1, 0x0f) | rms(2, 0xf3) | rms(5, 0x03) | rms(7, 0xd3) | regs(3, 4, 6)},
	},
	{space0F, 0x71}: {{0x3, 0, regs(2, 4, 6)}}, // shifts by an immediate
	{space0F, 0x72}: {{0x3, 0, regs(2, 4, 6)}},
	{space0F, 0x73}: {{0x1, 0, regs(2, 6)}, {0x2, 0, regs(2, 3, 6, 7)}},
	{space0F, 0xae}: { // state, fences, cache lines, FS and GS bases, waiting
		{0x1, all, regs(5) | rms(6, 1) | rms(7, 1)},
		{0x2, 0xcf, regs(6) | rms(7, 1)},
		{0x4, 0x5f, regs(0, 1, 2, 3, 4, 5, 6) | rms(7, 1)},
		{0x8, 0x0f, regs(6) | rms(7, 1)},
	},
	{space0F, 0xba}: {{0xf, 0xf0, regs(4, 5, 6, 7)}}, // bt, bts, btr, btc
	{space0F, 0xc7}: {{0x7, 0xfa, regs(6, 7)}, {0x8, 0xba, 0}},
}

// amd64InGroup reports whether an opcode's group, if it has one, has the ModR/M byte.
func amd64InGroup(op amd64Opcode, simd, modrm byte) bool {
	groups, ok := amd64Groups[op]
	for _, g := range groups {
		if g.simd>>simd&1 == 1 {
			return modrm >= 0xc0 && g.reg>>(modrm&63)&1 == 1 || modrm < 0xc0 && g.mem>>(modrm>>3&7)&1 == 1
		}
	}
	return !ok
}
