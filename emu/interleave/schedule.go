package interleave

import (
	"fmt"
	"strconv"
	"strings"
)

// A Schedule is in which order the CPUs of a guest run, as a value that can be written down.
type Schedule struct {
	// Name is that of a policy: roundrobin, random, pct, or switches.
	Name     string
	Seed     uint64 // of random and pct
	Quantum  uint64 // ns
	Switches []Switch
	// CPUs is how many the guest has had whose schedule this is, and Course what they have
	// done; 0 where that is not known.
	CPUs   int
	Course Course
}

// Check says what is wrong with a schedule that somebody has asked for.
func (s Schedule) Check() error {
	if s.Quantum < MinQuantum || s.Quantum > MaxQuantum {
		return fmt.Errorf("a quantum of %d ns: it must be from %d to %d", s.Quantum, uint64(MinQuantum), uint64(MaxQuantum))
	}
	switch s.Name {
	case "roundrobin", "random", "pct", "switches":
		return nil
	}
	return fmt.Errorf("no schedule %q: there are roundrobin, random, pct and replay:SCHEDULE", s.Name)
}

// Policy makes the policy of a schedule that Check finds right.
func (s Schedule) Policy() Policy {
	switch s.Name {
	case "random":
		return Random(s.Seed, s.Quantum)
	case "pct":
		return PCT(s.Seed, s.Quantum)
	case "switches":
		return Switches(s.Switches, s.Quantum)
	}
	return RoundRobin(s.Quantum)
}

// String is the schedule as Parse reads it, without white space and what shells make something
// of:
//
//	cpus/policy/quantum/seed or switches/course
//	2/random/20000/7/118-5f2c9a31
//	2/switches/20000/0@1200:1,1@300:0/4-80c1a99e
//
// A switch is cpu@ns:cpu, the course a count and a sum. What is not known is not there.
func (s Schedule) String() string {
	what := ""
	switch s.Name {
	case "random", "pct":
		what = strconv.FormatUint(s.Seed, 10)
	case "switches":
		what = formatSwitches(s.Switches)
	}
	text := fmt.Sprintf("%d/%s/%d/%s", s.CPUs, s.Name, s.Quantum, what)
	if s.Course != (Course{}) {
		text += fmt.Sprintf("/%d-%08x", s.Course.Switches, s.Course.Sum)
	}
	return text
}

func formatSwitches(all []Switch) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d@%d:%d", s.CPU, s.At, s.To)
	}
	return b.String()
}

// Parse reads what String has written.
func Parse(text string) (s Schedule, err error) {
	part := strings.Split(text, "/")
	if len(part) != 4 && len(part) != 5 {
		return s, fmt.Errorf("a schedule has 4 or 5 parts with / between them, not %d", len(part))
	}
	s.Name = part[1]
	cpus, err := number(part[0], 8)
	s.CPUs = int(cpus)
	if err == nil {
		s.Quantum, err = number(part[2], 64)
	}
	if err == nil {
		err = s.parseWhat(part[3])
	}
	if err == nil && len(part) == 5 {
		s.Course, err = parseCourse(part[4])
	}
	if err == nil {
		err = s.Check()
	}
	return s, err
}

func (s *Schedule) parseWhat(text string) (err error) {
	switch s.Name {
	case "random", "pct":
		s.Seed, err = number(text, 64)
	case "switches":
		s.Switches, err = parseSwitches(text)
	}
	return err
}

func parseSwitches(text string) (all []Switch, err error) {
	if text == "" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		cpu, rest, ok := strings.Cut(one, "@")
		at, to, ok2 := strings.Cut(rest, ":")
		if !ok || !ok2 {
			return nil, fmt.Errorf("%q is not a switch (example: 0@1200:1)", one)
		}
		var n [3]uint64
		for i, text := range []string{cpu, at, to} {
			if n[i], err = number(text, []int{8, 64, 8}[i]); err != nil {
				return nil, err
			}
		}
		all = append(all, Switch{int(n[0]), n[1], int(n[2])})
	}
	return all, nil
}

func parseCourse(text string) (c Course, err error) {
	count, sum, ok := strings.Cut(text, "-")
	n, err := number(count, 31)
	v, err2 := strconv.ParseUint(sum, 16, 32)
	if !ok || err != nil || err2 != nil {
		return c, fmt.Errorf("%q is not a course (example: 118-5f2c9a31)", text)
	}
	return Course{int(n), uint32(v)}, nil
}

func number(text string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("invalid number %q in the schedule", text)
	}
	return n, nil
}
