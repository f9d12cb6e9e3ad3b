package interleave

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// run gives turns to CPUs that use up their slices, and returns who ran.
func run(p Policy, clocks []uint64, turns int) (who string, after []uint64) {
	var cpus []CPU
	for i, c := range clocks {
		cpus = append(cpus, CPU{ID: i, Clock: c})
	}
	last := cpus[0]
	for range turns {
		i, slice := p.Next(last, cpus)
		who += fmt.Sprint(cpus[i].ID)
		cpus[i].Clock += slice
		last = cpus[i]
	}
	for _, c := range cpus {
		after = append(after, c.Clock)
	}
	return who, after
}

func TestRoundRobin(t *testing.T) {
	who, after := run(RoundRobin(100), []uint64{0, 250, 0}, 9)
	if want := "020202102"; who != want || fmt.Sprint(after) != "[400 350 400]" {
		t.Errorf("%s, then %v; want %s", who, after, want)
	}
}

func TestRandom(t *testing.T) {
	const turns, quantum = 400, 1000
	seen := map[string]bool{}
	for seed := range uint64(5) {
		who, after := run(Random(seed, quantum), []uint64{0, 0, 50 * quantum}, turns)
		if again, _ := run(Random(seed, quantum), []uint64{0, 0, 50 * quantum}, turns); again != who {
			t.Errorf("seed %d is not the same twice", seed)
		}
		if seen[who] {
			t.Errorf("seed %d is as another", seed)
		}
		seen[who] = true
		if at := strings.Index(who, "2"); at < 40 {
			t.Errorf("seed %d: the CPU that is far ahead runs in turn %d", seed, at)
		}
		for _, c := range after {
			if c < 130*quantum || c > 170*quantum {
				t.Errorf("seed %d: clocks %v", seed, after)
			}
		}
	}
}

// A CPU runs alone for long, but not for ever.
func TestPCT(t *testing.T) {
	const turns, quantum = 2000, 1000
	seen := map[string]bool{}
	for seed := range uint64(5) {
		who, after := run(PCT(seed, quantum), make([]uint64, 4), turns)
		if again, _ := run(PCT(seed, quantum), make([]uint64, 4), turns); again != who {
			t.Errorf("seed %d is not the same twice", seed)
		}
		if seen[who] {
			t.Errorf("seed %d is as another", seed)
		}
		seen[who] = true
		switches := 0
		for i := range who[1:] {
			if who[i] != who[i+1] {
				switches++
			}
		}
		if switches < turns/200 || switches > turns*3/4 {
			t.Errorf("seed %d: %d switches in %d turns", seed, switches, turns)
		}
		if ahead := slices.Max(after) - slices.Min(after); ahead > (pctAhead+1)*quantum {
			t.Errorf("seed %d: clocks %v", seed, after)
		}
	}
}
