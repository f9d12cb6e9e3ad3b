package insn

import (
	"encoding/binary"

	"trapline/kernel/arch"
)

// maxInstr is the bytes of the longest instruction.
var maxInstr = arch.AMD64.MaxInstr

// An AMD64Inst is where the parts of one instruction lie. Offsets count from its first
// byte; an offset is 0 when the part is absent, as no such part comes first.
type AMD64Inst struct {
	Len    int
	space  amd64Space
	Opcode byte // last byte of the opcode
	At     int  // offset of the opcode's first byte (0f, c4, c5 and 62 included)

	OpSize, AddrSize bool // 66 and 67 are among the prefixes
	lock             bool // f0
	rep              byte // the last of f2 and f3, or 0
	rex              byte // 0 if absent or cancelled by a later prefix

	ModRM, sib    int
	Disp, dispLen int // displacement of a memory operand
	imm, immLen   int // immediate, or the displacement of a branch
	RIPRel        bool
}

// amd64Space is an opcode space: the escape bytes or the vector prefix before the opcode.
type amd64Space uint8

const (
	spaceOne     amd64Space = iota // one-byte opcodes
	space0F                        // 0f
	space0F38                      // 0f 38
	space0F3A                      // 0f 3a
	spaceVEX1                      // c4 or c5, map 1; then 2 and 3
	spaceVEX2                      //
	spaceVEX3                      //
	spaceEVEX1                     // 62, map 1; then 2, 3, 5 and 6
	spaceEVEX2                     //
	spaceEVEX3                     //
	spaceEVEX5                     //
	spaceEVEX6                     //
	spaceUnknown                   // a vector prefix that selects no map
)

// simd is the mandatory prefix as the vector prefixes number it: 0 none, 1 66, 2 f3, 3 f2.
// f2 and f3 win over 66 (SDM vol. 2, 2.1.2).
func (in *AMD64Inst) simd() uint8 {
	switch {
	case in.rep == 0xf3:
		return 2
	case in.rep == 0xf2:
		return 3
	case in.OpSize:
		return 1
	}
	return 0
}

func (in *AMD64Inst) rexW() bool { return in.rex&8 != 0 }

// OneByte reports whether the opcode has one byte.
func (in *AMD64Inst) OneByte() bool { return in.space == spaceOne }

// TwoBytes reports whether the opcode is 0f and one byte.
func (in *AMD64Inst) TwoBytes() bool { return in.space == space0F }

// RexB reports whether the REX prefix extends the register in ModR/M.rm.
func (in *AMD64Inst) RexB() bool { return in.rex&1 != 0 }

// DecodeAMD64 finds the parts of the first instruction of code. It knows every
// instruction of 64-bit mode that GNU binutils 2.40 knows, except 3DNow! and XOP, which no
// processor of the last ten years has.
//
// Undefined is a matter of opcode space, opcode, mandatory prefix and ModR/M.reg. What is
// undefined for a finer reason (a LOCK that may not be there, a vector register number out
// of range) has a length all the same, and faults when it runs.
//
// Where a 66 prefix meets a near branch, processors differ: the displacement has 16 bits
// on AMD's and under the emulator, 32 on Intel's. This decoder does as AMD's.
func DecodeAMD64(code []byte) (AMD64Inst, error) {
	d := amd64Decoder{code: code}
	if len(d.code) > maxInstr {
		d.code = d.code[:maxInstr]
	}
	d.readPrefixes()
	d.readOpcode()
	d.readOperands()
	switch {
	case d.short && len(code) >= maxInstr:
		return AMD64Inst{}, ErrTooLong
	case d.short:
		return AMD64Inst{}, ErrTruncated
	case d.undefined:
		return AMD64Inst{}, ErrUndefined
	}
	d.in.Len = d.pos
	return d.in, nil
}

// An amd64Decoder reads one instruction from left to right. Trouble is remembered and
// looked at once, at the end.
type amd64Decoder struct {
	code      []byte
	pos       int
	short     bool // code ended too early
	undefined bool
	layout    byte // of the operands: a letter of amd64_tables.go
	in        AMD64Inst
}

// next reads a byte; past the end it is 0.
func (d *amd64Decoder) next() byte {
	if d.pos >= len(d.code) {
		d.short = true
		return 0
	}
	d.pos++
	return d.code[d.pos-1]
}

// skip passes over n bytes and returns the offset of the first.
func (d *amd64Decoder) skip(n int) int {
	at := d.pos
	d.pos += n
	d.short = d.short || d.pos > len(d.code)
	return at
}

// readPrefixes reads legacy prefixes and REX. A REX counts only directly before the opcode
// (SDM vol. 2, 2.2.1).
func (d *amd64Decoder) readPrefixes() {
	in := &d.in
	for ; d.pos < len(d.code); d.pos++ {
		switch b := d.code[d.pos]; b {
		case 0x66:
			in.OpSize, in.rex = true, 0
		case 0x67:
			in.AddrSize, in.rex = true, 0
		case 0xf0:
			in.lock, in.rex = true, 0
		case 0xf2, 0xf3:
			in.rep, in.rex = b, 0
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65: // segments
			in.rex = 0
		default:
			if b&0xf0 != 0x40 {
				return
			}
			in.rex = b
		}
	}
}

