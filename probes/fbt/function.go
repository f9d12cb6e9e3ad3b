package fbt

import (
	"cmp"
	"slices"
	"sort"

	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

// A function is its pieces, and the ways out of it.
type function struct {
	pieces []*patch.Func // the one with the entry first
	ways   []way         // by address
	known  bool          // ways and why have been found
	why    string        // a way out is missing
	busy   bool          // they are being looked for
	exits  *exits        // of the first piece, if they are known beforehand

	on      []*probes.Probe // return probes that are enabled
	planted []uint64        // where they are
	behind  []uint64        // and where they are, too: return addresses of what the function jumps to
}

// A way out of a function is an instruction that may leave it.
type way struct {
	addr uint64
	flow insn.Flow
}

func (fn *function) start() uint64 { return fn.pieces[0].Start }

// inside reports whether control that goes to pc stays in this call of the function.
func (fn *function) inside(pc uint64) bool {
	if pc == fn.start() {
		return false
	}
	return slices.ContainsFunc(fn.pieces, func(f *patch.Func) bool { return pc-f.Start < uint64(f.Size) })
}

// at finds the way out at an address.
func (fn *function) at(addr uint64) *way {
	i := sort.Search(len(fn.ways), func(i int) bool { return fn.ways[i].addr >= addr })
	if i == len(fn.ways) || fn.ways[i].addr != addr {
		return nil
	}
	return &fn.ways[i]
}

// enable notes that a return probe is on, and returns its sites.
func (fn *function) enable(q *probes.Probe) []patch.Site {
	if !slices.Contains(fn.on, q) {
		fn.on = append(fn.on, q)
	}
	return fn.plant()
}

// plant returns the sites of the return probes that are on.
func (fn *function) plant() (out []patch.Site) {
	for _, w := range fn.ways {
		if !slices.Contains(fn.planted, w.addr) {
			fn.planted = append(fn.planted, w.addr)
		}
	}
	for _, q := range fn.on {
		for _, w := range fn.ways {
			out = append(out, patch.Site{Probe: q, Addr: w.addr})
		}
		for _, addr := range fn.behind {
			out = append(out, patch.Site{Probe: q, Addr: addr})
		}
	}
	return out
}

// disable notes that a return probe is off, and returns the sites that it had.
func (fn *function) disable(q *probes.Probe) (out []patch.Site) {
	for _, addr := range append(slices.Clone(fn.planted), fn.behind...) {
		out = append(out, patch.Site{Probe: q, Addr: addr})
	}
	fn.on = slices.DeleteFunc(fn.on, func(x *probes.Probe) bool { return x == q })
	if len(fn.on) == 0 {
		fn.planted = nil
	}
	return out
}

// entry makes the point of the first instruction; it says why that cannot be.
func (p *Provider) entry(fn *function) (why string) {
	f := fn.pieces[0]
	err := f.Each(func(off int, code []byte) bool {
		why = p.point(f, off, code)
		return false
	})
	if err != nil {
		return err.Error()
	}
	return why
}

// point makes a point of an instruction; it says why that cannot be.
func (p *Provider) point(f *patch.Func, off int, code []byte) (why string) {
	in := f.Instr(off, code)
	if why = p.Text.RefusalAt(f, in); why == "" {
		p.Text.Set.Add(f, in)
	}
	return why
}

// neverReturns is why most functions without a way out have none.
const neverReturns = "no instruction leaves it"

// ways finds the ways out of a function and makes points of them, once. It says why some
// are missing.
func (p *Provider) ways(fn *function) (why string) {
	if !fn.known {
		fn.known = true
		p.find(fn)
	}
	if fn.why == "" && len(fn.ways) == 0 {
		return neverReturns
	}
	return fn.why
}

// find looks for the ways out of all pieces. Pieces are found on the way.
func (p *Provider) find(fn *function) {
	fn.busy = true
	fn.ways, fn.why, fn.pieces = nil, "", fn.pieces[:1]
	for i := 0; i < len(fn.pieces); i++ {
		f := fn.pieces[i]
		if i == 0 && fn.exits != nil {
			p.scan(fn, f, *fn.exits)
		} else {
			p.scan(fn, f, p.exits(f, f.Each))
		}
		f.OnChange(func() { p.changed(fn) })
	}
	slices.SortFunc(fn.ways, func(a, b way) int { return cmp.Compare(a.addr, b.addr) })
	fn.busy = false
}

// exits are the instructions of a piece that do not go onward.
type exits struct {
	all []exit
	err error // some may be missing
}

type exit struct {
	off  int
	code []byte
	flow insn.Flow
}

// usualExit is about how many bytes a function has for each of its exits.
const usualExit = 20

// exits finds those in what a walk of f yields.
func (p *Provider) exits(f *patch.Func, walk patch.Walk) (x exits) {
	x.all = make([]exit, 0, f.Size/usualExit+1)
	x.err = walk(func(off int, code []byte) bool {
		if flow := p.isa.Flow(code, f.Start+uint64(off)); flow.MayLeave() {
			x.all = append(x.all, exit{off, code, flow})
		}
		return true
	})
	return x
}

// scan adds the ways out of one piece.
func (p *Provider) scan(fn *function, f *patch.Func, x exits) {
	for _, e := range x.all {
		flow := p.through(e.flow)
		if !p.leaves(fn, flow) {
			continue
		}
		if why := p.point(f, e.off, e.code); why == "" {
			fn.ways = append(fn.ways, way{f.Start + uint64(e.off), flow})
		} else {
			fn.why = why
		}
	}
	if x.err != nil {
		fn.why = x.err.Error()
	}
}

// leaves reports whether control may leave the function. A jump to a piece of it that was not
// known makes it known.
func (p *Provider) leaves(fn *function, flow insn.Flow) bool {
	if flow.Way != insn.Jump && flow.Way != insn.Branch {
		return true
	}
	if fn.inside(flow.Target) {
		return false
	}
	piece := p.pieceAt(fn, flow.Target)
	if piece == nil {
		return true
	}
	fn.pieces = append(fn.pieces, piece)
	return false
}

// pieceAt is the piece of a function that it jumps to at an address, nil if that is no
// piece of it.
func (p *Provider) pieceAt(fn *function, addr uint64) *patch.Func {
	s, part, ok := p.Text.At(addr)
	switch {
	case ok && pieceOf(part, fn, s.Name):
		return p.Text.Set.Func(s.Addr, int(s.Size))
	case ok && (!s.Label || s.Addr == addr):
		return nil
	}
	if n := p.stray(addr); n > 0 {
		return p.Text.Set.Func(addr, n)
	}
	return nil
}

// maxStray bounds stray code: Linux's test of a CPU's feature, before it has patched the
// place of the test (.altinstr_aux), has 18 bytes.
const maxStray = 64

// stray is the size of code without a symbol, up to where it goes elsewhere: something that
// was moved out of the function that jumps there. It is 0 if there is no end to it.
func (p *Provider) stray(addr uint64) int {
	var code [maxStray]byte
	if p.Text.Set.Read(addr, code[:]) != nil {
		return 0
	}
	for off := 0; off < len(code); {
		n, err := p.isa.Length(code[off:])
		if err != nil {
			return 0
		}
		flow := p.isa.Flow(code[off:], addr+uint64(off))
		if off += n; flow.Leaves() {
			return off
		}
	}
	return 0
}

// pieceOf reports whether a symbol is, by its name, a piece of fn.
func pieceOf(part ktext.Part, fn *function, name string) bool {
	whole, ok := wholeOf(part, name)
	if !ok {
		return false
	}
	for _, s := range part.Symbols.Lookup(whole.Name) {
		if s.Addr == fn.start() {
			return true
		}
	}
	return false
}

// through is the flow of a jump to a thunk: that of the instruction that the thunk stands
// for.
func (p *Provider) through(flow insn.Flow) insn.Flow {
	if flow.Way != insn.Jump && flow.Way != insn.Branch {
		return flow
	}
	s, _, ok := p.Text.At(flow.Target)
	if !ok || s.Addr != flow.Target {
		return flow
	}
	t, ok := guestos.ThunkOf(s.Name)
	switch {
	case !ok:
		return flow
	case t.Return && flow.Way == insn.Jump:
		return insn.Flow{Way: insn.Return}
	}
	if reg, ok := p.arch.Lookup(t.Reg); ok {
		return insn.Flow{Way: insn.Indirect, Next: viaThunk(flow, reg)}
	}
	return flow
}

// viaThunk goes where the register says if the jump to its thunk is taken.
func viaThunk(flow insn.Flow, reg arch.Reg) func(arch.Regs, insn.ReadMem) (uint64, bool) {
	return func(regs arch.Regs, read insn.ReadMem) (uint64, bool) {
		if flow.Way == insn.Branch {
			if to, ok := flow.Next(regs, read); !ok || to != flow.Target {
				return to, ok
			}
		}
		return regs.Reg(reg), true
	}
}

// changed looks for the ways out again: the guest has changed the function's text.
func (p *Provider) changed(fn *function) {
	if fn.busy {
		return
	}
	p.find(fn)
	if err := p.Text.Set.EnableSites(fn.plant()); err != nil {
		p.Text.Set.Fail(err)
	}
}
