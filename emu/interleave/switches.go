package interleave

import (
	"cmp"
	"slices"
)

// Switches lets a CPU run until it waits, and then the one that is behind the others, except at the
// switches that it is given: so a schedule is described by the few places at which it is not left to
// itself. A switch takes place at the first instant that is not before its time; of several for which
// that is the same the last one does. One to a CPU that waits then is passed over.
//
// CPUs spin for one another: one that is ahead of the last by more than any other policy allows
// gives its turn up.
func Switches(list []Switch, quantum uint64) Policy { return newSwitches(list, quantum) }

func newSwitches(list []Switch, quantum uint64) *switches {
	s := &switches{ahead: (pctAhead+2)*quantum + longBlock}
	for _, w := range list {
		for w.CPU >= len(s.of) {
			s.of = append(s.of, nil)
		}
		s.of[w.CPU] = append(s.of[w.CPU], w)
	}
	for _, of := range s.of {
		slices.SortStableFunc(of, func(a, b Switch) int { return cmp.Compare(a.At, b.At) })
	}
	return s
}

const longBlock = 1 << 14 // more than the ns of any straight code between two instants

type switches struct {
	of     [][]Switch // by CPU: those to come
	origin uint64
	begun  bool
	ahead  uint64 // ns that a CPU may be ahead of the last
}

func (s *switches) Next(last CPU, can []CPU) (int, uint64) {
	if !s.begun {
		s.begun, s.origin = true, origin(last, can)
	}
	i := s.left(last, can)
	if to, ok := s.due(last); ok {
		if at := slices.IndexFunc(can, func(c CPU) bool { return c.ID == to }); at >= 0 {
			i = at
		}
	}
	return i, s.slice(can[i], can)
}

// due is the CPU that a switch gives the turn of last to.
func (s *switches) due(last CPU) (to int, ok bool) {
	if last.ID >= len(s.of) {
		return 0, false
	}
	of := s.of[last.ID]
	for len(of) > 0 && of[0].At+s.origin <= last.Clock {
		to, ok, of = of[0].To, true, of[1:]
	}
	s.of[last.ID] = of
	return to, ok
}

// left is the CPU that runs next if no switch says otherwise.
func (s *switches) left(last CPU, can []CPU) int {
	first := behind(can)
	for i, c := range can {
		if c.ID == last.ID && c.Clock <= can[first].Clock+s.ahead {
			return i
		}
	}
	return first
}

// slice is how long c can run: to its next switch, or as far as it may be ahead.
func (s *switches) slice(c CPU, can []CPU) uint64 {
	end := can[behind(can)].Clock + s.ahead + 1
	if c.ID < len(s.of) && len(s.of[c.ID]) > 0 {
		end = min(end, s.of[c.ID][0].At+s.origin)
	}
	if end <= c.Clock {
		return 1
	}
	return end - c.Clock
}
