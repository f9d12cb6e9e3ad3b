package guestos

import (
	"fmt"
	"sync"

	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
)

// bare is a guest with nothing known but its image.
type bare struct {
	frames
	isa     *isa
	set     *insn.Set
	linked  func() bool // its functions keep frame pointers
	unknown error       // what Thread says
}

func newBare(img *kernel.Image, _ string) (OS, error) {
	isa, err := isaFor(img.Arch())
	if err != nil {
		return nil, err
	}
	set, err := insn.For(img.Arch())
	if err != nil {
		return nil, err
	}
	b := &bare{frames: newFrames(img), isa: isa, set: set}
	b.linked = sync.OnceValue(b.keepsFrames)
	b.unknown = fmt.Errorf("%w: nothing is known of this kernel: describe it with --os FILE", ErrNoThread)
	return b, nil
}

func (*bare) System() *System                         { return Bare }
func (b *bare) Thread(Mem, arch.Regs) (Thread, error) { return Thread{}, b.unknown }
func (*bare) Slide(arch.Regs) (delta uint64, ok bool) { return 0, true }
func (*bare) Unsafe(uint64) string                    { return "" }

// Unknown implements Partial. What Thread does not say, its error does.
func (b *bare) Unknown(part string) string {
	if part == "stack" && !b.linked() {
		return "this kernel's functions keep no frame pointers: build it with -fno-omit-frame-pointer"
	}
	return ""
}

// Stack follows frame pointers, where the kernel's functions keep them; otherwise it is the program
// counter alone.
func (b *bare) Stack(mem Mem, regs arch.Regs, pcs []uint64) int {
	switch {
	case !b.linked():
		return one(regs.Reg(b.img.Arch().PC), pcs)
	case b.isa.userMode(regs):
		return 0
	}
	return b.isa.frames(&b.frames, mem, regs, pcs)
}

// keepsFrames reports whether most functions make a frame at their beginning. Those without a call
// may not; a kernel that is built without frame pointers has them in none.
func (b *bare) keepsFrames() bool {
	const enough, begin = 64, 32 // functions, and bytes of one
	makes, looked := 0, 0
	for _, s := range b.img.Symtab().Funcs() {
		if looked == enough {
			break
		}
		if s.Size < begin {
			continue
		}
		looked++
		if b.setsFrame(s.Addr, begin) {
			makes++
		}
	}
	return 2*makes > looked
}

// setsFrame reports whether one of the instructions in n bytes of text makes a frame.
func (b *bare) setsFrame(addr, n uint64) (sets bool) {
	code := make([]byte, n)
	if b.text(addr, code) != nil {
		return false
	}
	_ = b.set.Walk(code, addr, func(off, n int) bool { // the last may be cut off
		sets = b.set.Frame(code[off : off+n]).SetsFP
		return !sets
	})
	return sets
}
