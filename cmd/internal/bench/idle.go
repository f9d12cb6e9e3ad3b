package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// idleProbes is how many probes are never hit.
const idleProbes = 1000

// neverHit measures what probes cost that are enabled and not hit, on a boot with the
// command true. The probes are spread evenly over the functions that this boot does not
// call, so that a thousand pages of text, hot ones among them, have breakpoints.
//
// Opening symbols and compiling a program is no matter of the guest's, so it is measured
// on its own: by a trace of one such probe.
func neverHit(b *bench) ([]row, error) {
	cold, err := b.coldFunctions()
	if err != nil {
		return nil, err
	}
	one, err := b.program("one.d", cold[:1], 0)
	if err != nil {
		return nil, err
	}
	all, err := b.program("thousand.d", cold, 0)
	if err != nil {
		return nil, err
	}
	few, many := traceBoot("-s", one), traceBoot("-s", all)
	if err := b.checkIdle(few, many); err != nil {
		return nil, err
	}
	us, err := rounds(b.count(11), b.quiet(many...), b.quiet(few...), b.quiet("boot", "-q", "--no-snapshot", "-c", "true", debian))
	if err != nil {
		return nil, err
	}
	thousand, single, none := cpuOf(us[0]), cpuOf(us[1]), cpuOf(us[2])
	return []row{
		{Name: "1,000 probes; one probe", A: thousand, B: single, Unit: "s", Result: pairwise(thousand, single, ratio), Aim: atMost(1.04)},
		{Name: "1,000 probes; no dtrace (boot)", A: thousand, B: none, Unit: "s", Result: pairwise(thousand, none, ratio), Aim: atMost(1.04)},
		{Name: "one probe; no dtrace (boot)", A: single, B: none, Unit: "s", Result: pairwise(single, none, ratio)},
	}, nil
}

func traceBoot(args ...string) []string {
	return append([]string{"dtrace", "-q", "-k", debian, "--from", "boot", "--no-snapshot", "-c", "true"}, args...)
}

// coldFunctions are idleProbes functions that the boot does not call, each the only one
// of its name.
func (b *bench) coldFunctions() ([]string, error) {
	list, err := b.output("dtrace", "-k", debian, "-l", "-n", "kinst::*:0")
	if err != nil {
		return nil, err
	}
	counts, err := b.output(traceBoot("-x", "aggsize=64m", "-n", "kinst::*:0 { @[probefunc] = count(); }")...)
	if err != nil {
		return nil, err
	}
	cold := without(parseList(list), firstWords(counts))
	if len(cold) < idleProbes {
		return nil, fmt.Errorf("only %d functions are never called", len(cold))
	}
	return spreadOver(cold, idleProbes), nil
}

// parseList reads functions from the table of dtrace -l: ID, provider, module, function,
// name. Those of ambiguous names are left out.
func parseList(text string) []string {
	var names []string
	seen := map[string]int{}
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) == 5 && w[0] != "ID" {
			names = append(names, w[3])
			seen[w[3]]++
		}
	}
	var unique []string
	for _, n := range names {
		if seen[n] == 1 {
			unique = append(unique, n)
		}
	}
	return unique
}

// firstWords is the set of the first words of lines.
func firstWords(text string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(text) {
		if w := strings.Fields(line); len(w) > 0 {
			set[w[0]] = true
		}
	}
	return set
}

func without(names []string, set map[string]bool) []string {
	var rest []string
	for _, n := range names {
		if !set[n] {
			rest = append(rest, n)
		}
	}
	return rest
}

// spreadOver picks n of names, evenly.
func spreadOver(names []string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = names[i*len(names)/n]
	}
	return out
}

// program writes a program that counts at an offset of functions, and returns its path.
func (b *bench) program(name string, functions []string, offset int) (string, error) {
	path := filepath.Join(b.dir, name)
	at := fmt.Sprintf(":%d", offset)
	text := "kinst::" + strings.Join(functions, at+",\nkinst::") + at + "\n" + counting + "\n"
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// checkIdle makes sure that the probes are not hit and that the guest is not disturbed.
func (b *bench) checkIdle(few, many []string) error {
	one, err := b.figures(few...)
	if err != nil {
		return err
	}
	all, err := b.figures(many...)
	if err != nil {
		return err
	}
	if all.hits != 0 || one.clock != all.clock {
		return fmt.Errorf("probes that were not to be hit were hit %d times; clocks %d and %d", all.hits, one.clock, all.clock)
	}
	return nil
}
