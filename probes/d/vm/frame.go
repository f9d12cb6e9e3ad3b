package vm

import (
	"encoding/binary"
	"slices"

	"trapline/probes/d/code"
)

// maxFrames bounds the frames of a stack.
const maxFrames = code.MaxFrames

// scratchSize is the scratch space of a clause, in bytes, beyond the program's constants;
// with long strings there is more: room for eight.
const scratchSize = 64 << 10

// A frame is one firing.
type frame struct {
	m     *Machine
	env   Env
	fault Fault // EPID: of the clause that runs

	stack  []uint64
	mem    []byte   // scratch: the program's constants, then what the clause made
	limit  int      // of mem
	key    []byte   // of an aggregation
	self   [16]byte // key of a self-> variable
	pcs    []uint64
	rec    []byte       // of a clause that speculates
	into   *speculation // where rec goes
	size   int          // of the clause's record, where it may speculate
	word   [8]byte      // read from the guest
	this   []variable
	tokens uint64 // of strtok: what is left
	firing uint64 // number of the firing; a this-> variable of another one is unset
	thread *Thread
}

func newFrame(m *Machine) *frame {
	f := &frame{m: m, this: make([]variable, len(m.prog.Vars))}
	f.limit = len(m.lits) + max(scratchSize, 8*m.cfg.StrSize)
	f.mem = append(make([]byte, 0, len(m.lits)+4096), m.lits...)
	depth := 1
	for _, c := range m.prog.Clauses {
		if c.Pred != nil {
			depth = max(depth, c.Pred.MaxStack)
		}
		for _, a := range c.Actions {
			for _, fn := range a.Funcs() {
				depth = max(depth, fn.MaxStack)
			}
		}
	}
	f.stack = make([]uint64, depth)
	return f
}

func (f *frame) begin(env Env) {
	f.env = env
	f.thread = nil
	f.firing++
	f.tokens = 0
}

// fail is how every fault is reported.
func (f *frame) fail(k FaultKind, addr uint64) bool {
	f.fault.Kind, f.fault.Addr = k, addr
	return false
}

// current asks for the thread once in a firing.
func (f *frame) current() (*Thread, bool) {
	if f.thread != nil {
		return f.thread, true
	}
	t, bad := f.env.Thread()
	if t == nil {
		return nil, f.fail(BadAddr, bad)
	}
	f.thread = t
	return t, true
}

// frames walks the kernel's stack, at most n frames.
func (f *frame) frames(n int) []uint64 {
	if len(f.pcs) < n {
		f.pcs = make([]uint64, n)
	}
	return f.pcs[:f.env.Stack(f.pcs[:n])]
}

// userFrames walks the stack of the process, at most n frames.
func (f *frame) userFrames(n int) []uint64 {
	if len(f.pcs) < n {
		f.pcs = make([]uint64, n)
	}
	return f.pcs[:f.env.UStack(f.pcs[:n])]
}

// loadFrames puts a stack of at most n frames, 0: as the option says, into the scratch
// space.
func (f *frame) loadFrames(user bool, n int) (ref uint64, ok bool) {
	if n == 0 {
		n = f.m.depth0(user)
	}
	var pcs []uint64
	if user {
		pcs = f.userFrames(n)
	} else {
		pcs = f.frames(n)
	}
	p, ok := f.alloc(8 * len(pcs))
	if !ok {
		return 0, false
	}
	for i, pc := range pcs {
		binary.LittleEndian.PutUint64(p[8*i:], pc)
	}
	return f.last(len(p)), true
}

// bytes is what a reference refers to.
func (f *frame) bytes(ref uint64) []byte {
	r := code.Ref(ref)
	return f.mem[r.Off() : r.Off()+r.Len() : r.Off()+r.Len()]
}

// alloc takes n bytes of scratch space; they are not cleared.
func (f *frame) alloc(n int) (p []byte, ok bool) {
	if n > f.limit-len(f.mem) {
		return nil, f.fail(NoScratch, 0)
	}
	at := len(f.mem)
	f.mem = slices.Grow(f.mem, n)[:at+n]
	return f.mem[at:], true
}

// last refers to the last n bytes of the scratch space.
func (f *frame) last(n int) uint64 {
	return uint64(code.MakeRef(uint32(len(f.mem)-n), uint32(n)))
}

// keep copies bytes to the scratch space and refers to them.
func (f *frame) keep(s []byte) (ref uint64, ok bool) {
	p, ok := f.alloc(len(s))
	copy(p, s)
	return f.last(len(p)), ok
}

// keepCut is keep of a string, cut to a string's size.
func (f *frame) keepCut(s []byte) (ref uint64, ok bool) {
	return f.keep(cut(s, f.m.cfg.StrSize-1))
}

// keepString copies a string of the host to the scratch space, cut to a string's size.
func (f *frame) keepString(s string) (ref uint64, ok bool) {
	s = s[:min(len(s), f.m.cfg.StrSize-1)]
	p, ok := f.alloc(len(s))
	copy(p, s)
	return f.last(len(p)), ok
}

// load reads an integer of n bytes from the guest.
func (f *frame) load(addr uint64, n int, signed bool) (v uint64, ok bool) {
	p := f.word[:n]
	if !f.read(addr, p) {
		return 0, false
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return narrow(v, code.Type{Size: n, Signed: signed}), true
}

// loadBytes reads n bytes from the guest.
func (f *frame) loadBytes(addr uint64, n int) (ref uint64, ok bool) {
	p, ok := f.alloc(n)
	if !ok {
		return 0, false
	}
	if !f.read(addr, p) {
		return 0, false
	}
	return f.last(n), true
}

// readChunk is how much of a string is read at a time. Pieces are aligned to it, so that
// none reaches into a page behind the string's end.
const readChunk = 128

// loadString reads a string of at most n bytes from the guest.
func (f *frame) loadString(addr uint64, n int) (ref uint64, ok bool) {
	if s, ok := f.object(addr, 0); ok {
		return f.keep(upToNUL(s, n))
	}
	start := len(f.mem)
	for size := 0; size < n; {
		want := min(n-size, readChunk-int((addr+uint64(size))%readChunk))
		p, ok := f.alloc(want)
		if !ok {
			return 0, false
		}
		if bad, ok := f.env.Read(addr+uint64(size), p); !ok {
			return 0, f.fail(BadAddr, bad)
		}
		if i := slices.Index(p, 0); i >= 0 {
			f.mem = f.mem[:start+size+i]
			break
		}
		size += want
	}
	return f.last(len(f.mem) - start), true
}
