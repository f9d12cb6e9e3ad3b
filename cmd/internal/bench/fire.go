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
}

// Both have millions of hits of one instruction: what they cost must stand out of the
// noise of a boot. The function string copies the names of /proc/kallsyms.
var (
	tinyCalls   = workload{"tiny/amd64", "calls 2000000"}
	debianNames = workload{debian, "for i in 1 2 3; do cat /proc/kallsyms; done >/dev/null"}
)

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
	spots, err := b.tinySpots()
	if err != nil {
		return nil, err
	}
	rows, err := b.hits(tinyCalls, spots)
	if err != nil {
		return nil, err
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
	once := workload{debian, "cat /proc/kallsyms >/dev/null"}
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
	return spot{"debian, loop", copiesNames + ":" + offset}, nil
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
	us, err := rounds(b.count(5), commands...)
	if err != nil {
		return nil, err
	}
	var rows []row
	without := cpuOf(us[0])
	for i, s := range spots {
		with := cpuOf(us[i+1])
		rows = append(rows, row{
			Name: fmt.Sprintf("%s %s", s.kind, s.at), A: with, B: without, Unit: "s",
			Result: pairwise(with, without, rate(counts[i])), Of: "Mhits/s", Aim: atLeast(5),
		})
	}
	return rows, nil
}

// callPath is the way of a system call through tiny.
var callPath = []string{"syscall_entry", "syscall", "sys_getpid"}

// tinySpots finds one instruction of each kind that every system call of tiny executes.
func (b *bench) tinySpots() ([]spot, error) {
	hot, err := b.hotOffsets()
	if err != nil {
		return nil, err
	}
	var found []spot
	for _, k := range spotKinds {
		s, err := b.findSpot(k, hot)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

// A spotKind is a way to displace an instruction.
type spotKind struct {
	name, plan string
	text       *regexp.Regexp // the instruction
}

var spotKinds = []spotKind{
	{"tiny, copied", "copy", regexp.MustCompile(`.`)},
	{"tiny, relocated jump", "relocate", regexp.MustCompile(`^j`)},
	{"tiny, emulated call", "emulate", regexp.MustCompile(`^call`)},
}

func (b *bench) findSpot(k spotKind, hot []string) (spot, error) {
	for _, f := range callPath {
		out, err := b.output("disas", "-k", tinyCalls.image, f)
		if err != nil {
			return spot{}, err
		}
		for _, in := range parseDisas(out) {
			at := f + ":" + in.offset
			if in.plan == k.plan && k.text.MatchString(in.text) && slices.Contains(hot, at) {
				return spot{k.name, at}, nil
			}
		}
	}
	return spot{}, fmt.Errorf("no %s on the way of a system call of %s", k.name, tinyCalls.image)
}

// hotOffsets are the instructions that each of many system calls executes.
func (b *bench) hotOffsets() ([]string, error) {
	const calls = 1000
	program := "kinst::" + strings.Join(callPath, ":, kinst::") + ": { @[probefunc, probename] = count(); }"
	out, err := b.output("dtrace", "-q", "-k", tinyCalls.image, "-c", fmt.Sprintf("calls %d", calls), "-n", program)
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
	offset, text, plan string
}

// parseDisas reads the table of trapline disas: offset, bytes, text, plan.
func parseDisas(out string) []instruction {
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
		all = append(all, instruction{w[0], strings.Join(w[2:last], " "), w[last]})
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
	spots, err := b.tinySpots()
	if err != nil {
		return nil, err
	}
	at := spots[0].at
	commands := []command{b.quiet(tinyCalls.dtrace(unprobed)...)}
	for _, p := range programs {
		commands = append(commands, b.quiet(tinyCalls.dtrace("kinst::"+at+" "+p.clause)...))
	}
	st, err := b.figures(tinyCalls.dtrace("kinst::" + at + " " + counting)...)
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(5), commands...)
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
	us, err := rounds(b.count(5), b.quiet(args...), b.quiet("boot", "-q", "--no-snapshot", "-c", "true", debian))
	if err != nil {
		return nil, err
	}
	with, without := cpuOf(us[0]), cpuOf(us[1])
	return []row{{
		Name: "every function's entry", A: with, B: without, Unit: "s", Result: pairwise(with, without, ratio), Aim: atMost(3),
		Note: fmt.Sprintf("%d hits", st.hits),
	}}, nil
}
