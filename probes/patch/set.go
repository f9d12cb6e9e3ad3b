package patch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"trapline/probes"
	"trapline/trampoline"
)

// A Set is all breakpoints in the text of one target.
type Set struct {
	target     probes.Target
	isa        *trampoline.ISA
	file       func(addr uint64, p []byte) error
	sink       probes.Sink
	slots      *slots
	breakpoint []byte
	hides      bool // a breakpoint may cover only the first byte of an instruction

	pageSize uint64
	pages    map[uint64]*page // by address / pageSize
	last     *page            // the page of the last hit
	funcs    map[uint64]*Func
	more     map[uint64][]*probes.Probe // further probes of a point, by address
	spare    *hit                       // used for the next hit
	counting []uint64                   // addresses of the points that are, and of some that were
	err      error
	lost     int

	shared *shared // trampolines; nil while each point has its own

	forgotten uint64 // hits of points that are not known any more
}

// A page holds the points of one page of text.
type page struct {
	base   uint64
	funcs  []*Func  // that overlap the page and have points
	index  []uint16 // 1 + index into points, by offset in the page
	points []point
}

// A point is an instruction with a probe. There may be millions.
type point struct {
	fn    *Func
	probe *probes.Probe // nil while it is not enabled
	hits  uint64
	plan  trampoline.Plan
	slot  uint32 // 1 + its number in the trampoline area, 0 for none
	off   uint32 // in fn
	state state
	// counting: the target counts the hits, see hit.Count.
	counting bool
	deferral probes.Deferral
}

type state uint8

const (
	idle      state = iota // the breakpoint is not planted, and need not be
	planted                // the breakpoint is planted
	unaligned              // suspended: not at the start of an instruction
	refused                // suspended: the instruction cannot be displaced
	far                    // suspended: its trampoline would not reach
)

func (p *point) addr() uint64 { return p.fn.Start + uint64(p.off) }

// New makes an empty set. It takes the target's OnHit and OnRewrite for itself. file
// reads the text of the image file at an address of the running kernel; several goroutines may
// call it at once.
func New(t probes.Target, file func(addr uint64, p []byte) error, sink probes.Sink) (*Set, error) {
	isa, err := trampoline.For(t.Arch())
	if err != nil {
		return nil, err
	}
	s := &Set{
		target: t, isa: isa, file: file, sink: sink,
		slots:      newSlots(t, isa),
		breakpoint: t.Arch().Breakpoint(t.Arch().MinInstr),
		hides:      len(t.Arch().Breakpoint(t.Arch().MaxInstr)) < t.Arch().MaxInstr,
		pageSize:   t.Arch().PageSize,
		pages:      map[uint64]*page{}, funcs: map[uint64]*Func{}, more: map[uint64][]*probes.Probe{},
	}
	t.OnHit(s.hit)
	t.OnRewrite(s.rewrite)
	t.OnDeferred(s.deferred)
	return s, nil
}

// isBreak reports whether code is a breakpoint that may hide an instruction longer than itself. Where there
// is one for every length (riscv64) or one length (arm64) it hides none.
func (s *Set) isBreak(code []byte) bool { return s.hides && bytes.HasPrefix(code, s.breakpoint) }

// Func finds or makes the function at start. It has at least size bytes: symbols of one
// address may differ in size, and the function is the longest.
func (s *Set) Func(start uint64, size int) *Func {
	f := s.funcs[start]
	if f == nil {
		f = &Func{Start: start, Size: size, set: s}
		s.funcs[start] = f
	}
	if size > f.Size {
		f.Size, f.text = size, nil
		if f.points > 0 {
			s.spread(f)
		}
	}
	return f
}

// Add makes a point of an instruction that Instrs has just returned and whose plan
// displaces it. Adding it again does nothing.
func (s *Set) Add(f *Func, in Instr) {
	addr := f.Start + uint64(in.Off)
	pg := s.page(addr)
	i := &pg.index[addr-pg.base]
	if *i != 0 {
		return
	}
	pg.points = append(pg.points, point{fn: f, plan: in.Plan, off: uint32(in.Off)})
	*i = uint16(len(pg.points))
	if f.points++; f.points == 1 {
		s.spread(f)
	}
}

// spread makes f known on the pages that it overlaps.
func (s *Set) spread(f *Func) {
	last := (f.Start + uint64(f.Size) - 1) / s.pageSize
	for n := f.Start / s.pageSize; n <= last; n++ {
		pg := s.page(n * s.pageSize)
		if !slices.Contains(pg.funcs, f) {
			pg.funcs = append(pg.funcs, f)
		}
	}
}

// page finds or makes the page of an address.
func (s *Set) page(addr uint64) *page {
	pg := s.pages[addr/s.pageSize]
	if pg == nil {
		pg = &page{base: addr - addr%s.pageSize, index: make([]uint16, s.pageSize)}
		s.pages[addr/s.pageSize] = pg
	}
	return pg
}

