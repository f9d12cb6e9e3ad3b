package patch

import (
	"bytes"
	"fmt"

	"trapline/trampoline"
)

// A Func is a function of the guest.
type Func struct {
	Start uint64
	Size  int // bytes

	set    *Set
	points int
	text   []byte // as last decoded
	// held remembers the lengths of instructions that a breakpoint of the guest's hides.
	held map[int]int
	// err says why decoding stopped before the end, at offset end.
	err error
	end int
}

// An Instr is an instruction of a Func.
type Instr struct {
	Off, Len int
	Plan     trampoline.Plan
	Code     []byte // Len bytes as they are in the guest
}

// Instrs decodes the function as it is now in the guest. When an instruction cannot be
// decoded it returns those before it, and an error that says where it stopped.
func (f *Func) Instrs() ([]Instr, error) {
	if err := f.set.refresh([]*Func{f}); err != nil {
		return nil, err
	}
	var out []Instr
	f.walk(f.text, func(off, n int) {
		code := f.text[off : off+n]
		out = append(out, Instr{off, n, f.set.isa.Plan(code, f.Start+uint64(off)), code})
	})
	return out, f.err
}

// walk yields the instructions of text, which is f's, from the start. What it could not
// decode is in f.err and f.end.
func (f *Func) walk(text []byte, yield func(off, n int)) {
	var file []byte // lengths of the image file's instructions, read when first needed
	f.err = nil
	off := 0
	for off < len(text) {
		n, err := f.lengthAt(text, off, &file)
		if err != nil {
			f.err = fmt.Errorf("decode the instruction at offset %d: %w", off, err)
			break
		}
		yield(off, n)
		off += n
	}
	f.end = off
}

// lengthAt is the length of the instruction at text[off:].
//
// A breakpoint there is one of the guest's, over the first byte of an instruction whose
// length cannot be seen. When the image file has an instruction there, it is that one's.
// When it has none, because the text was rewritten before, it is the length the
// instruction had before, provided it ends where the file has a boundary. Otherwise the
// breakpoint is taken for an instruction of its own. A length remembered without these
// checks would go wrong for good: the guest's stores can be seen half done.
func (f *Func) lengthAt(text []byte, off int, file *[]byte) (int, error) {
	if !f.set.isBreak(text[off:]) {
		delete(f.held, off)
		return f.set.isa.Length(text[off:])
	}
	if *file == nil {
		*file = f.fileLengths()
	}
	lengths := *file
	if n := int(lengths[off]); n > 0 && off+n <= len(text) {
		return n, nil
	}
	n := f.held[off]
	if n == 0 && off < len(f.text) && !f.set.isBreak(f.text[off:]) {
		n, _ = f.set.isa.Length(f.text[off:])
	}
	if n > 0 && (off+n == len(text) || off+n < len(text) && lengths[off+n] > 0) {
		if f.held == nil {
			f.held = map[int]int{}
		}
		f.held[off] = n
		return n, nil
	}
	return len(f.set.breakpoint), nil
}

// fileLengths decodes the function as the image file has it: at each boundary the length
// of the instruction, 0 elsewhere.
func (f *Func) fileLengths() []byte {
	lengths := make([]byte, f.Size)
	code := make([]byte, f.Size)
	if f.set.file(f.Start, code) != nil {
		return lengths
	}
	for off := 0; off < len(code); {
		n, err := f.set.isa.Length(code[off:])
		if err != nil {
			break
		}
		lengths[off] = byte(n)
		off += n
	}
	return lengths
}

// read gets the function's bytes from the guest, from the image file while the guest
// has not mapped them.
func (f *Func) read() ([]byte, error) {
	text := make([]byte, f.Size)
	err := f.set.target.ReadMem(f.Start, text)
	if err == nil {
		return text, nil
	}
	if f.set.file(f.Start, text) == nil {
		return text, nil
	}
	return nil, fmt.Errorf("read the function at %#x: %w", f.Start, err)
}

// same reports whether the n bytes at off are the same in both texts.
func same(a, b []byte, off, n int) bool {
	return off+n <= len(a) && off+n <= len(b) && bytes.Equal(a[off:off+n], b[off:off+n])
}
