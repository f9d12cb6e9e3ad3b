package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"trapline/emu"
	"trapline/emu/interleave"
	"trapline/kernel/guestos"
)

// interleaving is in which order a guest's CPUs take turns.
type interleaving struct {
	order   string
	seed    uint64
	quantum uint64 // 0: interleave.Quantum, for commands without these flags
	record  string
	split   []string // functions

	listener *listener // that hears how it goes, if any
}

func (i *interleaving) add(f *pflag.FlagSet) {
	f.StringVar(&i.order, "schedule", "", "let CPUs take turns in `ORDER`, from the command on: roundrobin; random or pct, with --seed; replay:SCHEDULE, as --stats shows it, or replay:@FILE")
	f.Uint64Var(&i.seed, "seed", 0, "let CPUs take turns in a random order made from the seed `N`")
	f.Uint64Var(&i.quantum, "quantum", interleave.Quantum, "run a CPU for `NSEC` of its own time at a time")
	f.StringVar(&i.record, "record", "", "write the schedule to `FILE`, switch by switch, for replay:@FILE")
	f.StringSliceVar(&i.split, "split", nil, "let CPUs take turns at each instruction of `FUNCTIONS`, from the command on: names or patterns, with commas between them")
}

// schedule is what the options say. A seed alone asks for the random order.
func (i *interleaving) schedule(cpus int) (interleave.Schedule, error) {
	if text, ok := strings.CutPrefix(i.order, "replay:"); ok {
		return parseReplay(text, cpus)
	}
	s := interleave.Schedule{
		Name: cmp.Or(i.order, "roundrobin"), Seed: i.seed, Quantum: cmp.Or(i.quantum, interleave.Quantum), CPUs: cpus,
	}
	if i.order == "" && i.seed != 0 {
		s.Name = "random"
	}
	if err := s.Check(); err != nil {
		return s, usagef("%w", err)
	}
	return s, nil
}

// parseReplay reads a schedule that was recorded with so many CPUs.
func parseReplay(text string, cpus int) (interleave.Schedule, error) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return interleave.Schedule{}, fmt.Errorf("reading a schedule: %w", err)
		}
		text = strings.TrimSpace(string(data))
	}
	s, err := interleave.Parse(text)
	switch {
	case err != nil:
		return s, usagef("--schedule replay: %w", err)
	case s.CPUs != cpus:
		return s, usagef("--schedule replay: it is of a guest with %d CPUs: give --cpus %d", s.CPUs, s.CPUs)
	}
	return s, nil
}

// turns is the schedule of a guest's CPUs, and how it has gone.
type turns struct {
	interleave.Schedule
	*interleave.Recording
	record string // where to, if anywhere
	file   string // @FILE, where the schedule is from
}

// turns begins a schedule.
func (i *interleaving) turns(cpus int) (turns, error) {
	s, err := i.schedule(cpus)
	if err != nil {
		return turns{}, err
	}
	r := interleave.Record(s.Policy(), s.Quantum, i.record != "")
	r.Expect(s.Course)
	t := turns{Schedule: s, Recording: r, record: i.record}
	if name := strings.TrimPrefix(i.order, "replay:"); strings.HasPrefix(name, "@") {
		t.file = name
	}
	return t, nil
}

// finish writes the schedule to where it is wanted. It fails if the guest has not done what it
// was to do again; early is whether it was ended by other than itself.
func (t turns) finish(early bool) error {
	if t.record != "" {
		s := interleave.Schedule{Name: "switches", Quantum: t.Quantum, Switches: t.Chosen(), CPUs: t.CPUs, Course: t.Recording.Course()}
		if err := os.WriteFile(t.record, []byte(s.String()+"\n"), 0o666); err != nil {
			return fmt.Errorf("writing the schedule: %w", err)
		}
	}
	if t.Astray(early) {
		return errors.New("the guest has not run as it did when the schedule was recorded: image, command and options that change the guest must be the same")
	}
	return nil
}

// String is the schedule as it has gone; one that is in a file is named by that.
func (t turns) String() string {
	if t.file != "" {
		return t.file
	}
	s := t.Schedule
	s.Course = t.Recording.Course()
	return s.String()
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

// splitCode has the CPUs take turns at each instruction of the functions of --split.
func (g *guest) splitCode() error {
	if len(g.options.order.split) == 0 {
		return nil
	}
	if g.origin.moves {
		return fmt.Errorf("--split: this kernel moves itself when it starts: boot it with --append nokaslr, or its %s", cmp.Or(g.System, guestos.Bare).Debug)
	}
	for _, name := range g.options.order.split {
		funcs, err := selected(g.Image, name, false)
		if err != nil {
			return fmt.Errorf("--split: %w", err)
		}
		for _, f := range funcs {
			if err := g.machine.Split(f.Addr, f.Addr+f.Size); err != nil {
				return fmt.Errorf("--split: %w", err)
			}
		}
	}
	return nil
}

// interleave begins the schedule.
func (g *guest) interleave() error {
	g.machine.Interleave(g.turns)
	return g.splitCode()
}
