package guestos

import (
	"encoding/binary"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// A linkISA is what following frame pointers takes on an architecture whose calls leave
// the return address in a register. A function that calls others stores a record on its
// stack, of that register and its caller's frame pointer, and has its own frame
// pointer lead there.
type linkISA struct {
	fp, link arch.Reg
	full     record // of a function that has stored both
	half     record // of one that has stored only the frame pointer

	// length is the number of bytes of an instruction, 0 if it is cut off.
	length func(code []byte) int
	// storesLink stores the link register, makesFrame sets the frame pointer, dropsFrame
	// gives the caller its own back, leaves ends fn from its instruction at addr at.
	storesLink, makesFrame, dropsFrame func(code []byte) bool
	leaves                             func(code []byte, at uint64, fn kernel.Symbol) bool
	// interrupted is the pc at which an exception came, when ret, which the frame at fp
	// returns to, leads back to it, else 0. It is nil where records tell.
	interrupted func(f *frames, mem Mem, fp, ret uint64) uint64
}

// A record is where things lie, as offsets from the frame pointer.
type record struct{ next, ret uint64 }

// linked is the stack of a CPU: its pc, the link register as long as that is where the
// return address is, and what the records say.
func (f *frames) linked(isa *linkISA, mem Mem, regs arch.Regs, pcs []uint64) int {
	pc, fp := regs.Reg(f.img.Arch().PC), regs.Reg(isa.fp)
	n := one(pc, pcs)
	state := f.linkState(isa, pc)
	if ret := regs.Reg(isa.link); state != framed && n < len(pcs) && f.inFunction(ret-1) {
		pcs[n] = ret
		n++
	}
	if state == halfway {
		next, err := f.u64(mem, fp+isa.half.next)
		if err != nil {
			return n
		}
		fp = next
	}
	return f.follow(isa, mem, fp, pcs, n)
}

// follow appends what the records from fp on say to the n frames in pcs. It ends where the
// frame pointer leaves the kernel's half or does not go up, or a return address leads to
// no kernel code. A stack for interrupts may lie anywhere: a step down is taken if it is
// longer than a stack.
func (f *frames) follow(isa *linkISA, mem Mem, fp uint64, pcs []uint64, n int) int {
	const stack = 16 << 10
	for n < len(pcs) && highHalf(fp) && fp%8 == 0 {
		ret, err := f.u64(mem, fp+isa.full.ret)
		if err != nil || !highHalf(ret) {
			break
		}
		pcs[n] = ret
		n++
		if isa.interrupted != nil && n < len(pcs) {
			if pc := isa.interrupted(f, mem, fp, ret); pc != 0 {
				pcs[n] = pc
				n++
			}
		}
		next, err := f.u64(mem, fp+isa.full.next)
		if err != nil || next <= fp && fp-next < stack {
			break
		}
		fp = next
	}
	return n
}

// A linkState says where the function at pc has its return address, and whose the frame
// pointer is.
type linkState uint8

const (
	framed   linkState = iota // in its record; the frame pointer is its own
	halfway                   // in the link register; the frame pointer is its own
	unframed                  // in the link register; the frame pointer is its caller's
)

// linkState looks at the function's instructions: at those up to pc for what it has stored,
// and at those after pc for whether it is about to leave.
func (f *frames) linkState(isa *linkISA, pc uint64) linkState {
	s, ok := f.img.Symtab().At(pc)
	if !ok || !s.Func {
		return framed
	}
	made, ok := f.made[s.Addr]
	if !ok {
		made = f.findPrologue(isa, s)
		f.made[s.Addr] = made
	}
	switch off := pc - s.Addr; {
	case off <= made.mov || f.leaving(isa, pc, s):
		return unframed
	case off <= made.push:
		return halfway
	}
	return framed
}

// findPrologue finds the first instruction that makes a frame, and before it the one that
// stores the link register. What a function does not have lies behind its end.
func (f *frames) findPrologue(isa *linkISA, s kernel.Symbol) prologue {
	p := prologue{s.Size, s.Size}
	f.scan(isa, s.Addr, min(s.Size, 4096), func(code []byte, at uint64) bool {
		if p.push == s.Size && isa.storesLink(code) {
			p.push = at - s.Addr
		}
		if isa.makesFrame(code) {
			p.mov = at - s.Addr
		}
		return p.mov == s.Size
	})
	return p
}

// leaving tells whether the function at pc leaves within a few instructions without dropping
// its frame before: it has done so, or has none on this path.
func (f *frames) leaving(isa *linkISA, pc uint64, s kernel.Symbol) (gone bool) {
	const few = 64 // bytes
	f.scan(isa, pc, min(s.Addr+s.Size-pc, few), func(code []byte, at uint64) bool {
		if isa.dropsFrame(code) {
			return false
		}
		gone = isa.leaves(code, at, s)
		return !gone
	})
	return gone
}

// scan yields the instructions in n bytes of the image's text.
func (f *frames) scan(isa *linkISA, addr, n uint64, yield func(code []byte, at uint64) bool) {
	if f.body == nil {
		f.body = make([]byte, 4096)
	}
	text := f.body[:n]
	if f.img.Text(addr, text) != nil {
		return
	}
	for at := addr; ; {
		size := isa.length(text)
		if size == 0 || !yield(text[:size], at) {
			return
		}
		text, at = text[size:], at+uint64(size)
	}
}

func word(code []byte) uint32 {
	if len(code) == 2 {
		return uint32(binary.LittleEndian.Uint16(code))
	}
	return binary.LittleEndian.Uint32(code)
}
