package guestos

import (
	"slices"

	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
)

// A linkISA is what following frame pointers takes on an architecture whose calls leave
// the return address in a register. A function that calls others stores a record on its
// stack, of that register and its caller's frame pointer, and has its own frame
// pointer lead there.
type linkISA struct {
	set  *insn.Set
	full record // of a function that calls others
	leaf record // of one that does not, and stores only the frame pointer

	// entries are the names of the entries of exceptions from the kernel, which save the
	// registers on the stack, and call with the stack pointer there.
	entries []string
	// saved finds them from the frame pointer of what an entry has called, and the next.
	saved func(f *frames, mem Mem, fp, next uint64) (at uint64, ok bool)
	// savedReg is where a register is from there.
	savedReg func(arch.Reg) int
}

// An exit is what an instruction means for the function it is in.
type exit uint8

const (
	goesOn exit = iota // or may go on
	leaves             // a return, or a jump to another function
	stays              // a call, a jump within the function, or a breakpoint: a warning or worse
)

// exitOf is what the instruction at the address at, of fn, means for fn.
func exitOf(set *insn.Set, code []byte, at uint64, fn kernel.Symbol) exit {
	flow := set.Flow(code, at)
	switch {
	case flow.Way == insn.Jump && flow.Target-fn.Addr < fn.Size:
		return stays
	case flow.Leaves():
		return leaves
	case flow.Way == insn.Call, set.Class(code) == insn.Breakpoint:
		return stays
	}
	return goesOn
}

// A record is where things lie, as offsets from the frame pointer.
type record struct{ next, ret uint64 }

// linked is the stack of a CPU: its pc, the return address of the function there if it is
// in no record, and what the records say.
func (f *frames) linked(isa *linkISA, mem Mem, regs arch.Regs, pcs []uint64) int {
	a := f.img.Arch()
	pc, fp := regs.Reg(a.PC), regs.Reg(a.FP)
	n := one(pc, pcs)
	s, ok := f.symbolAt(pc)
	if !ok || !s.Func {
		return f.follow(isa, mem, fp, pcs, n)
	}
	where := f.linkState(isa, pc, s)
	if where.inRecord {
		return f.follow(isa, mem, fp, pcs, n)
	}
	ret, err := regs.Reg(a.Link), error(nil)
	if where.onStack {
		ret, err = f.u64(mem, regs.Reg(a.SP)+where.stack)
	}
	stale := !where.framed && f.made[s.Addr].mov == s.Size && ret-s.Addr <= s.Size // it has called, without a frame
	if n < len(pcs) && err == nil && !stale && f.inFunction(ret-1) {
		pcs[n] = ret
		n++
		if pc == s.Addr && f.entered(isa, ret) {
			return n + f.interrupted(isa, mem, regs.Reg(a.SP), pcs[n:])
		}
	}
	if where.framed {
		if fp, err = f.u64(mem, fp+where.next); err != nil {
			return n
		}
	}
	return f.follow(isa, mem, fp, pcs, n)
}

// follow appends what the records from fp on say to the n frames in pcs. It ends where the
// frame pointer leaves the kernel's half or does not go up, or a return address leads to
// no kernel code. A stack for interrupts may lie anywhere: a step down is taken if it is
// longer than a stack.
func (f *frames) follow(isa *linkISA, mem Mem, fp uint64, pcs []uint64, n int) int {
	const stack = 16 << 10
	for n < len(pcs) && f.kernels(fp) && fp%8 == 0 {
		ret, err := f.u64(mem, fp+isa.full.ret)
		if err != nil || !f.returns(ret) {
			break
		}
		pcs[n] = ret
		n++
		next, err := f.u64(mem, fp+isa.full.next)
		if err != nil {
			break
		}
		if f.entered(isa, ret) {
			if at, ok := isa.saved(f, mem, fp, next); ok {
				return n + f.interrupted(isa, mem, at, pcs[n:])
			}
		}
		if next <= fp && fp-next < stack {
			break
		}
		fp = next
	}
	return n
}

// entered reports whether a return address leads to an entry of exceptions.
func (f *frames) entered(isa *linkISA, ret uint64) bool {
	s, ok := f.symbolAt(ret)
	return ok && slices.Contains(isa.entries, s.Name)
}

// interrupted is the stack of the registers at saved, which is empty if they are the user's.
func (f *frames) interrupted(isa *linkISA, mem Mem, saved uint64, pcs []uint64) int {
	f.saved = savedRegs{&f.reader, isa.savedReg, mem, saved}
	if !f.kernels(f.saved.Reg(f.img.Arch().PC)) {
		return 0
	}
	return f.linked(isa, mem, &f.saved, pcs)
}

// A linkState says where the function at pc has its return address: in the link register,
// unless it says something else.
type linkState struct {
	inRecord bool // of the frame pointer, which is its own
	framed   bool // the frame pointer is its own; the caller's is at next from it
	next     uint64
	onStack  bool // at stack from the stack pointer
	stack    uint64
}

// linkState looks at the function's instructions: at those up to pc for what it has stored,
// and at those after pc for whether it is about to leave.
func (f *frames) linkState(isa *linkISA, pc uint64, s kernel.Symbol) linkState {
	made, ok := f.made[s.Addr]
	if !ok {
		made = f.findPrologue(isa, s)
		f.made[s.Addr] = made
	}
	off := pc - s.Addr
	if off <= made.mov {
		return linkState{}
	}
	if end, ok := f.leaving(isa, pc, s); ok {
		return end
	}
	switch {
	case made.push == s.Size:
		return linkState{framed: true, next: isa.leaf.next}
	case off <= made.push:
		return linkState{framed: true, next: isa.full.next}
	}
	return linkState{inRecord: true}
}

// findPrologue finds the first instruction that makes a frame, and the one before it, or soon
// after, that stores the link register. What a function does not have lies behind its end.
func (f *frames) findPrologue(isa *linkISA, s kernel.Symbol) prologue {
	const soon = 64 // bytes
	p := prologue{s.Size, s.Size}
	f.scan(isa, s.Addr, min(s.Size, 4096), func(code []byte, at uint64) bool {
		off, does := at-s.Addr, isa.set.Frame(code)
		if p.push == s.Size && does.StoresLink {
			p.push = off
		}
		if p.mov == s.Size && does.SetsFP {
			p.mov = off
		}
		return p.mov == s.Size || p.push == s.Size && off < p.mov+soon
	})
	return p
}

// leaving reports whether the function at pc leaves within a few instructions without dropping
// its frame before: it has done so, or has none on this path.
func (f *frames) leaving(isa *linkISA, pc uint64, s kernel.Symbol) (end linkState, gone bool) {
	const few = 64 // bytes
	f.scan(isa, pc, min(s.Addr+s.Size-pc, few), func(code []byte, at uint64) bool {
		does := isa.set.Frame(code)
		if does.RestoresFP {
			return false
		}
		if does.LoadsLink && !end.onStack {
			end.stack, end.onStack = does.LinkAt, true
		}
		what := exitOf(isa.set, code, at, s)
		gone = what == leaves
		return what == goesOn
	})
	return end, gone
}

// scan yields the instructions in n bytes of the image's text.
func (f *frames) scan(isa *linkISA, addr, n uint64, yield func(code []byte, at uint64) bool) {
	if f.body == nil {
		f.body = make([]byte, 4096)
	}
	text := f.body[:n]
	if f.text(addr, text) != nil {
		return
	}
	_ = isa.set.Walk(text, addr, func(off, n int) bool { // the last may be cut off
		return yield(text[off:off+n], addr+uint64(off))
	})
}
