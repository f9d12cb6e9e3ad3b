// Package walk follows code of a guest without running it: it computes in registers of its
// own, reads the guest's memory, and keeps to itself what the code would store.
//
//	the CPU as it is --Walker.Run from an address--> the registers and the stack where it stops
//
// It is for the few instructions with which a kernel gets the arguments of a tracepoint
// ready. One that package insn cannot execute ends the walk with an error.
package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/insn"
	"trapline/kernel/arch"
)

// Limit is how many instructions a walk has at most.
const Limit = 1000

// errLong ends a walk that is too long.
var errLong = fmt.Errorf("no end in sight after %d instructions", Limit)

// A Walker follows code of one guest. Its registers are those of the walk.
type Walker struct {
	set  *insn.Set
	read func(addr uint64, p []byte) error

	// Load, if not nil, gives what a walk finds at an address, in place of memory.
	Load func(addr uint64) (value uint64, ok bool)
	// Divert, if not nil, says for an address in a function that the walk has called that it goes
	// elsewhere from there.
	Divert func(pc uint64) (to uint64, ok bool)
	// Called reports that the last instruction was a call.
	Called bool
	// Left: the walk has ended where the function that it began in returns.
	Left bool

	cpu    arch.Regs
	regs   [64]uint64
	known  uint64 // bit n: regs[n] has a value
	depth  int    // of calls
	stores []store
	err    error // of memory
	seen   map[uint64]*instr
	code   [maxCode]byte
}

// maxCode is the bytes of the longest instruction.
const maxCode = 16

// A store is one that the walk has made.
type store struct {
	addr uint64
	data [8]byte
	n    int
}

// An instr is an instruction that has been looked at.
type instr struct {
	code []byte
	flow insn.Flow
}

// New makes a walker. read reads the guest's memory.
func New(a *arch.Arch, read func(addr uint64, p []byte) error) (*Walker, error) {
	set, err := insn.For(a)
	if err != nil {
		return nil, err
	}
	return &Walker{set: set, read: read, seen: map[uint64]*instr{}}, nil
}

// Run follows the code from an address on, with the registers of cpu, up to an address that
// stop knows, or to the return of the function that the address is in. The instruction there is
// not executed.
func (w *Walker) Run(cpu arch.Regs, from uint64, stop func(pc uint64) bool) error {
	w.cpu, w.known, w.stores, w.err, w.Called = cpu, 0, w.stores[:0], nil, false
	w.depth, w.Left = 0, false
	pc := from
	for range Limit {
		if to, ok := w.diverted(pc); ok {
			pc = to
			continue
		}
		if stop(pc) || w.Left {
			w.SetReg(w.set.Arch.PC, pc)
			return nil
		}
		next, err := w.step(pc)
		if err == nil {
			err = w.err
		}
		if err != nil {
			return fmt.Errorf("at %#x: %w", pc, err)
		}
		pc = next
	}
	return errLong
}

func (w *Walker) diverted(pc uint64) (to uint64, ok bool) {
	if w.Divert == nil || w.depth == 0 {
		return 0, false
	}
	return w.Divert(pc)
}

// step executes the instruction at pc.
func (w *Walker) step(pc uint64) (next uint64, err error) {
	in, err := w.fetch(pc)
	if err != nil {
		return 0, err
	}
	w.Called = false
	w.SetReg(w.set.Arch.PC, pc)
	switch in.flow.Way {
	case insn.Jump:
		return in.flow.Target, nil
	case insn.Branch, insn.Indirect:
		to, ok := in.flow.Next(w, w.readOver)
		if !ok {
			return 0, errors.New("where it goes cannot be read")
		}
		return to, nil
	}
	if err := w.set.Execute(w, in.code, pc); err != nil {
		return 0, err
	}
	switch in.flow.Way {
	case insn.Call:
		w.Called = true
		w.depth++
	case insn.Return:
		w.depth--
		w.Left = w.depth < 0
	}
	return w.Reg(w.set.Arch.PC), nil
}

// Next is the address behind the instruction at pc.
func (w *Walker) Next(pc uint64) (uint64, error) {
	in, err := w.fetch(pc)
	if err != nil {
		return 0, err
	}
	return pc + uint64(len(in.code)), nil
}

// fetch looks at the instruction at pc, unless it is the one seen there before.
func (w *Walker) fetch(pc uint64) (*instr, error) {
	code := w.code[:w.set.Arch.MaxInstr]
	if err := w.read(pc, code); err != nil {
		code = code[:min(uint64(len(code)), w.set.Arch.PageSize-pc%w.set.Arch.PageSize)]
		if err := w.read(pc, code); err != nil {
			return nil, err
		}
	}
	if in := w.seen[pc]; in != nil && bytes.HasPrefix(code, in.code) {
		return in, nil
	}
	n, err := w.set.Length(code)
	if err != nil {
		return nil, err
	}
	in := &instr{bytes.Clone(code[:n]), w.set.Flow(code[:n], pc)}
	w.seen[pc] = in
	return in, nil
}

// Reg implements arch.Regs.
func (w *Walker) Reg(r arch.Reg) uint64 {
	if w.known>>r&1 == 0 {
		w.regs[r] = w.cpu.Reg(r)
		w.known |= 1 << r
	}
	return w.regs[r]
}

// SetReg implements arch.Regs.
func (w *Walker) SetReg(r arch.Reg, v uint64) {
	w.regs[r] = v
	w.known |= 1 << r
}

// readOver reads memory as the walk sees it.
func (w *Walker) readOver(addr uint64, p []byte) error {
	if w.Load != nil && len(p) == 8 {
		if v, ok := w.Load(addr); ok {
			binary.LittleEndian.PutUint64(p, v)
			return nil
		}
	}
	if err := w.read(addr, p); err != nil {
		return err
	}
	for i := range w.stores {
		s := &w.stores[i]
		for j := range p {
			if off := addr + uint64(j) - s.addr; off < uint64(s.n) {
				p[j] = s.data[off]
			}
		}
	}
	return nil
}

// Mem is the n bytes at an address as a number, 0 after an error, which ends the walk.
func (w *Walker) Mem(addr uint64, n int) uint64 {
	var p [8]byte
	if err := w.readOver(addr, p[:n]); err != nil {
		w.err = err
	}
	return binary.LittleEndian.Uint64(p[:])
}

// SetMem remembers a store of n bytes.
func (w *Walker) SetMem(addr uint64, n int, v uint64) {
	s := store{addr: addr, n: n}
	binary.LittleEndian.PutUint64(s.data[:], v)
	w.stores = append(w.stores, s)
}

// Fail ends the walk with an error.
func (w *Walker) Fail(err error) { w.err = err }
