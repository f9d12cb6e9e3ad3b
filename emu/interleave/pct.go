package interleave

import "slices"

// PCT gives each CPU a priority, as seed has it, and always lets the CPU run that has the
// highest of those that can; now and then it takes that from it. So one CPU can stand still in
// the middle of what it does while others do a lot, which equal turns do not show: most races
// need only few such moments. (Burckhardt and others, A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs, ASPLOS 2010; a run has no known length here, so that the moments
// are not so many in all, but come so often.)
//
// CPUs spin for one another, so none may be left behind for ever: one that is ahead of the
// last by pctAhead quanta waits for it.
func PCT(seed, quantum uint64) Policy { return &pct{source: newSource(seed), quantum: quantum} }

const (
	pctAhead = 64
	pctEvery = 32 // one turn of so many changes a priority
)

type pct struct {
	source
	quantum uint64
	order   []int // CPUs by priority, the highest first
}

func (p *pct) Next(_ CPU, cpus []CPU) (int, uint64) {
	for _, c := range cpus {
		p.admit(c.ID)
	}
	near := within(cpus, pctAhead*p.quantum)
	best := slices.MinFunc(near, func(a, b int) int {
		return slices.Index(p.order, cpus[a].ID) - slices.Index(p.order, cpus[b].ID)
	})
	if p.below(pctEvery) == 0 {
		p.order = slices.DeleteFunc(p.order, func(id int) bool { return id == cpus[best].ID })
		p.order = append(p.order, cpus[best].ID)
	}
	return best, p.quantum
}

// admit gives a CPU that is new a priority, any.
func (p *pct) admit(id int) {
	if !slices.Contains(p.order, id) {
		p.order = slices.Insert(p.order, int(p.below(uint64(len(p.order)+1))), id)
	}
}
