// Package interleave decides which CPU of a guest runs when, and for how long. The CPUs take
// turns in one thread, so what a policy decides is the whole interleaving of the guest: the
// same policy from the same state gives the same run.
//
//	Machine --CPUs that can run--> Policy --who, how long--> Machine runs it: a slice
//	   ^                                                         |
//	   '------ the slice is over, it waits, it wakes another ----'
//
// A slice ends where an interrupt could be taken: after a control transfer of the guest's code.
//
// A Schedule names a policy, in a string that can be kept. A Recording is a policy that writes down
// what another one decides; what it has written is a Schedule that has the same again.
package interleave

import "math/rand/v2"

// Quantum is the usual length of a slice: 20 µs of the guest's time.
const Quantum = 20_000

// Limits of a quantum: a handful of instructions, a second.
const (
	MinQuantum = 16
	MaxQuantum = 1_000_000_000
)

// A CPU is one that can run.
type CPU struct {
	ID    int    // its number in the guest
	Clock uint64 // its time in ns
	// Yields is true for the one that has run, if it is to give up its turn. A Recording
	// sees to that.
	Yields bool
}

// A Policy chooses.
type Policy interface {
	// Next is the index in can, which is not empty and in the order of the IDs, of the CPU
	// that runs next, and for how many ns of its clock at most: 1 or more. A CPU that is the
	// only one to run may be given more. last has run so far; it is in can unless it waits.
	Next(last CPU, can []CPU) (i int, slice uint64)
}

// RoundRobin lets the CPU run that is behind the others, for a quantum. It is the policy in
// which all CPUs are as fast as each other.
func RoundRobin(quantum uint64) Policy { return roundRobin(quantum) }

type roundRobin uint64

func (q roundRobin) Next(_ CPU, cpus []CPU) (int, uint64) { return behind(cpus), uint64(q) }

// behind is the CPU with the earliest clock, the first of those with the same.
func behind(cpus []CPU) int {
	best := 0
	for i, c := range cpus {
		if c.Clock < cpus[best].Clock {
			best = i
		}
	}
	return best
}

// Random lets any CPU run that is not too far ahead of the others, for a while that is a
// quantum on average, as seed has it.
func Random(seed, quantum uint64) Policy {
	return &random{newSource(seed), quantum}
}

func newSource(seed uint64) source { return source{rand.NewPCG(seed, stream)} }

const stream = 0x7472_6170_6c69_6e65 // the second half of the seed of a generator

type random struct {
	source
	quantum uint64
}

type source struct{ *rand.PCG }

// ahead is by how many quanta a CPU may be ahead of the last one and still be chosen.
const ahead = 4

func (r *random) Next(_ CPU, cpus []CPU) (int, uint64) {
	near := within(cpus, ahead*r.quantum)
	i := near[r.below(uint64(len(near)))]
	return i, 1 + r.below(2*r.quantum)
}

// within are the CPUs that are at most so far ahead of the last one.
func within(cpus []CPU, ahead uint64) []int {
	limit := cpus[behind(cpus)].Clock + ahead
	near := make([]int, 0, len(cpus))
	for i, c := range cpus {
		if c.Clock <= limit {
			near = append(near, i)
		}
	}
	return near
}

// below is a number below n. The remainder is a little uneven, and the same in every version
// of the language's library.
func (s source) below(n uint64) uint64 { return s.Uint64() % n }
