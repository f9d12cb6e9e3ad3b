package patch

import (
	"trapline/kernel/arch"
	"trapline/probes"
)

// A hit is one hit of a breakpoint, and the handle of it that firings have.
type hit struct {
	set    *Set
	addr   uint64
	firing probes.Firing
}

// hit fires the probes at addr, by ID.
func (s *Set) hit(cpu probes.CPU, addr uint64) {
	p := s.point(addr)
	if p == nil || p.probe == nil {
		return
	}
	p.hits++
	h := s.begin(cpu, addr)
	h.firing.Hit, h.firing.Deferred = h, false
	h.fire(p.probe)
	if len(s.more) > 0 {
		for _, q := range s.more[addr] {
			h.fire(q)
		}
	}
	h.end()
}

// deferred fires the probe at addr for a hit that is delivered late. There is one.
func (s *Set) deferred(cpu probes.CPU, addr uint64) {
	p := s.point(addr)
	p.hits++
	h := s.begin(cpu, addr)
	h.firing.Hit, h.firing.Deferred = nil, true
	h.fire(p.probe)
	h.end()
}

// begin makes a handle. One is used over and over, so that a hit allocates nothing.
func (s *Set) begin(cpu probes.CPU, addr uint64) *hit {
	h := s.spare
	if h == nil {
		h = &hit{set: s}
	}
	s.spare = nil
	h.addr, h.firing.CPU = addr, cpu
	return h
}

// end makes the handle void.
func (h *hit) end() {
	h.firing.Probe, h.firing.CPU = nil, nil
	h.set.spare = h
}

// fire fires one of the probes at the place, if it fires at this hit.
func (h *hit) fire(q *probes.Probe) {
	h.firing.Probe = q
	if sel := q.Group().Selector(); sel != nil && !sel.Select(&h.firing) {
		return
	}
	h.set.sink.Fire(&h.firing)
}

// point is that of the hit, nil if it may not be another's way: it is not there any more, it has
// several probes, its hits are counted already.
func (h *hit) point() *point {
	p := h.set.point(h.addr)
	if p == nil || p.probe == nil || p.probe != h.firing.Probe || p.counting || len(h.set.more[h.addr]) > 0 {
		return nil
	}
	return p
}

// Count implements probes.Hit.
func (h *hit) Count() {
	_, wanted := h.set.sink.(probes.CountSink)
	p := h.point()
	if !wanted || p == nil {
		return
	}
	if sel := p.probe.Group().Selector(); sel != nil && !sel.Always(p.probe) {
		return
	}
	if p.counting = h.set.target.CountHits(h.addr); p.counting {
		h.set.counting = append(h.set.counting, h.addr)
	}
}

// Deferral implements probes.Hit.
func (h *hit) Deferral() probes.Deferral {
	if p := h.point(); p != nil {
		return p.deferral
	}
	return probes.Immediate
}

// Defer implements probes.Hit.
func (h *hit) Defer(regs []arch.Reg, memo bool) {
	p := h.point()
	if p == nil {
		return
	}
	p.deferral = probes.Immediate
	if h.set.shared == nil && h.set.target.DeferHits(h.addr, regs, memo) {
		p.deferral = probes.Deferring
	}
}

// NeverDefer implements probes.Hit.
func (h *hit) NeverDefer() {
	if p := h.point(); p != nil {
		p.deferral = probes.Immediate
	}
}

// fireEach makes each further hit of p fire by itself, and at once. The target has delivered those
// that it has deferred.
func (s *Set) fireEach(p *point) {
	s.take(p)
	s.undefer(p)
}

// undefer makes further hits of p fire at once. It leaves counting alone.
func (s *Set) undefer(p *point) {
	if p.deferral == probes.Deferring {
		s.target.UndeferHits(p.addr())
	}
	p.deferral = probes.Untried
}
