package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// What a guest does while it is probed: system calls that all come by vfs_read, and processes.
const (
	readCount = 200000
	reads     = "dd if=/dev/zero of=/dev/null bs=1 count=200000 2>/dev/null"
	forkCount = 300
	forks     = "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done"
)

// A way is one in which Linux probes vfs_read.
type way struct {
	name string // of the row
	span string // of the guest under QEMU
	at   string // offset
	list string // what the kernel's list of probes says of it
	tune string // what the guest does first
}

// ways are those of a probe at the first instruction, and of one at an offset inside.
func ways(inside string) []way {
	return []way{
		{"entry (theirs: ftrace)", "ftrace", "0", "FTRACE", ""},
		{"inside (theirs: breakpoint)", "breakpoint", inside, "vfs_read+", "echo 0 >/proc/sys/debug/kprobes-optimization"},
		{"inside (theirs: optimised)", "optimised", inside, "OPTIMIZED", "echo 1 >/proc/sys/debug/kprobes-optimization"},
	}
}

// inGuest compares counting probes with the guest's own: kprobe events of Linux, in the same kernel
// under QEMU.
func inGuest(b *bench) ([]row, error) {
	if _, err := exec.LookPath(debianReference.program); err != nil {
		return nil, errors.New(debianReference.missing())
	}
	inside, err := b.secondInstr("vfs_read")
	if err != nil {
		return nil, err
	}
	functions, err := b.probeable()
	if err != nil {
		return nil, err
	}
	theirs, err := b.prepare(script{name: "kprobes", text: kprobes(ways(inside)), files: addresses(functions)}, io.Discard)
	if err != nil {
		return nil, err
	}
	many, err := b.program("many.d", namesOf(functions), behindFtrace)
	if err != nil {
		return nil, err
	}
	ours, err := b.ourHit()
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(3), theirs, ours, b.tracing(forks, "-n", unprobed), b.tracing(forks, "-s", many))
	if err != nil {
		return nil, err
	}
	rows := hitsOfVFSRead(ways(inside), us[1], us[0])
	return append(rows, ofProcesses(len(functions), us[0], us[2], us[3])...), nil
}

// hit is the span of one hit of ours.
const hit = "hit"

// ourHit measures what a hit of a counting probe costs: the mean over all instructions of vfs_read
// that reads execute, since at one of them it would be lost in the noise of the reads.
func (b *bench) ourHit() (command, error) {
	const program = "kinst::vfs_read: " + counting
	st, err := b.figures("dtrace", "-q", "-k", debian, "-c", reads, "-n", program)
	if err != nil {
		return nil, err
	}
	return func() (usage, error) {
		of := func(us []usage) series { return spanOf(us, traced) }
		cost, err := extra(of, b.tracing(reads, "-n", unprobed), b.tracing(reads, "-n", program))
		if err != nil {
			return usage{}, err
		}
		return usage{spans: spans{hit: cost[0] / float64(st.hits)}}, nil
	}, nil
}

// hitsOfVFSRead makes a row for each way of what a hit has cost ours, as ourHit says, and theirs,
// whose guest has a span for each way and one without a probe.
func hitsOfVFSRead(ways []way, ours, theirs []usage) []row {
	var rows []row
	for _, w := range ways {
		a := pairwise(spanOf(ours, hit), make(series, len(ours)), perHit(1))
		b := pairwise(spanOf(theirs, w.span), spanOf(theirs, "reads"), perHit(readCount))
		rows = append(rows, row{Name: w.name, A: a, B: b, Unit: "ns", Result: pairwise(a, b, ratio), Aim: atMost(1)})
	}
	return rows
}

// ofProcesses makes rows of what processes took with and without probes on many functions.
func ofProcesses(n int, theirs, plain, probed []usage) []row {
	a, b := spanOf(probed, traced), spanOf(theirs, "probed forks")
	slower := [2]series{pairwise(a, spanOf(plain, traced), ratio), pairwise(b, spanOf(theirs, "forks"), ratio)}
	name := fmt.Sprintf("%d fork+exec, %d functions", forkCount, n)
	return []row{
		{Name: name, A: a, B: b, Unit: "s", Result: pairwise(a, b, ratio), Aim: atMost(1)},
		{Name: "the same, times those without", A: slower[0], B: slower[1], Result: pairwise(slower[0], slower[1], ratio), Aim: atMost(1)},
	}
}

// tracefs makes what the kernel has for tracing visible in a guest.
const tracefs = `mount -t tracefs none /sys/kernel/tracing
mount -t debugfs none /sys/kernel/debug
cd /sys/kernel/tracing
`

// kprobes is the script of a guest that probes vfs_read in each way, and then all of the
// addresses in a file. That the probes are what they should be and have counted is checked.
func kprobes(ways []way) string {
	var t strings.Builder
	t.WriteString(tracefs)
	fmt.Fprintf(&t, "%s\n%s\n", span("reads", reads), span("forks", forks))
	for _, w := range ways {
		fmt.Fprintln(&t, w.tune)
		fmt.Fprintf(&t, "echo p:k/t vfs_read+%s >kprobe_events; echo 1 >events/k/enable; sleep 1\n", w.at)
		fmt.Fprintf(&t, "grep -q %s /sys/kernel/debug/kprobes/list\n%s\n", w.list, span(w.span, reads))
		fmt.Fprintf(&t, "[ $(awk '{ print $2 }' kprobe_profile) -ge %d ]\n", readCount)
		t.WriteString("echo 0 >events/k/enable; echo >kprobe_events\n")
	}
	t.WriteString("while read a; do echo p:k/$a 0x$a >>kprobe_events; done </addresses\n")
	t.WriteString("echo 1 >events/k/enable; sleep 5\n")
	fmt.Fprintln(&t, span("probed forks", forks))
	return t.String()
}

// secondInstr is the offset of a function's first instruction behind the room that ftrace
// has at its start.
func (b *bench) secondInstr(function string) (string, error) {
	out, err := b.output("disas", "-k", debian, function)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		if off, err := strconv.Atoi(w[0]); err == nil && off >= behindFtrace {
			return w[0], nil
		}
	}
	return "", fmt.Errorf("%s has one instruction", function)
}
