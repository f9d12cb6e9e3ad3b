package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A workload is a command of a guest that comes by the same instructions again and again.
type workload struct {
	image, command string
	aim            float64 // million hits in a second of CPU, at least
}

// All have millions of hits of one instruction: what they cost must stand out of the
// noise of a boot. The function string copies the names of /proc/kallsyms.
var (
	tinyCalls = []workload{
		{"tiny/amd64", manyCalls, 5},
		{"tiny/arm64", manyCalls, 4},
		{"tiny/riscv64", manyCalls, 4},
	}
	debianNames = workload{debian, "for i in 1 2 3; do cat /proc/kallsyms; done >/dev/null", 5}
)

const manyCalls = "calls 2000000"

const copiesNames = "string"

// dtrace is the command line that traces it with a program.
func (w workload) dtrace(program string) []string {
	return []string{"dtrace", "-q", "-k", w.image, "-c", w.command, "-n", program}
}

// unprobed is a program that pays for everything but the probe.
const unprobed = `BEGIN { @ = count(); }`

const counting = `{ @ = count(); }`

// A spot is an instruction to probe.
type spot struct {
	kind string // in words
	at   string // function:offset
}

// firing measures the hits of single instructions of every kind.
func firing(b *bench) ([]row, error) {
	var rows []row
	for _, w := range tinyCalls {
		spots, err := b.tinySpots(w.image)
		if err != nil {
			return rows, err
		}
		more, err := b.hits(w, spots)
		if err != nil {
			return rows, err
		}
		rows = append(rows, more...)
	}
	loop, err := b.debianSpot()
	if err != nil {
		return rows, err
	}
	more, err := b.hits(debianNames, []spot{loop})
	return append(rows, more...), err
}

// debianSpot finds the instruction of debian's string that is executed most, with the
// last offset if there are several.
func (b *bench) debianSpot() (spot, error) {
	once := workload{image: debian, command: "cat /proc/kallsyms >/dev/null"}
	out, err := b.output(once.dtrace("kinst::" + copiesNames + ": { @[probename] = count(); }")...)
	if err != nil {
		return spot{}, err
	}
	offset, most := "", 0
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) != 2 {
			continue
		}
		if n, err := strconv.Atoi(w[1]); err == nil && n >= most {
			offset, most = w[0], n
		}
	}
	if most == 0 {
		return spot{}, fmt.Errorf("no instruction of %s is executed in %s", copiesNames, debian)
	}
	return spot{"loop", copiesNames + ":" + offset}, nil
}

// hits measures one workload with a probe on each spot in turn, and without.
func (b *bench) hits(w workload, spots []spot) ([]row, error) {
	commands := []command{b.quiet(w.dtrace(unprobed)...)}
	var counts []uint64
	for _, s := range spots {
		args := w.dtrace("kinst::" + s.at + " " + counting)
		st, err := b.figures(args...)
		if err != nil {
			return nil, err
		}
		counts = append(counts, st.hits)
		commands = append(commands, b.quiet(args...))
	}
	us, err := rounds(b.count(7), commands...)
	if err != nil {
		return nil, err
	}
	var rows []row
	without := cpuOf(us[0])
	for i, s := range spots {
		with := cpuOf(us[i+1])
		rows = append(rows, row{
			Name: fmt.Sprintf("%s, %s %s", w.image, s.kind, s.at), A: with, B: without, Unit: "s",
			Result: pairwise(with, without, rate(counts[i])), Of: "Mhits/s", Aim: atLeast(w.aim),
		})
	}
	return rows, nil
}

