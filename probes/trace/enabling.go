package trace

import (
	"slices"
	"sort"

	"trapline/probes"
	"trapline/probes/d/vm"
)

// Enablings are the clauses at each probe. An enabling's number, the EPID, counts from 1:
// clause by clause, within a clause description by description, then by probe. Built for
// millions: Of finds those of a probe in one step.
type Enablings struct {
	made  []made
	first []uint32      // by probe ID: where its enablings begin in flat
	flat  []vm.Enabling // by probe, then by number
	where []uint32      // by EPID - 1: the index in flat

	// Those of probes that are made while the trace runs, whose numbers follow.
	late   map[probes.ID][]vm.Enabling
	lateBy []made // by EPID - 1 - len(where)
}

type made struct {
	probe  *probes.Probe
	clause uint32
}

func (e *Enablings) Add(ps []*probes.Probe, clause int) {
	e.made = slices.Grow(e.made, len(ps))
	for _, p := range ps {
		e.made = append(e.made, made{p, uint32(clause)})
	}
}

// Index is called once, when all are added, with the highest probe ID.
func (e *Enablings) Index(last int) {
	e.first = make([]uint32, last+2)
	for _, x := range e.made {
		e.first[x.probe.ID()]++
	}
	sum := uint32(0)
	for i, n := range e.first {
		e.first[i] = sum
		sum += n
	}
	e.flat = make([]vm.Enabling, len(e.made))
	e.where = make([]uint32, len(e.made))
	next := append([]uint32(nil), e.first...)
	for i, x := range e.made {
		at := &next[x.probe.ID()]
		e.flat[*at] = vm.Enabling{EPID: uint32(i + 1), Clause: int(x.clause)}
		e.where[i] = *at
		*at++
	}
	e.made = nil
}

// Of lists the enablings of a probe, in the order in which they fire.
func (e *Enablings) Of(id probes.ID) []vm.Enabling {
	if int(id)+1 >= len(e.first) {
		return e.late[id]
	}
	return e.flat[e.first[id]:e.first[id+1]]
}

// AddLate adds one when Index has been called, if it is not there.
func (e *Enablings) AddLate(p *probes.Probe, clause int) {
	for _, x := range e.Of(p.ID()) {
		if x.Clause == clause {
			return
		}
	}
	if e.late == nil {
		e.late = map[probes.ID][]vm.Enabling{}
	}
	e.lateBy = append(e.lateBy, made{p, uint32(clause)})
	e.late[p.ID()] = append(e.late[p.ID()], vm.Enabling{EPID: uint32(e.Len()), Clause: clause})
}

// Len is the number of enablings, and the largest EPID.
func (e *Enablings) Len() int { return len(e.where) + len(e.lateBy) }

// Get finds an enabling by its number.
func (e *Enablings) Get(epid uint32) (id probes.ID, clause int, ok bool) {
	switch n := int(epid) - 1 - len(e.where); {
	case epid == 0 || n >= len(e.lateBy):
		return 0, 0, false
	case n >= 0:
		return e.lateBy[n].probe.ID(), int(e.lateBy[n].clause), true
	}
	at := e.where[epid-1]
	n := sort.Search(len(e.first), func(i int) bool { return e.first[i] > at })
	return probes.ID(n - 1), e.flat[at].Clause, true
}

// Each goes through the IDs of the enabled probes that Index has seen, in order.
func (e *Enablings) Each(yield func(probes.ID) bool) {
	for id := range max(len(e.first)-1, 0) {
		if e.first[id] != e.first[id+1] && !yield(probes.ID(id)) {
			return
		}
	}
}
