package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"

	"trapline/images"
	"trapline/images/initramfs"
)

// A task is a shell line for a guest, which writes what has come of it. What it costs is what it
// takes beyond a guest that boots and does nothing.
type task struct{ name, command string }

// nothing is what a guest does that only boots.
var nothing = task{"boot", "echo nothing"}

// tasks are of different kinds: processes, an interpreter, computing, the file system.
var tasks = []task{
	{"fork and exec", "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done; echo $i"},
	{"shell script", "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo $i"},
	{"checksum", "dd if=/dev/zero bs=64k count=1024 2>/dev/null | sha256sum"},
	{"file tree", "mkdir /tmp/t && cd /tmp/t && for i in $(seq 400); do mkdir $i; echo $i >$i/f; done; " +
		"find . -type f | sort | xargs cat | sha256sum; cd /; rm -r /tmp/t"},
}

// everyTask compares two emulators over the same kernels and the same commands, from the start of
// the process until the guest has ended by itself.
func everyTask(b *bench) ([]row, error) {
	var rows []row
	var errs []error
	for _, r := range references {
		more, err := b.everyTaskOf(r)
		rows, errs = append(rows, more...), append(errs, err)
	}
	return rows, errors.Join(errs...)
}

func (b *bench) everyTaskOf(r reference) ([]row, error) {
	var commands []command
	for _, t := range append([]task{nothing}, tasks...) {
		ours, theirs, err := b.alone(r, t)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New(r.missing())
		}
		if err != nil {
			return nil, err
		}
		commands = append(commands, ours, theirs)
	}
	us, err := rounds(b.count(7), commands...)
	if err != nil {
		return nil, err
	}
	return compareTasks(r, us), nil
}

// alone prepares a guest whose init is a shell with a task, which then ends it.
func (b *bench) alone(r reference, t task) (ours, theirs command, err error) {
	spec, err := images.Store{}.Open(r.image)
	if err != nil {
		return nil, nil, err
	}
	const script = "mount -t proc none /proc; mount -t devtmpfs none /dev\n" +
		"r=$(%s); dmesg -n 1 # no message of the kernel's comes into the line\n" +
		"echo \"%s$r\"; %s -f\n"
	file := initramfs.File{Path: "task", Contents: fmt.Appendf(nil, script, t.command, cameOf, r.end)}
	spec.Initrd = spec.Initrd.With([]initramfs.File{file})
	const asInit = "rdinit=/bin/sh -- /task"
	spec.Append += " " + asInit
	r.serial = slices.Clone(r.serial)
	slices.Reverse(r.serial) // standard output is the console
	path, args, err := b.qemuArgsOf(r, spec, strings.ReplaceAll(t.name, " ", "-"))
	if err != nil {
		return nil, nil, err
	}
	initrd := args[slices.Index(args, "-initrd")+1]
	var same agreement
	ours = func() (usage, error) {
		var out bytes.Buffer
		u, err := b.run(&out, io.Discard, []int{0}, "boot", "--no-snapshot", "--initrd", initrd, "--append", asInit, r.image)
		return u, cmp.Or(err, same.check(out.String()))
	}
	theirs = func() (usage, error) {
		var out bytes.Buffer
		u, err := b.toEnd("", &out, path, args)
		return u, cmp.Or(err, same.check(out.String()))
	}
	return ours, theirs, nil
}

// cameOf begins the line in which a guest says what has come of its task.
const cameOf = "came of it: "

// An agreement is what has come of a task, which has to be the same in every run.
type agreement struct{ result string }

func (a *agreement) check(console string) error {
	_, result, ok := strings.Cut(console, cameOf)
	result, _, whole := strings.Cut(result, "\n")
	result = strings.TrimSpace(result)
	switch {
	case !ok || !whole || result == "":
		return fmt.Errorf("the guest did not do its task: its last line is %q", lastLine(console))
	case a.result != "" && a.result != result:
		return fmt.Errorf("%q came of a task, and %q before", result, a.result)
	}
	a.result = result
	return nil
}

// toEnd runs an emulator to its end, with some input and its output to w.
func (b *bench) toEnd(input string, w io.Writer, path string, args []string) (usage, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(input)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(w, &said), &said
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w: %s", path, err, lastLine(said.String()))
	}
	return usageOf(cmd), nil
}

// compareTasks makes rows of what was used, by turns by trapline and by the other: first
// for the boot, then for boot and task.
func compareTasks(r reference, us [][]usage) []row {
	bootA, bootB := cpuOf(us[0]), cpuOf(us[1])
	rows := []row{{Name: r.image + ", " + nothing.name, A: bootA, B: bootB, Unit: "s", Result: pairwise(bootA, bootB, ratio)}}
	for i, t := range tasks {
		a := pairwise(cpuOf(us[2*i+2]), bootA, beyond)
		b := pairwise(cpuOf(us[2*i+3]), bootB, beyond)
		rows = append(rows, row{Name: r.image + ", " + t.name, A: a, B: b, Unit: "s", Result: pairwise(a, b, ratio)})
	}
	mean := make(series, len(bootA))
	for i := range mean {
		var logs float64
		for _, r := range rows {
			logs += math.Log(r.Result[i])
		}
		mean[i] = math.Exp(logs / float64(len(rows)))
	}
	return append(rows, row{Name: r.image + ", geometric mean", A: mean, Result: mean, Aim: atMost(r.aim)})
}

// beyond is the cost of a task whose guest took a, when one that does nothing takes b. It
// is never less than a millisecond, so that noise makes no ratios without meaning.
func beyond(a, b float64) float64 { return max(a-b, 0.001) }
