package cli

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"trapline/emu"
	"trapline/emu/interleave"
)

// interleaving is in which order a guest's CPUs take turns.
type interleaving struct {
	schedule string
	seed     uint64
	quantum  uint64 // 0: interleave.Quantum, for commands without these flags
}

func (i *interleaving) add(f *pflag.FlagSet) {
	f.StringVar(&i.schedule, "schedule", "", "`ORDER` in which CPUs take turns from the command on: roundrobin, random or pct (with --seed)")
	f.Uint64Var(&i.seed, "seed", 0, "run CPUs in a random order, and with another `N` in another one")
	f.Uint64Var(&i.quantum, "quantum", interleave.Quantum, "`NSEC` of its own time that a CPU runs at a time")
}

// policy makes what the options say. A seed alone asks for the random order.
func (i *interleaving) policy() (interleave.Policy, error) {
	name := cmp.Or(i.schedule, "roundrobin")
	if i.schedule == "" && i.seed != 0 {
		name = "random"
	}
	p, err := interleave.New(name, i.seed, cmp.Or(i.quantum, interleave.Quantum))
	if err != nil {
		return nil, usagef("%w", err)
	}
	return p, nil
}

// A count of CPUs.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }
func (c *count) Type() string   { return "count" }

func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > emu.MaxCPUs {
		return fmt.Errorf("it must be a number from 1 to %d", emu.MaxCPUs)
	}
	*c = count(n)
	return nil
}
