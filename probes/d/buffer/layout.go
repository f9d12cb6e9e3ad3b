package buffer

import (
	"bytes"
	"encoding/binary"
)

// Kind says how a value is recorded.
type Kind uint8

// Kinds of values.
const (
	Int    Kind = iota // Size bytes: 1, 2, 4 or 8
	String             // a string in Size bytes; what follows is 0
	Bytes              // Size bytes as they were in the guest
	Stack              // a count and as many program counters, room for (Size-8)/8
)

// A Field is one recorded value of a clause.
type Field struct {
	Kind   Kind
	Signed bool // of an Int
	Action int  // index of the action in its clause
	Offset int  // from the start of the record
	Size   int  // bytes
}

// A Layout is where the values of a clause stand in its records. The zero value records
// nothing.
type Layout struct {
	Fields []Field
	// Size is the bytes of a record with its header, a multiple of 4; 0: the clause
	// leaves no record.
	Size int
}

// NewLayout is the layout of records without values: they say that the probe has fired.
func NewLayout() *Layout { return &Layout{Size: HeaderSize} }

// Add appends a value, aligned as a C compiler would; f.Offset is filled in.
func (l *Layout) Add(f Field) {
	end := HeaderSize
	if n := len(l.Fields); n > 0 {
		last := l.Fields[n-1]
		end = last.Offset + last.Size
	}
	f.Offset = roundUp(end, f.align())
	l.Fields = append(l.Fields, f)
	l.Size = roundUp(f.Offset+f.Size, 4)
}

func (f Field) align() int {
	switch f.Kind {
	case Int:
		return f.Size
	case Stack:
		return 8
	}
	return 1
}

func roundUp(n, align int) int { return (n + align - 1) / align * align }

// StackSize is the Field.Size of a stack of at most depth frames.
func StackSize(depth int) int { return 8 + 8*depth }

// PutInt records the low Size bytes of v.
func (f *Field) PutInt(rec []byte, v uint64) {
	p := rec[f.Offset:]
	switch f.Size {
	case 1:
		p[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}

// PutString records s, cut to Size bytes, and zeros behind it.
func (f *Field) PutString(rec, s []byte) {
	p := rec[f.Offset : f.Offset+f.Size]
	n := copy(p, s)
	clear(p[n:])
}

// PutBytes records b, cut to Size bytes, and zeros behind it.
func (f *Field) PutBytes(rec, b []byte) {
	p := rec[f.Offset : f.Offset+f.Size]
	clear(p[copy(p, b):])
}

// PutStack records program counters, as many as there is room for.
func (f *Field) PutStack(rec []byte, pcs []uint64) {
	p := rec[f.Offset : f.Offset+f.Size]
	pcs = pcs[:min(len(pcs), len(p)/8-1)]
	binary.LittleEndian.PutUint64(p, uint64(len(pcs)))
	for i, pc := range pcs {
		binary.LittleEndian.PutUint64(p[8+8*i:], pc)
	}
}

// PutFrames records program counters that stand in b, 8 bytes each.
func (f *Field) PutFrames(rec, b []byte) {
	p := rec[f.Offset : f.Offset+f.Size]
	binary.LittleEndian.PutUint64(p, uint64(copy(p[8:], b)/8))
}

// Int is a recorded integer, extended to 64 bits by its sign.
func (f *Field) Int(rec []byte) uint64 {
	p := rec[f.Offset:]
	switch f.Size {
	case 1:
		return extend(uint64(p[0]), 56, f.Signed)
	case 2:
		return extend(uint64(binary.LittleEndian.Uint16(p)), 48, f.Signed)
	case 4:
		return extend(uint64(binary.LittleEndian.Uint32(p)), 32, f.Signed)
	}
	return binary.LittleEndian.Uint64(p)
}

// extend takes the sign from the bit that is left of the unused upper ones.
func extend(v uint64, unused int, signed bool) uint64 {
	if signed {
		return uint64(int64(v<<unused) >> unused)
	}
	return v
}

// Bytes is the whole of a recorded value, in the memory of rec.
func (f *Field) Bytes(rec []byte) []byte { return rec[f.Offset : f.Offset+f.Size] }

// String is a recorded string without its NUL, in the memory of rec.
func (f *Field) String(rec []byte) []byte {
	p := f.Bytes(rec)
	if i := bytes.IndexByte(p, 0); i >= 0 {
		return p[:i]
	}
	return p
}

// Stack is the recorded program counters, innermost first.
func (f *Field) Stack(rec []byte) []uint64 {
	p := f.Bytes(rec)
	pcs := make([]uint64, min(int(binary.LittleEndian.Uint64(p)), len(p)/8-1))
	for i := range pcs {
		pcs[i] = binary.LittleEndian.Uint64(p[8+8*i:])
	}
	return pcs
}