// readOpcode reads the escape bytes or vector prefix and the opcode.
func (d *amd64Decoder) readOpcode() {
	in := &d.in
	in.At = d.pos
	simd := in.simd()
	in.Opcode = d.next()
	switch in.Opcode {
	case 0x0f:
		in.space, in.Opcode = space0F, d.next()
		switch in.Opcode {
		case 0x38:
			in.space, in.Opcode = space0F38, d.next()
		case 0x3a:
			in.space, in.Opcode = space0F3A, d.next()
		}
	case 0xc4, 0xc5, 0x62:
		d.undefined = in.OpSize || in.rep != 0 || in.lock || in.rex != 0
		simd = d.readVector(in.Opcode)
	}
	d.lookup(simd)
}

// readVector reads the rest of a vector prefix (SDM vol. 2, 2.3.5 and 2.7.1) and the
// opcode, and returns the mandatory prefix that it stands for.
func (d *amd64Decoder) readVector(lead byte) (simd uint8) {
	p := d.next()
	if lead == 0xc5 {
		d.in.space, d.in.Opcode = spaceVEX1, d.next()
		return p & 3
	}
	q := d.next()
	spaces := &amd64VEXMaps
	if lead == 0x62 {
		spaces = &amd64EVEXMaps
		d.undefined = d.undefined || p&8 != 0 || q&4 == 0
		p &= 7
		d.next() // z, L'L, b, V', aaa
	}
	d.in.space = spaceUnknown
	if p&0x1f < 8 {
		d.in.space = spaces[p&7]
	}
	d.in.Opcode = d.next()
	return q & 3
}

// lookup finds out whether there is such an instruction, and its operand layout.
func (d *amd64Decoder) lookup(simd byte) {
	in := &d.in
	if in.space == spaceUnknown || !amd64Tables[in.space].defines(in.Opcode, simd) {
		d.undefined = true
		return
	}
	d.layout = amd64Tables[in.space].layout[in.Opcode]
	if amd64HasModRM(d.layout) && d.pos < len(d.code) {
		op := amd64Opcode{in.space, in.Opcode}
		d.undefined = d.undefined || !amd64InGroup(op, simd, d.code[d.pos])
	}
}

// readOperands passes over ModR/M, SIB, displacement and immediate.
func (d *amd64Decoder) readOperands() {
	if d.short || d.undefined {
		return
	}
	if amd64HasModRM(d.layout) {
		d.readModRM()
	}
	if n := d.immediate(); n > 0 {
		d.in.imm, d.in.immLen = d.skip(n), n
	}
}

// readModRM passes over a ModR/M byte and what it asks for (SDM vol. 2, tables 2-2, 2-3).
func (d *amd64Decoder) readModRM() {
	in := &d.in
	in.ModRM = d.pos
	b := d.next()
	mod, base := b>>6, b&7
	if mod == 3 || d.layout == 'R' {
		return
	}
	if base == 4 {
		in.sib = d.pos
		base = d.next() & 7
	}
	switch {
	case mod == 0 && base == 5:
		in.dispLen = 4
		in.RIPRel = in.sib == 0
	case mod == 1:
		in.dispLen = 1
	case mod == 2:
		in.dispLen = 4
	default:
		return
	}
	in.Disp = d.skip(in.dispLen)
}

// immediate returns the size of the immediate in bytes.
func (d *amd64Decoder) immediate() int {
	in := &d.in
	switch d.layout {
	case 'b', 'B', 'j':
		return 1
	case 'w':
		return 2
	case 'n':
		return 3
	case 'z', 'Z', 'k':
		return d.immediateZ()
	case 'v':
		if in.rexW() {
			return 8
		}
		return d.immediateZ()
	case 'o':
		if in.AddrSize {
			return 4
		}
		return 8
	case 'T':
		if d.reg() < 2 {
			return 1
		}
	case 'U':
		if d.reg() < 2 {
			return d.immediateZ()
		}
	case 'E':
		if in.space == space0F && in.simd()&1 == 1 {
			return 2
		}
	}
	return 0
}

// immediateZ is the size of an immediate that has at most 32 bits.
func (d *amd64Decoder) immediateZ() int {
	if d.in.OpSize && !d.in.rexW() {
		return 2
	}
	return 4
}

// reg is the reg field of ModR/M.
func (d *amd64Decoder) reg() byte {
	if d.short {
		return 0
	}
	return d.code[d.in.ModRM] >> 3 & 7
}

// int32At reads a signed displacement of 1, 2 or 4 bytes.
func int32At(code []byte, at, size int) int32 {
	switch size {
	case 1:
		return int32(int8(code[at]))
	case 2:
		return int32(int16(binary.LittleEndian.Uint16(code[at:])))
	}
	return int32(binary.LittleEndian.Uint32(code[at:]))
}
