package guestos

import (
	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
)

// frames is what following frame pointers takes.
type frames struct {
	reader
	img  *kernel.Image
	half uint64 // where the kernel's half of an address space begins
	// modules are those that are loaded.
	modules []*kernel.Image
	// made remembers, by a function's address, where it makes its frame.
	made  map[uint64]prologue
	code  [16]byte
	body  []byte    // of a function
	saved savedRegs // the last that were looked at
	traps *traps    // how the kernel is entered; nil: frame pointers say
	links *linkISA  // the same where calls leave the return address in a register; nil: as on Linux
}

// traps is how a kernel saves registers when it is interrupted, where frame pointers do not lead
// there: whatever an entry has called finds them on the stack above its return address.
type traps struct {
	entry func(label string) bool // reports whether a label is of such an entry
	end   func(label string) bool // or of one that nothing in the kernel has called
	place func(arch.Reg) int      // of a register, from where they begin; less than 0: nowhere
}

func newFrames(img *kernel.Image) frames {
	return frames{img: img, half: kernelHalf(img), made: map[uint64]prologue{}}
}

// kernelHalf is where the addresses of a kernel begin: in the upper half, or at its first
// function if it has none there. Teaching kernels lie where they are loaded, above the user.
func kernelHalf(img *kernel.Image) uint64 {
	if lo, hi := img.Symtab().Span(); lo < hi && !highHalf(hi) {
		return lo
	}
	return 1 << 63
}

// kernels reports whether an address is in the kernel's half.
func (f *frames) kernels(addr uint64) bool { return addr >= f.half }

// returns reports whether something of the kernel's may return to an address. Where a kernel lies among
// other memory it is one of a function.
func (f *frames) returns(addr uint64) bool {
	return f.kernels(addr) && (highHalf(f.half) || f.inFunction(addr-1))
}

// amd64Frames follows frame pointers (System V ABI, figure 3.3): 0(%rbp) is the caller's
// %rbp, 8(%rbp) the return address. It ends where %rbp leaves the kernel's half, does not
// go up, or leads to no kernel code.
func amd64Frames(f *frames, mem Mem, regs arch.Regs, pcs []uint64) int {
	if regs.Reg(arch.CS)&3 != 0 {
		return 0
	}
	n := one(regs.Reg(arch.RIP), pcs)
	if at, ok := f.amd64NoFrame(regs); ok && n < len(pcs) {
		if ret, err := f.u64(mem, at); err == nil && f.inFunction(ret-1) {
			pcs[n] = ret
			n++
		}
	}
	for bp := regs.Reg(arch.RBP); n < len(pcs) && f.kernels(bp) && bp%8 == 0; n++ {
		ret, err := f.u64(mem, bp+8)
		if err != nil || !f.returns(ret) {
			break
		}
		pcs[n] = ret
		if rest, over := f.amd64Entered(mem, ret, bp+16, pcs[n+1:]); over {
			return n + 1 + rest
		}
		next, err := f.u64(mem, bp)
		if err != nil || next <= bp {
			return n + 1
		}
		bp = next
	}
	return n
}

// amd64Entered reports whether ret returns to an entry of the kernel, where its stack is over. Then
// rest are the frames of the kernel that has been interrupted, if there is one: its registers are at
// the address saved.
func (f *frames) amd64Entered(mem Mem, ret, saved uint64, pcs []uint64) (rest int, over bool) {
	if f.traps == nil {
		return 0, false
	}
	s, ok := f.symbolAt(ret)
	if !ok || !f.traps.entry(s.Name) {
		return 0, ok && f.traps.end(s.Name)
	}
	f.saved = savedRegs{&f.reader, f.traps.place, mem, saved}
	if !f.kernels(f.saved.Reg(arch.RIP)) {
		return 0, true
	}
	return amd64Frames(f, mem, &f.saved, pcs), true
}

// symbolAt is the symbol that covers an address, of the kernel proper or of a module.
func (f *frames) symbolAt(addr uint64) (kernel.Symbol, bool) {
	s, ok := f.img.Symtab().At(addr)
	for i := 0; !ok && i < len(f.modules); i++ {
		s, ok = f.modules[i].Symtab().At(addr)
	}
	return s, ok
}

// text reads text of the image files.
func (f *frames) text(addr uint64, p []byte) error {
	err := f.img.Text(addr, p)
	for i := 0; err != nil && i < len(f.modules); i++ {
		err = f.modules[i].Text(addr, p)
	}
	return err
}

func (f *frames) inFunction(pc uint64) bool {
	s, ok := f.symbolAt(pc)
	return ok && s.Func
}

// amd64NoFrame reports whether the function at pc has no frame of its own at this
// instruction: before it makes one, on its return, or because it needs none. %rbp is then
// still, or again, its caller's, and its return address lies at the address it gives.
func (f *frames) amd64NoFrame(regs arch.Regs) (at uint64, ok bool) {
	pc, sp := regs.Reg(arch.RIP), regs.Reg(arch.RSP)
	s, ok := f.symbolAt(pc)
	if !ok || !s.Func {
		return 0, false
	}
	made, ok := f.made[s.Addr]
	if !ok {
		made = f.amd64MakesFrame(s)
		f.made[s.Addr] = made
	}
	switch off := pc - s.Addr; {
	case off <= made.push || f.frameGone(pc, s.Size-off):
		return sp, true
	case off <= made.mov:
		return sp + 8, true
	}
	return 0, false
}

// frameGone reports whether the function at pc, with left bytes to its end, is about to return
// without a frame of its own.
func (f *frames) frameGone(pc, left uint64) bool {
	code := f.code[:min(left, uint64(len(f.code)))]
	return f.text(pc, code) == nil && amd64Returns(code)
}

// amd64Returns reports whether code comes to a ret without a jump, a call, or an instruction that
// gives the caller its frame pointer back.
func amd64Returns(code []byte) (returns bool) {
	_ = insn.AMD64.Walk(code, 0, func(off, n int) bool { // the last may be cut off
		way := insn.AMD64.Flow(code[off:off+n], 0).Way
		returns = way == insn.Return
		return (way == insn.Onward || way == insn.Branch) && !insn.AMD64.Frame(code[off:off+n]).RestoresFP
	})
	return returns
}

// prologue has the offsets in a function of the two instructions that make its frame.
type prologue struct{ push, mov uint64 }

// amd64MakesFrame finds push %rbp and mov %rsp,%rbp: at the beginning, or later if
// some paths do without. A function that has neither keeps nothing on the stack.
func (f *frames) amd64MakesFrame(s kernel.Symbol) prologue {
	p := prologue{s.Size, s.Size}
	code := make([]byte, min(s.Size, 4096))
	if f.text(s.Addr, code) != nil {
		return p
	}
	push := -1
	_ = insn.AMD64.Walk(code, s.Addr, func(off, n int) bool { // the last may be cut off
		does := insn.AMD64.Frame(code[off : off+n])
		if does.SavesFP {
			push = off
		}
		if does.SetsFP && push >= 0 {
			p = prologue{uint64(push), uint64(off)}
		}
		return !does.SetsFP
	})
	return p
}
