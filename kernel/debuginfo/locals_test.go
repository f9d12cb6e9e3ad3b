package debuginfo

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
)

// cpu is a stopped CPU with its registers by DWARF number, and 64 KiB of memory at 0x10000,
// each number in it its own address.
type cpu map[int]uint64

func (c cpu) Reg(r arch.Reg) uint64 { return c[arch.AMD64.Regs[r].DWARF] }

func (c cpu) Read(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		if at < 0x10000 || at >= 0x20000 {
			return errors.New("not mapped")
		}
		p[i] = byte((at &^ 7) >> (8 * (at & 7)))
	}
	return nil
}

// TestExpressions runs expressions on registers 0 to 15 that hold 0x10000 + 16 times their
// number.
func TestExpressions(t *testing.T) {
	regs := cpu{}
	for i := range 17 {
		regs[i] = 0x10000 + uint64(16*i)
	}
	l := expressionLocals(t)
	for _, test := range []struct {
		name, expr string
		size       int
		want       string
	}{
		{"register", "\x53", 4, "30 00 01 00"},
		{"regx", "\x90\x0c", 8, "c0 00 01 00 00 00 00 00"},
		{"uninitialized", "\x53\xf0", 4, "30 00 01 00"},
		{"no such register", "\x90\x60", 8, "optimized out"},
		{"in memory", "\x75\x08", 8, "at 0x10058"},
		{"below a register", "\x75\x78", 8, "at 0x10048"},
		{"indirect", "\x75\x00\x06", 8, "at 0x10050"},
		{"value", "\x08\x2a\x9f", 2, "2a 00"},
		{"negative", "\x09\xff\x9f", 4, "ff ff ff ff"},
		{"implicit", "\x9e\x02\x01\x02", 2, "01 02"},
		{"pieces", "\x51\x93\x02\x08\x07\x9f\x93\x02", 4, "10 00 07 00"},
		{"a piece is missing", "\x51\x93\x04\x93\x04", 8, "optimized out"},
		{"a piece beyond the end", "\x51\x93\x08", 4, "10 00 01 00"},
		{"a huge piece", "\x51\x93\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "10 00 01 00 00 00 00 00"},
		{"a piece of 1 TiB", "\x51\x93\x80\x80\x80\x80\x80\x20", 4, "10 00 01 00"},
		{"all behind a long piece", "\x51\x93\x20\x52\x93\x00", 8, "10 00 01 00 00 00 00 00"},
		{"a type of 1 TiB in a register", "\x51", 1 << 40,
			"its location cannot be evaluated: it has 1099511627776 bytes, and is not in memory as a whole"},
		{"implicit pointer", "\xa0\x00\x00\x00\x00\x00", 8, "optimized out"},
		{"sum", "\x32\x33\x22\x9f", 1, "05"},
		{"difference", "\x32\x33\x1c\x9f", 8, "ff ff ff ff ff ff ff ff"},
		{"signed division", "\x09\xf8\x33\x1b\x9f", 1, "fe"},
		{"remainder", "\x37\x34\x1d\x9f", 1, "03"},
		{"by zero", "\x37\x30\x1b\x9f", 1, "its location cannot be evaluated: it divides by zero"},
		{"arithmetic shift", "\x09\xf0\x32\x26\x9f", 1, "fc"},
		{"logical shift", "\x09\xff\x08\x3c\x25\x9f", 1, "0f"},
		{"less, signed", "\x09\xff\x31\x2d\x9f", 1, "01"},
		{"greater or equal", "\x31\x31\x2a\x9f", 1, "01"},
		{"plus_uconst", "\x31\x23\x80\x01\x9f", 1, "81"},
		{"swap", "\x31\x35\x16\x1c\x9f", 1, "04"},
		{"rot", "\x31\x32\x33\x17\x9f", 1, "02"},
		{"over", "\x31\x32\x14\x9f", 1, "01"},
		{"pick", "\x31\x32\x33\x15\x02\x9f", 1, "01"},
		{"pick too deep", "\x31\x15\x02\x9f", 1, "its location cannot be evaluated"},
		{"branch taken", "\x35\x31\x28\x01\x00\x36\x9f", 1, "05"},
		{"branch not taken", "\x35\x30\x28\x01\x00\x36\x9f", 1, "06"},
		{"for ever", "\x2f\xfd\xff", 1, "its location cannot be evaluated"},
		{"deref_size", "\x70\x10\x94\x01\x9f", 2, "10 00"},
		{"not mapped", "\x30\x06\x9f", 8, "not mapped"},
		{"entry value without a caller", "\xa3\x01\x55\x9f", 8, "optimized out"},
		{"unknown", "\xff", 8, "its location cannot be evaluated: operation 0xff"},
		{"cut off", "\x0e\x01", 8, "its location cannot be evaluated"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := &Local{Name: "v", Type: ctypes.ArrayOf(ctypes.UnsignedCharType, test.size), expr: []byte(test.expr)}
			v.at = localPlace{unit: &localUnit{unit: &unit{addrSize: 8, version: 5}}}
			addr, data, err := l.Read(v, regs)
			have := fmt.Sprintf("% x", data)
			switch {
			case err != nil:
				have = strings.TrimPrefix(err.Error(), "v: ")
			case data == nil:
				have = fmt.Sprintf("at %#x", addr)
			}
			if have != test.want {
				t.Errorf("%s, want %s", have, test.want)
			}
		})
	}
}

