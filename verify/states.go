package verify

import (
	"math/rand/v2"
	"strings"

	"trapline/kernel/arch"
)

// Kinds of states, taken in turn.
const (
	pointers   = iota // every register is an address
	mixed             // one half of the registers are addresses, the others small numbers
	mixedAgain        // the other way round
	values            // numbers that are special to arithmetic, or to addressing
	edges             // addresses at the ends of pages, the stack too
	anything          // of all that, and an interrupt waits
	system            // values that control registers have
	wrong             // nothing but the stack pointer is an address, and sometimes not even that
	kinds
)

// States is how many states an instruction has by default: each kind once.
const States = kinds

// A generator makes states.
type generator struct {
	*rules
	regs   arch.Regs
	window uint64 // address of memory
	size   uint64 // of the window, in bytes
	system []uint64
}

// special are values at the ends of ranges.
var special = []uint64{
	0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32,
	0x7fff_ffff_ffff_ffff, 1 << 63, 1<<63 + 1, ^uint64(0), ^uint64(0) - 1,
	0x0000_7fff_ffff_ffff, 0x0000_8000_0000_0000, 0xffff_7fff_ffff_ffff, 0xffff_8000_0000_0000, // ends of canonical addresses
}

// make puts state n for the instruction at pc into the registers, and reports whether an
// interrupt waits.
func (g *generator) make(seed, pc uint64, text string, n int) (interrupt bool) {
	r := rand.New(rand.NewPCG(seed^uint64(n)<<56, pc))
	kind := n % kinds
	// The two mixed kinds have the same choice, and are each other's contrary.
	half := rand.New(rand.NewPCG(seed^uint64(n/kinds)<<56, ^pc)).Uint64()
	if kind == mixedAgain {
		half = ^half
	}
	for i, reg := range g.general {
		g.regs.SetReg(reg, g.value(r, kind, half>>(i%64)&1 == 1))
	}
	g.regs.SetReg(g.sp, g.stack(r, kind))
	if strings.HasPrefix(text, "rep") {
		g.regs.SetReg(g.count, r.Uint64N(20)) // not to go on for long
	}
	g.settle(r, text)
	g.flags(r, g.regs)
	g.regs.SetReg(g.pc, pc)
	return kind == anything || kind == mixedAgain
}

// settle lets an instruction change the machine's mode only within limits.
func (g *generator) settle(r *rand.Rand, text string) {
	for _, s := range g.settles {
		if !strings.Contains(text, s.text) {
			continue
		}
		for _, reg := range g.general {
			g.regs.SetReg(reg, g.regs.Reg(s.reg)^r.Uint64()&s.bits)
		}
	}
}

func (g *generator) value(r *rand.Rand, kind int, first bool) uint64 {
	switch kind {
	case pointers:
		return g.pointer(r)
	case mixed, mixedAgain:
		if first {
			return g.pointer(r)
		}
		return r.Uint64N(65)
	case values:
		return number(r)
	case edges:
		return g.edge(r)
	case system:
		return g.system[r.IntN(len(g.system))]
	case wrong:
		return number(r) ^ r.Uint64()<<8
	}
	return g.value(r, r.IntN(int(anything)), r.IntN(2) == 0)
}

// number is a value that is special, or any.
func number(r *rand.Rand) uint64 {
	if r.IntN(3) == 0 {
		return r.Uint64()
	}
	return special[r.IntN(len(special))]
}

// pointer is an address with memory on both sides, most often an aligned one.
func (g *generator) pointer(r *rand.Rand) uint64 {
	p := g.window + g.size/4 + r.Uint64N(g.size/2)
	if r.IntN(4) > 0 {
		p &^= 15
	}
	return p
}

// edge is an address within 16 bytes of the end of a page. Behind the last page of the window, and
// in front of the first, there is nothing.
func (g *generator) edge(r *rand.Rand) uint64 {
	page := r.Uint64N(3)
	switch page {
	case 0:
		page = g.window
	case 1:
		page = g.window + g.size
	default:
		page = g.window + g.size/2
	}
	return page + r.Uint64N(32) - 16
}

func (g *generator) stack(r *rand.Rand, kind int) uint64 {
	switch {
	case kind == edges:
		return g.edge(r)
	case kind == wrong && r.IntN(2) == 0:
		return number(r)
	}
	return g.window + g.size/2 - g.size/4&^63 + r.Uint64N(8)*g.align
}
