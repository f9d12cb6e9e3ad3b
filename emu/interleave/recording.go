package interleave

import "slices"

// A Switch takes the turn from a CPU when its clock has come to At, and gives it to another. At is in
// ns from the time at which the recording began.
type Switch struct {
	CPU int
	At  uint64
	To  int
}

// A Course is what has been decided in a run, in short: how often another CPU got the turn, and a sum
// over who, when, and whose turn it was then.
type Course struct {
	Switches int
	Sum      uint32
}

// A Recording is a Policy that does what another one says, and writes it down.
type Recording struct {
	// OnSwitch, if it is not nil, is called when another CPU gets the turn. Chosen is whether
	// CPUs left to themselves (Switches) would have done otherwise.
	OnSwitch func(s Switch, chosen bool)

	policy  Policy
	rest    *switches // what CPUs do that are left to themselves
	origin  uint64
	end     uint64 // of the slice that was given last: what is replayed, for the CPU may not leave at once
	begun   bool
	course  Course
	keep    bool
	chosen  []Switch
	want    Course
	missing bool // the course was another one where it was as long as want
}

// Record makes a recording of what p decides; quantum is p's. With keep it keeps the switches that
// are the policy's own.
func Record(p Policy, quantum uint64, keep bool) *Recording {
	return &Recording{policy: p, rest: newSwitches(nil, quantum), keep: keep}
}

// Expect has the course compared with one that is known.
func (r *Recording) Expect(c Course) { r.want = c }

// Next is the policy's decision.
func (r *Recording) Next(last CPU, can []CPU) (int, uint64) {
	if !r.begun {
		r.begun, r.origin, r.end = true, origin(last, can), last.Clock
	}
	i, slice := r.decide(last, can)
	chosen := i != r.rest.left(last, can)
	s := Switch{last.ID, last.Clock - r.origin, can[i].ID}
	if s.To != s.CPU {
		r.course.add(s)
		r.missing = r.missing || r.course.Switches == r.want.Switches && r.course != r.want
		if r.OnSwitch != nil {
			r.OnSwitch(s, chosen)
		}
	}
	if chosen && r.keep {
		s.At = min(s.At, r.end-r.origin)
		r.chosen = append(r.chosen, s)
	}
	r.end = can[i].Clock + slice
	return i, slice
}

// decide has another CPU run than one that yields.
func (r *Recording) decide(last CPU, can []CPU) (i int, slice uint64) {
	at := slices.IndexFunc(can, func(c CPU) bool { return c.ID == last.ID })
	if !last.Yields || at < 0 || len(can) == 1 {
		return r.policy.Next(last, can)
	}
	if i, slice = r.policy.Next(last, slices.Delete(slices.Clone(can), at, at+1)); i >= at {
		i++
	}
	return i, slice
}

// origin is the time from which a schedule counts.
func origin(last CPU, can []CPU) uint64 { return min(last.Clock, can[behind(can)].Clock) }

// Course is what there has been so far.
func (r *Recording) Course() Course { return r.course }

// Chosen are the switches so far that were the policy's own, if they are kept.
func (r *Recording) Chosen() []Switch { return r.chosen }

// Astray reports whether the run has left the course that Expect was given. A run that was ended
// early, by other than the guest, may have come only a part of the way.
func (r *Recording) Astray(early bool) bool {
	return r.missing || !early && r.course.Switches < r.want.Switches
}

// add takes a switch into the sum (FNV-1a, 32 bits, over three numbers).
func (c *Course) add(s Switch) {
	if c.Switches == 0 {
		c.Sum = 2166136261
	}
	c.Switches++
	for _, v := range [3]uint64{uint64(s.CPU), s.At, uint64(s.To)} {
		for ; v > 0xff; v >>= 8 {
			c.Sum = (c.Sum ^ uint32(v&0xff)) * 16777619
		}
		c.Sum = (c.Sum ^ uint32(v)) * 16777619
	}
}