// point finds the point at an address, nil if there is none. It stays where it is until
// the next Add.
func (s *Set) point(addr uint64) *point {
	pg := s.last
	if pg == nil || addr-pg.base >= s.pageSize {
		if pg = s.pages[addr/s.pageSize]; pg == nil {
			return nil
		}
		s.last = pg
	}
	i := pg.index[addr-pg.base]
	if i == 0 {
		return nil
	}
	return &pg.points[i-1]
}

// A Site is a point and a probe that wants it. A probe may have several sites.
type Site struct {
	Probe *probes.Probe
	Addr  uint64
}

// sites are those of probes whose Keys are the addresses of points.
func sites(ps []*probes.Probe) iter.Seq[Site] {
	return func(yield func(Site) bool) {
		for _, q := range ps {
			if !yield(Site{q, q.Key}) {
				return
			}
		}
	}
}

// Enable plants the breakpoints of ps, whose Keys are the addresses of points. It looks
// at the text again: a point whose instruction has gone since is suspended.
func (s *Set) Enable(ps []*probes.Probe) error { return s.enable(sites(ps), len(ps)) }

// EnableSites does the same for probes at the addresses of points. A probe that is enabled
// at an address stays so.
func (s *Set) EnableSites(all []Site) error { return s.enable(slices.Values(all), len(all)) }

func (s *Set) enable(all iter.Seq[Site], n int) error {
	fresh := make([]uint64, 0, n)
	for x := range all {
		p := s.point(x.Addr)
		if p == nil {
			return fmt.Errorf("enable %v: no instruction is known at %#x", x.Probe.Desc(), x.Addr)
		}
		if p.probe == nil {
			fresh = append(fresh, x.Addr)
		}
		s.attach(p, x)
	}
	if err := s.plantAll(fresh); err != nil {
		return errors.Join(err, s.disable(all, n))
	}
	return nil
}

// plantAll plants the breakpoints of points.
func (s *Set) plantAll(fresh []uint64) error {
	var funcs []*Func
	seen := map[*Func]bool{}
	for _, addr := range fresh {
		if f := s.point(addr).fn; !seen[f] {
			seen[f] = true
			funcs = append(funcs, f)
		}
	}
	if err := s.refresh(funcs); err != nil {
		return err
	}
	c := s.changes(min(len(fresh), atOnce))
	for some := range slices.Chunk(fresh, atOnce) {
		c.reset()
		for _, addr := range some { // points may have moved: refresh may have added some
			if p := s.point(addr); p.state == idle {
				c.plant(p)
			}
		}
		if err := c.commit(); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many breakpoints are set in the target together. What is to be done for
// each takes much more memory than the point.
const atOnce = 1 << 15

// attach adds a probe to those of p. The one with the lowest ID fires first.
func (s *Set) attach(p *point, x Site) {
	s.fireEach(p)
	if p.probe == nil {
		p.probe = x.Probe
		return
	}
	all := append(s.more[x.Addr], p.probe, x.Probe)
	slices.SortFunc(all, func(a, b *probes.Probe) int { return cmp.Compare(a.ID(), b.ID()) })
	all = slices.Compact(all)
	p.probe = all[0]
	if len(all) > 1 {
		s.more[x.Addr] = all[1:]
	}
}

// detach takes a probe from those of p.
func (s *Set) detach(p *point, x Site) {
	if len(s.more[x.Addr]) == 0 {
		if p.probe == x.Probe {
			p.probe = nil
		}
		return
	}
	all := append([]*probes.Probe{p.probe}, s.more[x.Addr]...)
	all = slices.DeleteFunc(all, func(q *probes.Probe) bool { return q == x.Probe || q == nil })
	delete(s.more, x.Addr)
	p.probe = nil
	if len(all) > 0 {
		p.probe = all[0]
	}
	if len(all) > 1 {
		s.more[x.Addr] = all[1:]
	}
}

// Disable takes the breakpoints of ps away, where no other probe wants them.
func (s *Set) Disable(ps []*probes.Probe) error { return s.disable(sites(ps), len(ps)) }

// DisableSites does the same for probes at the addresses of points.
func (s *Set) DisableSites(all []Site) error { return s.disable(slices.Values(all), len(all)) }

func (s *Set) disable(all iter.Seq[Site], n int) error {
	c := s.changes(min(n, atOnce))
	for x := range all {
		if p := s.point(x.Addr); p != nil && p.probe != nil {
			s.fireEach(p)
			s.detach(p, x)
			c.removeUnwanted(p)
		}
		if c.len() == atOnce {
			if err := c.commit(); err != nil {
				return err
			}
			c.reset()
		}
	}
	return c.commit()
}

// Err is the first error in adjusting breakpoints to text that the guest rewrote.
func (s *Set) Err() error { return s.err }

// Fail makes err such an error.
func (s *Set) Fail(err error) { s.err = cmp.Or(s.err, err) }
