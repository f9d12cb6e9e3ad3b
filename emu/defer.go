package emu

import (
	"math"
	"unsafe"

	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// OnDeferred sets the function that is called for hits that DeferHits defers. The CPU has the
// registers that were asked for, as they were, and Now is the time of the hit. Memory has changed
// since.
func (b *breakpoints) OnDeferred(f func(cpu arch.CPU, addr uint64)) { b.onDeferred = f }

// DeferHits delivers the hits at addr to the function of OnDeferred from now on: later, but in
// the order in which they happened, and before any other function is called. With memo it does so
// only while what the function of the CPU's newest Remember has read is unchanged, and delivers
// others at once. It reports false where each hit has to be delivered at once: where no breakpoint
// stands, and for registers that cannot be kept.
func (b *breakpoints) DeferHits(addr uint64, regs []arch.Reg, memo bool) bool {
	return !b.shared && b.onDeferred != nil && b.m.engine.DeferHits(addr, regs, memo)
}

// UndeferHits ends that: each hit is delivered at once.
func (b *breakpoints) UndeferHits(addr uint64) { b.m.engine.UndeferHits(addr) }

// Remember is called by the function of OnHit. It calls f with the memory and the registers of the CPU
// that was hit and notes what f reads. What f finds out holds until any of that changes, but for
// two registers: of the flags the mode alone is noted, and of the program counter nothing.
func (b *breakpoints) Remember(f func(mem arch.Memory, regs arch.Regs)) {
	if b.inPlace { // what is read of a page with breakpoints is not in memory
		f(b.m, b.m.engine)
		return
	}
	n := &b.notes
	n.words, n.on, n.lost = append(n.words[:0], b.m.engine.Mode()), true, false
	f(noting{b.m}, noting{b.m})
	n.on = false
	if n.lost {
		n.words = n.words[:0]
	}
	b.m.engine.Remember(n.words)
}

// Remembered is called by the function of OnHit. It reports whether all that the function of the newest
// Remember on this CPU has read is what it was.
func (b *breakpoints) Remembered() bool { return b.m.engine.Remembered() }

// notes are what has been read of a CPU and of memory while they are on.
type notes struct {
	words []unicorn.Word
	on    bool
	lost  bool // something cannot be noted
}

// reg notes a register.
func (n *notes) reg(m *Machine, r arch.Reg) {
	if n.on {
		n.addReg(m, r)
	}
}

func (n *notes) addReg(m *Machine, r arch.Reg) {
	if r == m.arch.PC {
		return
	}
	at, mask := m.engine.Place(r)
	if at == nil {
		n.lost = true
		return
	}
	n.add(unicorn.Word{At: at, Mask: mask})
}

// read notes bytes of RAM.
func (n *notes) read(p []byte) {
	if n.on {
		n.addBytes(p)
	}
}

func (n *notes) addBytes(p []byte) {
	for len(p) > 0 {
		first := unsafe.Pointer(unsafe.SliceData(p))
		off := uintptr(first) % 8
		size := min(8-int(off), len(p))
		mask := uint64(math.MaxUint64) >> (64 - 8*size) << (8 * off)
		n.add(unicorn.Word{At: (*uint64)(unsafe.Add(first, -int(off))), Mask: mask})
		p = p[size:]
	}
}

func (n *notes) add(w unicorn.Word) {
	for i := range n.words {
		if n.words[i].At == w.At {
			n.words[i].Mask |= w.Mask
			return
		}
	}
	n.words = append(n.words, w)
}

// noting is the CPU that runs and its memory, and notes what is read of them.
type noting struct{ m *Machine }

// Reg implements arch.Regs.
func (n noting) Reg(r arch.Reg) uint64 { return n.m.reg(r) }

// SetReg implements arch.Regs.
func (n noting) SetReg(r arch.Reg, v uint64) { n.m.engine.SetReg(r, v) }

// ReadMem implements arch.Memory.
func (n noting) ReadMem(addr uint64, p []byte) error { return n.m.ReadMem(addr, p) }