func expressionLocals(t *testing.T) *Locals {
	t.Helper()
	data := compile(t, "gcc", "-gdwarf-5")
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "test")
	if err != nil {
		t.Fatal(err)
	}
	x, err := OpenIndex(img, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewLocals(img, x, New(img, "", ""), img)
}

// TestLocals: parameters where a function and a copy begin, in both formats, and in a kernel
// that has moved.
func TestLocals(t *testing.T) {
	for _, format := range []string{"-gdwarf-4", "-gdwarf-5"} {
		data := compile(t, "gcc", format)
		img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "test")
		if err != nil {
			t.Fatal(err)
		}
		x, err := OpenIndex(img, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		const slide = 0x200000
		img.SetSlide(slide)
		l := NewLocals(img, x, New(img, "", ""), img)
		f, _ := x.Function("distance")
		at := f.Regular[0].Entry + slide
		if names := l.Names(at); !slices.Equal(names, []string{"a", "b", "d"}) {
			t.Errorf("%s: variables of distance: %v", format, names)
		}
		a, _ := l.Find(at, "a")
		if _, value, err := l.Read(a, cpu{5: 0x1234}); a.Type.String() != "struct counter *" || err != nil || le.Uint64(value) != 0x1234 {
			t.Errorf("%s: a is %v %x, %v", format, a.Type, value, err)
		}
		d, _ := l.Find(at, "d") // computed from what a and b point to
		if _, _, err := l.Read(d, cpu{5: 0x10000, 4: 0x10000}); err != nil {
			t.Errorf("%s: d: %v", format, err)
		}
		if _, ok := l.Find(at, "i"); ok {
			t.Errorf("%s: distance has a variable i", format)
		}
		c := f.Copies[0] // in near(i, j)
		if names := l.Names(c.Entry + slide); !slices.Contains(names, "a") {
			t.Errorf("%s: variables of the copy: %v", format, names)
		}
		if _, ok := l.Find(0x10, "a"); ok {
			t.Errorf("%s: a variable where no function is", format)
		}
	}
}

// FuzzExpression: whatever an expression says, a variable has as many bytes as its type, or none.
func FuzzExpression(f *testing.F) {
	for _, expr := range []string{
		"\x2f\xfd\xff", "\xa3\x03\xa3\x01\x55\x93\x02", "\xa8\x20\xf5\x01\x02\xa6\x09\x01\x94\x20",
		"\x51\x93\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x51\x93\x20\x51\x93\x00", "\x51\x93\xff\xff\xff\xff\xff\x3f",
		"\x91\x00\x91\x00\x2f\xf9\xff", "\x9c\x9c\x2f\xfb\xff",
	} {
		f.Add([]byte(expr), uint8(0))
		f.Add([]byte(expr), uint8(3))
	}
	types := []*ctypes.Type{
		ctypes.LongType, ctypes.VoidType, ctypes.ArrayOf(ctypes.UnsignedCharType, 20), ctypes.ArrayOf(ctypes.LongType, 1<<39),
	}
	var l *Locals
	f.Fuzz(func(t *testing.T, expr []byte, of uint8) {
		if l == nil {
			l = expressionLocals(t)
		}
		v := &Local{Name: "v", Type: types[int(of)%len(types)], expr: expr}
		at := l.x.t.defs.address(0, defEntry)
		l.steps = maxSteps
		scopes := l.scopes(at)
		v.at = localPlace{at, scopes[0].unit, &scopes[0]}
		if _, data, err := l.Read(v, cpu{7: 0x10800}); err == nil && data != nil && len(data) != v.Type.Bytes() {
			t.Errorf("%d bytes of %d", len(data), v.Type.Bytes())
		} else if err != nil && strings.Contains(err.Error(), "runtime error") {
			t.Error(err)
		}
	})
}

// lateEntry opens a program whose debug information has a function begin some bytes behind its symbol.
// GCC 12.2 writes that by itself, later ones of that version do not.
func lateEntry(t *testing.T, data []byte, function string, late uint64) *kernel.Image {
	t.Helper()
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "test")
	if err != nil {
		t.Fatal(err)
	}
	addr := img.Symtab().Lookup(function)[0].Addr
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	info := f.Section(".debug_info")
	part := data[info.Offset : info.Offset+info.FileSize]
	at := binary.LittleEndian.AppendUint64(nil, addr)
	if i := bytes.LastIndex(part, at); i != bytes.Index(part, at) { // the first is the unit's
		binary.LittleEndian.PutUint64(part[i:], addr+late)
	}
	if img, err = kernel.New(bytes.NewReader(data), int64(len(data)), "test"); err != nil {
		t.Fatal(err)
	}
	return img
}

// TestPatchableEntry: a function of which the debug information leaves out what is at its symbol,
// as that of arm64's and riscv64's Linux does.
func TestPatchableEntry(t *testing.T) {
	data := compile(t, "aarch64-linux-gnu-gcc-12", "-g", "-fpatchable-function-entry=2")
	img := lateEntry(t, data, "distance", 8)
	x, err := OpenIndex(img, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLocals(img, x, New(img, "", ""), img)
	s := img.Symtab().Lookup("distance")[0]
	if f, _ := x.Function("distance"); f.Regular[0].Entry != s.Addr+8 {
		t.Fatalf("distance is at %#x, its code at %#x", s.Addr, f.Regular[0].Entry)
	}
	for off := uint64(0); off <= 8; off += 4 {
		if names := l.Names(s.Addr + off); !slices.Equal(names, []string{"a", "b", "d"}) {
			t.Errorf("variables %d bytes behind distance: %v", off, names)
		}
	}
}
