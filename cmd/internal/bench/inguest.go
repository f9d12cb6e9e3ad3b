package main

import (
	"fmt"
	"strconv"
	"strings"
)

// reads is a command of a guest that makes many system calls, which all come by vfs_read.
const (
	readCount = 1500000
	reads     = "dd if=/dev/zero of=/dev/null bs=1 count=1500000 2>/dev/null"
)

// inGuest compares a counting probe with the guest's own: kprobe events of Linux, in the
// same kernel under QEMU. A probe at a function's first instruction is made by ftrace
// there, others by a breakpoint or, where the kernel finds it safe, by a jump.
func inGuest(b *bench) ([]row, error) {
	inside, err := b.secondInstr("vfs_read")
	if err != nil {
		return nil, err
	}
	probes := []struct{ name, at, theirs, tune string }{
		{"function entry (theirs: ftrace)", "0", "vfs_read", ""},
		{"inside (theirs: breakpoint)", inside, "vfs_read+" + inside, "echo 0 >/proc/sys/debug/kprobes-optimization; "},
		{"inside (theirs: optimised)", inside, "vfs_read+" + inside, "sleep 1; "},
	}
	const mount = "mount -t tracefs none /mnt && echo 'p:t %s' >/mnt/kprobe_events && echo 1 >/mnt/events/kprobes/t/enable && { %s%s; }"
	plain := task{"", reads}
	theirs, err := b.onQEMU(plain)
	if err != nil {
		return nil, err
	}
	trace := func(program string) command {
		return b.quiet("dtrace", "-q", "-k", debian, "--no-snapshot", "-c", reads, "-n", program)
	}
	commands := []command{trace(unprobed), theirs}
	for _, p := range probes {
		theirs, err := b.onQEMU(task{"", fmt.Sprintf(mount, p.theirs, p.tune, reads)})
		if err != nil {
			return nil, err
		}
		commands = append(commands, trace("kinst::vfs_read:"+p.at+" "+counting), theirs)
	}
	us, err := rounds(b.count(5), commands...)
	if err != nil {
		return nil, err
	}
	var rows []row
	cost := perHit(readCount)
	for i, p := range probes {
		a := pairwise(cpuOf(us[2*i+2]), cpuOf(us[0]), cost)
		b := pairwise(cpuOf(us[2*i+3]), cpuOf(us[1]), cost)
		rows = append(rows, row{Name: p.name, A: a, B: b, Unit: "ns", Result: pairwise(a, b, ratio), Aim: atMost(1)})
	}
	return rows, nil
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
		if off, err := strconv.Atoi(w[0]); err == nil && off >= 5 {
			return w[0], nil
		}
	}
	return "", fmt.Errorf("%s has one instruction", function)
}
