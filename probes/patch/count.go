package patch

import (
	"maps"
	"slices"

	"trapline/probes"
)

// TakeHits delivers to the sink all hits that the target has counted, in the order in which they
// began to be. Every probe fires one by one again.
func (s *Set) TakeHits() {
	for _, addr := range s.counting {
		s.take(s.point(addr))
	}
	s.counting = s.counting[:0]
}

// take is TakeHits of one point.
func (s *Set) take(p *point) {
	if !p.counting {
		return
	}
	p.counting = false
	if n := s.target.TakeHits(p.addr()); n > 0 {
		p.hits += n
		s.sink.(probes.CountSink).FireTimes(p.probe, n)
	}
}

// each goes through all points by address.
func (s *Set) each(f func(*point)) {
	for _, n := range slices.Sorted(maps.Keys(s.pages)) {
		pg := s.pages[n]
		for _, i := range pg.index {
			if i != 0 {
				f(&pg.points[i-1])
			}
		}
	}
}

// Enabled lists the addresses of the enabled points, sorted.
func (s *Set) Enabled() []uint64 {
	var out []uint64
	s.each(func(p *point) {
		if p.probe != nil {
			out = append(out, p.addr())
		}
	})
	return out
}

// Hits is how often the breakpoint at addr was hit since the set was made.
func (s *Set) Hits(addr uint64) uint64 {
	if p := s.point(addr); p != nil {
		return p.hits
	}
	return 0
}

// Total is how often all breakpoints were hit since the set was made.
func (s *Set) Total() (n uint64) {
	n = s.forgotten
	for _, pg := range s.pages {
		for i := range pg.points {
			n += pg.points[i].hits
		}
	}
	return n
}
