package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

const debian = "debian/amd64"

// statusLimit is trapline's exit status when --until ends the run.
const statusLimit = 124

// bootToInit compares two emulators over the same kernel, initrd and command line, from
// the start of the process until our init is ready. trapline is stopped there by its
// clock, which is the same in every run; QEMU is killed when init says so.
func bootToInit(b *bench) ([]row, error) {
	var rows []row
	var errs []error
	for _, r := range references {
		more, err := b.compareBoots(r)
		rows, errs = append(rows, more...), append(errs, err)
	}
	return rows, errors.Join(errs...)
}

func (b *bench) compareBoots(r reference) ([]row, error) {
	ready, err := b.readyAt(r.image)
	if err != nil {
		return nil, err
	}
	until := []string{"boot", "-q", "--until", strconv.FormatFloat(float64(ready)/1e9, 'f', 9, 64), r.image}
	again := func() (usage, error) { return b.run(nil, io.Discard, []int{statusLimit}, until...) }
	ours := func() (usage, error) {
		return b.run(nil, io.Discard, []int{statusLimit}, append(until, "--no-snapshot")...)
	}
	theirs, err := b.untilReady(r)
	if errors.Is(err, exec.ErrNotFound) {
		us, err := rounds(b.count(7), ours)
		if err != nil {
			return nil, err
		}
		return []row{{Name: r.image + ", CPU time", A: cpuOf(us[0]), Unit: "s", Note: r.missing() + ": nothing to compare with"}}, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := again(); err != nil { // leaves its translations
		return nil, err
	}
	us, err := rounds(b.count(7), ours, theirs, again)
	if err != nil {
		return nil, err
	}
	cpu := [3]series{cpuOf(us[0]), cpuOf(us[1]), cpuOf(us[2])}
	rss := [2]series{rssOf(us[0]), rssOf(us[1])}
	return []row{
		{Name: r.image + ", CPU time", A: cpu[0], B: cpu[1], Unit: "s", Result: pairwise(cpu[0], cpu[1], ratio), Aim: atMost(r.aim)},
		{Name: r.image + ", kept translations", A: cpu[2], B: cpu[1], Unit: "s", Result: pairwise(cpu[2], cpu[1], ratio)},
		{Name: r.image + ", peak memory", A: rss[0], B: rss[1], Unit: "MB", Result: pairwise(rss[0], rss[1], ratio)},
	}, nil
}

// readyAt is the virtual time, in nanoseconds, at which an image's init is ready.
func (b *bench) readyAt(image string) (uint64, error) {
	out, err := b.output("dtrace", "-q", "-k", image, "-c", "true", "-n", `BEGIN { printf("%d", timestamp); exit(0); }`)
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseUint(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("finding the end of the boot: %w", err)
	}
	return at, nil
}