// engines compares the two ways to notice that an instruction is executed.
func engines(b *bench) ([]row, error) {
	var rows []row
	for _, w := range tinyCalls {
		r, err := b.engines(w)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (b *bench) engines(w workload) (row, error) {
	w.command = "calls 500000" // many short runs
	spots, err := b.tinySpots(w.image)
	if err != nil {
		return row{}, err
	}
	counted := w.dtrace("kinst::" + spots[0].at + " " + counting)
	st, err := b.figures(counted...)
	if err != nil {
		return row{}, err
	}
	hooked := append([]string{counted[0], "-x", "engine=hook"}, counted[1:]...)
	r := row{Name: w.image + ", " + spots[0].at, Unit: "ns"}
	for range b.count(7) {
		cost, err := extra(cpuOf, b.quiet(w.dtrace(unprobed)...), b.quiet(counted...), b.quiet(hooked...))
		if err != nil {
			return row{}, err
		}
		each := pairwise(cost, make(series, len(cost)), perHit(st.hits))
		r.A, r.B = append(r.A, each[0]), append(r.B, each[1])
	}
	r.Result = pairwise(r.A, r.B, ratio)
	return r, nil
}

// callPath is the way of a system call through tiny, on any architecture.
var callPath = []string{"syscall", "sys_getpid"}

// tinySpots finds one instruction of each kind that every system call of a tiny executes.
// The first is one that is copied; an architecture need not have all of the others.
func (b *bench) tinySpots(image string) ([]spot, error) {
	hot, err := b.hotOffsets(image)
	if err != nil {
		return nil, err
	}
	var path []instruction
	for _, f := range callPath {
		out, err := b.output("disas", "-k", image, f)
		if err != nil {
			return nil, err
		}
		path = append(path, parseDisas(f, out)...)
	}
	var found []spot
	for i, k := range spotKinds {
		s, ok := k.find(path, hot)
		if i == 0 && !ok {
			return nil, fmt.Errorf("no %s instruction on the way of a system call of %s", k.name, image)
		}
		if ok {
			found = append(found, s)
		}
	}
	return found, nil
}

// A spotKind is a way to displace an instruction.
type spotKind struct {
	name, plan string
	text       *regexp.Regexp // the instruction
}

var spotKinds = []spotKind{
	{"copied", "copy", regexp.MustCompile(`.`)},
	{"relocated jump", "relocate", regexp.MustCompile(`^j`)},
	{"emulated call", "emulate", regexp.MustCompile(`^(callq?|blr?|jalr?) `)},
}

func (k spotKind) find(path []instruction, hot []string) (spot, bool) {
	for _, in := range path {
		if in.plan == k.plan && k.text.MatchString(in.text) && slices.Contains(hot, in.at) {
			return spot{k.name, in.at}, true
		}
	}
	return spot{}, false
}

// hotOffsets are the instructions that each of many system calls executes.
func (b *bench) hotOffsets(image string) ([]string, error) {
	const calls = 1000
	program := "kinst::" + strings.Join(callPath, ":, kinst::") + ": { @[probefunc, probename] = count(); }"
	out, err := b.output("dtrace", "-q", "-k", image, "-c", fmt.Sprintf("calls %d", calls), "-n", program)
	if err != nil {
		return nil, err
	}
	var hot []string
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) != 3 {
			continue
		}
		if n, err := strconv.Atoi(w[2]); err == nil && n >= calls {
			hot = append(hot, w[0]+":"+w[1])
		}
	}
	return hot, nil
}

// An instruction is a line of trapline disas.
type instruction struct {
	at         string // function:offset
	text, plan string
}

// parseDisas reads the table of trapline disas for a function: offset, bytes, text, plan.
func parseDisas(function, out string) []instruction {
	var all []instruction
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) < 4 {
			continue
		}
		if _, err := strconv.Atoi(w[0]); err != nil {
			continue
		}
		last := len(w) - 1
		all = append(all, instruction{function + ":" + w[0], strings.Join(w[2:last], " "), w[last]})
	}
	return all
}

// programs are clauses to compare at one hot instruction.
var programs = []struct{ name, clause string }{
	{"predicate, false", "/pid == 0/ { @ = count(); }"},
	{"count()", counting},
	{"count by probefunc", "{ @[probefunc] = count(); }"},
	{"count by pid and execname", "{ @[pid, execname] = count(); }"},
	{"quantize of a register", "{ @ = quantize(regs[R_RDI]); }"},
	{"global variable", "{ last = timestamp; }"},
	{"printf of two integers", `{ printf("%d %d\n", pid, timestamp); }`},
}

// clauses measures nanoseconds of CPU for one hit.
func clauses(b *bench) ([]row, error) {
	w := tinyCalls[0]
	spots, err := b.tinySpots(w.image)
	if err != nil {
		return nil, err
	}
	at := spots[0].at
	commands := []command{b.quiet(w.dtrace(unprobed)...)}
	for _, p := range programs {
		commands = append(commands, b.quiet(w.dtrace("kinst::"+at+" "+p.clause)...))
	}
	st, err := b.figures(w.dtrace("kinst::" + at + " " + counting)...)
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(7), commands...)
	if err != nil {
		return nil, err
	}
	var rows []row
	without := cpuOf(us[0])
	for i, p := range programs {
		with := cpuOf(us[i+1])
		rows = append(rows, row{Name: p.name, A: with, B: without, Unit: "s",
			Result: pairwise(with, without, perHit(st.hits)), Of: "ns"})
	}
	return rows, nil
}

// everyFunction measures a boot in which the entry of every function is counted, against
// one that is not traced. Reading symbols and making tens of thousands of probes is part of
// it.
func everyFunction(b *bench) ([]row, error) {
	args := traceBoot("-x", "aggsize=64m", "-n", "fbt:::entry { @[probefunc] = count(); }")
	st, err := b.figures(args...)
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(7), b.quiet(args...), b.quiet("boot", "-q", "--no-snapshot", "-c", "true", debian))
	if err != nil {
		return nil, err
	}
	with, without := cpuOf(us[0]), cpuOf(us[1])
	return []row{{
		Name: "every function's entry", A: with, B: without, Unit: "s", Result: pairwise(with, without, ratio), Aim: atMost(3),
		Note: fmt.Sprintf("%d hits", st.hits),
	}}, nil
}
