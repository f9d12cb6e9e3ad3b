package patch

import (
	"bytes"
	"fmt"

	"trapline/insn"
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
	// onChange is called for a new text.
	onChange func()
}

// An Instr is an instruction of a Func.
type Instr struct {
	Off, Len int
	Plan     trampoline.Plan
	Code     []byte // Len bytes as they are in the guest
}

// OnChange sets the function that is called after the guest has changed the text of f, once
// that is known: when it is decoded again, or rewritten under breakpoints. It may ask for
// instructions, and add and enable points.
func (f *Func) OnChange(call func()) { f.onChange = call }

// usualLen is about how many bytes an instruction has.
const usualLen = 4

// Instrs decodes the function as it is now in the guest. When an instruction cannot be
// decoded it returns those before it, and an error that says where it stopped.
func (f *Func) Instrs() ([]Instr, error) {
	return f.Plans(f.Each)
}

// A Walk yields offset and bytes of each instruction of a function until yield returns false. When
// one cannot be decoded the error says where it stopped.
type Walk func(yield func(off int, code []byte) bool) error

// Plans is Instrs of what a walk of f yields.
func (f *Func) Plans(walk Walk) ([]Instr, error) {
	out := make([]Instr, 0, f.Size/usualLen+1)
	err := walk(func(off int, code []byte) bool {
		out = append(out, f.Instr(off, code))
		return true
	})
	return out, err
}

// Each is the Walk of the function as it is now in the guest.
func (f *Func) Each(yield func(off int, code []byte) bool) error {
	if err := f.set.refresh([]*Func{f}); err != nil {
		return err
	}
	return f.each(yield)
}

// each is the Walk of the text as it was read last.
func (f *Func) each(yield func(off int, code []byte) bool) error {
	return f.walk(f.text, func(off, n int) bool { return yield(off, f.text[off:off+n]) })
}

// Instr is an instruction that Each has yielded.
func (f *Func) Instr(off int, code []byte) Instr {
	return Instr{off, len(code), f.set.isa.Plan(code, f.Start+uint64(off)), code}
}

// Flow returns where control goes after an instruction of f.
func (f *Func) Flow(in Instr) insn.Flow {
	return f.set.isa.Flow(in.Code, f.Start+uint64(in.Off))
}

// walk yields the instructions of text, which is f's, from the start, until yield returns
// false. It changes nothing but f: several functions may be walked at once.
func (f *Func) walk(text []byte, yield func(off, n int) bool) error {
	var known lengths
	for off := 0; off < len(text); {
		n, err := f.lengthAt(text, off, &known)
		if err != nil {
			return fmt.Errorf("decode the instruction at offset %d: %w", off, err)
		}
		if !yield(off, n) {
			break
		}
		off += n
	}
	return nil
}

// lengths are those of a function's instructions: at each boundary the length, 0
// elsewhere. They are found out when first needed, for few functions hold a breakpoint.
type lengths struct {
	file   []byte // in the image file
	before []byte // in the text as it was decoded last
}

// lengthAt is the length of the instruction at text[off:].
//
// A breakpoint there is one of the guest's, over the first byte of an instruction whose
// length cannot be seen. When the image file has an instruction there, it is that one's.
// When it has none, because the text was rewritten before, it is the length of the
// instruction that began there before, provided it ends where the file has a boundary.
// Otherwise the breakpoint is taken for an instruction of its own, as those are that fill
// the place of a jump to a return thunk. A length remembered without these checks would
// go wrong for good: the guest's stores can be seen half done.
func (f *Func) lengthAt(text []byte, off int, known *lengths) (int, error) {
	if !f.set.isBreak(text[off:]) {
		delete(f.held, off)
		return f.set.isa.Length(text[off:])
	}
	if known.file == nil {
		known.file = f.fileLengths()
	}
	if n := int(known.file[off]); n > 0 && off+n <= len(text) {
		return n, nil
	}
	if known.before == nil {
		known.before = f.lengthsOf(f.text, known.file)
	}
	n := f.held[off]
	if n == 0 && off < len(known.before) && !f.set.isBreak(f.text[off:]) {
		n = int(known.before[off])
	}
	if n > 0 && (off+n == len(text) || off+n < len(text) && known.file[off+n] > 0) {
		if f.held == nil {
			f.held = map[int]int{}
		}
		f.held[off] = n
		return n, nil
	}
	return len(f.set.breakpoint), nil
}

// fileLengths decodes the function as the image file has it.
func (f *Func) fileLengths() []byte {
	code := make([]byte, f.Size)
	if f.set.file(f.Start, code) != nil {
		return make([]byte, f.Size)
	}
	return f.lengthsOf(code, nil)
}

// lengthsOf decodes text up to where it stops being instructions. A breakpoint in it is
// over an instruction of the file, over one whose length was held, or stands for itself.
func (f *Func) lengthsOf(text, file []byte) []byte {
	out := make([]byte, len(text))
	for off := 0; off < len(text); {
		n, err := f.set.isa.Length(text[off:])
		if f.set.isBreak(text[off:]) && file != nil {
			n = max(int(file[off]), f.held[off], len(f.set.breakpoint))
		}
		if err != nil {
			break
		}
		out[off] = byte(n)
		off += n
	}
	return out
}

// Read fills p with text from the guest, from the image file while the guest has not mapped
// it.
func (s *Set) Read(addr uint64, p []byte) error {
	err := s.target.ReadMem(addr, p)
	if err == nil || s.file(addr, p) == nil {
		return nil
	}
	return err
}

// read gets the function's bytes.
func (f *Func) read() ([]byte, error) {
	text := make([]byte, f.Size)
	if err := f.set.Read(f.Start, text); err != nil {
		return nil, fmt.Errorf("read the function at %#x: %w", f.Start, err)
	}
	return text, nil
}

// same reports whether the n bytes at off are the same in both texts.
func same(a, b []byte, off, n int) bool {
	return off+n <= len(a) && off+n <= len(b) && bytes.Equal(a[off:off+n], b[off:off+n])
}
