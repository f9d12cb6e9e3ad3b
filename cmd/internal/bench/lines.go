package main

import (
	"os"
	"path/filepath"
)

// A line of three numbers for each system call of the guest.
const (
	threeNumbers = `kinst::sys_getpid:0 { printf("%d %d %d\n", pid, arg0, timestamp); }`
	manyLines    = 2000000 // of manyCalls
)

// writing measures whole runs of a trace that prints much, of hits that are deferred and of
// hits that are not.
func writing(b *bench) ([]row, error) {
	file := filepath.Join(b.dir, "lines")
	defer os.Remove(file)
	write := func(how string) command {
		run := b.quiet("dtrace", "-q", "-x", "defer="+how, "-k", tinyCalls[0].image, "-c", manyCalls, "-o", file, "-n", threeNumbers)
		return func() (usage, error) {
			os.Remove(file) // -o appends
			return run()
		}
	}
	us, err := rounds(b.count(7), write("on"), write("off"))
	if err != nil {
		return nil, err
	}
	later, once := cpuOf(us[0]), cpuOf(us[1])
	return []row{
		{Name: "printf of three numbers", A: later, B: once, Unit: "s", Result: pairwise(later, make(series, len(later)), rate(manyLines)), Of: "Mlines/s", Aim: atLeast(1)},
		{Name: "of the time of hits told at once", A: later, B: once, Unit: "s", Result: pairwise(later, once, ratio)},
	}, nil
}
