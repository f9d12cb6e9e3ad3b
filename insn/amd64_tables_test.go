package insn

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"trapline/insn/insntest"
)

// TestTablesAgainstObjdump decodes an instruction for every opcode, with every mandatory
// prefix and a choice of ModR/M bytes, and has objdump decode the same: where it sees an
// instruction the lengths are equal, where we see none it sees none.
//
// The other way round is not asked: objdump also looks at what DecodeAMD64 leaves to the
// processor, such as operands that may only be a register.
func TestTablesAgainstObjdump(t *testing.T) {
	var b tableBatch
	b.addOneByte()
	b.addEscaped(0x0f)
	b.addEscaped(0x0f, 0x38)
	b.addEscaped(0x0f, 0x3a)
	b.addVEX()
	b.addEVEX()
	if defined := b.check(t); defined < 5000 {
		t.Errorf("only %d of %d instructions are defined", defined, len(b.cases))
	}
}

// A tableBatch is instructions for objdump, 32 bytes each.
type tableBatch struct{ cases [][]byte }

// modrms is a memory operand with each /r, and a register operand with most.
var modrms = []byte{0x00, 0x0d, 0x54, 0x98, 0x20, 0x68, 0xb4, 0x3d, 0xc0, 0xca, 0xd1, 0xd9, 0xe1, 0xe8, 0xf0, 0xf8}

// fewModRMs does for the vector prefixes, which have few groups.
var fewModRMs = []byte{0x00, 0x54, 0xd1, 0xf0}

var simdPrefixes = [][]byte{nil, {0x66}, {0xf3}, {0xf2}}

// add appends an instruction with each ModR/M byte; what follows stands for SIB,
// displacement and immediates.
func (b *tableBatch) add(modrms []byte, head ...byte) {
	for _, modrm := range modrms {
		b.cases = append(b.cases, append(bytes.Clone(head), modrm, 0x25, 1, 2, 3, 4, 5, 6, 7, 8))
	}
}

func (b *tableBatch) addOneByte() {
	for op := range 256 {
		switch op {
		case 0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3:
			continue // escapes and prefixes
		case 0x8f, 0x9b:
			continue // XOP; fwait, which objdump joins with what follows
		}
		if op&0xf0 == 0x40 {
			continue // REX
		}
		b.add(modrms, byte(op))
		b.add(modrms, 0x66, byte(op))
		b.add(modrms, 0x48, byte(op))
		b.add(modrms, 0x67, byte(op))
	}
}

func (b *tableBatch) addEscaped(escape ...byte) {
	for op := range 256 {
		if len(escape) == 1 && strings.IndexByte("\x0e\x0f\x38\x3a\xa6\xa7", byte(op)) >= 0 {
			continue // 3DNow!, further escapes, VIA's PadLock
		}
		for _, prefix := range simdPrefixes {
			b.add(modrms, append(append(bytes.Clone(prefix), escape...), byte(op))...)
		}
	}
}

func (b *tableBatch) addVEX() {
	for op := range 256 {
		for simd := range byte(4) {
			b.add(fewModRMs, 0xc5, 0xf8|simd, byte(op))
			for m := range byte(5) {
				b.add(fewModRMs, 0xc4, 0xe0|m, 0x78|simd, byte(op))
			}
		}
	}
}

func (b *tableBatch) addEVEX() {
	for op := range 256 {
		for simd := range byte(4) {
			for m := range byte(8) {
				b.add(fewModRMs, 0x62, 0xf0|m, 0x7c|simd, 0x49, byte(op))
			}
		}
	}
}

// check runs objdump over the batch and returns how many of its instructions we know.
func (b *tableBatch) check(t *testing.T) (defined int) {
	const stride = 32
	var code []byte
	for _, c := range b.cases {
		n, err := AMD64.Length(c)
		if err == nil {
			defined++
			c = c[:n]
		}
		code = append(code, insntest.Padded(c)...)
	}
	starts := make([][]uint64, len(b.cases)) // offsets of the first two lines of each
	bad := make([]bool, len(b.cases))
	insntest.DumpBytes(t, code, 0, func(d insntest.Line) {
		i := d.Addr / stride
		if len(starts[i]) == 0 {
			bad[i] = d.Bad()
		}
		if len(starts[i]) < 2 {
			starts[i] = append(starts[i], d.Addr%stride)
		}
	}, "-z")
	newer := newerObjdump(t)
	for i, c := range b.cases {
		n, err := AMD64.Length(c)
		switch {
		case err != nil && newer: // of an extension that came after the tables
		case len(starts[i]) < 2 || starts[i][0] != 0:
			t.Errorf("% x: objdump has lost its way", c)
		case bad[i]:
		case err != nil:
			t.Errorf("% x: %v, objdump has %d bytes", c, err, starts[i][1])
		case starts[i][1] != uint64(n):
			t.Errorf("% x: %d bytes, objdump has %d", c, n, starts[i][1])
		}
	}
	return defined
}

// newerObjdump reports whether objdump may know instructions that the tables have not: those are of
// the extensions that binutils 2.40 knows.
func newerObjdump(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command("objdump", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	var major, minor int
	if _, err := fmt.Sscanf(line[strings.LastIndexByte(line, ' ')+1:], "%d.%d", &major, &minor); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return major > 2 || minor > 40
}

// TestGrids: every grid has 256 cells, and a layout for every opcode that is defined.
func TestGrids(t *testing.T) {
	for space, table := range amd64Tables {
		if len(table.layout) != 256 || table.allowed != nil && len(table.allowed) != 256 {
			t.Fatalf("space %d: %d and %d cells", space, len(table.layout), len(table.allowed))
		}
		for op := range 256 {
			if table.allowed != nil && strings.IndexByte(hexDigits, table.allowed[op]) < 0 {
				t.Errorf("space %d, opcode %#02x: %q", space, op, table.allowed[op])
			}
			if !strings.ContainsRune(".-bwnvzojkBMRTUEZ", rune(table.layout[op])) {
				t.Errorf("space %d, opcode %#02x: layout %q", space, op, table.layout[op])
			}
		}
	}
}
