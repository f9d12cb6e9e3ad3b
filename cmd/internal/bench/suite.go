package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// suiteRuns is how many scripts a suite has, one trace each.
const suiteRuns = 200

// What the scripts of a suite are made of. Every function is in every kernel.
var (
	suiteImages    = []string{debian, "debian/arm64", "linux/riscv64"}
	suiteFunctions = []string{"vfs_read", "vfs_open", "vfs_write", "handle_mm_fault", "kernel_clone", "schedule"}
	suitePrograms  = []string{
		"kinst::%s:0 { @[execname] = count(); }",
		"kinst::%s: { @[probename] = count(); }",
		"fbt::%s:entry { self->t = timestamp; } fbt::%[1]s:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }",
		"fbt::%s:entry { @[stack(4)] = count(); }",
	}
	suiteCommands = []string{"ls /", "true", "echo a b | wc"}
)

// ofSuite measures a suite of test scripts, as CI runs it: from warm snapshots, as many scripts
// at a time as there are CPUs. The aims are for two.
func ofSuite(b *bench) ([]row, error) {
	dir := filepath.Join(b.dir, "suite")
	if err := writeSuite(dir); err != nil {
		return nil, err
	}
	// The first run makes the snapshots and what the others compare with.
	if _, err := b.output("script", "-u", dir); err != nil {
		return nil, err
	}
	var elapsed series
	us, err := rounds(b.count(1), func() (usage, error) {
		start := time.Now()
		u, err := b.quiet("script", dir)()
		elapsed = append(elapsed, time.Since(start).Seconds())
		return u, err
	})
	if err != nil {
		return nil, err
	}
	cpu := cpuOf(us[0])
	return []row{
		{Name: "CPU time", A: cpu, Unit: "s", Result: cpu, Of: "s", Aim: atMost(120)},
		{Name: "from start to end", A: elapsed, Unit: "s", Result: elapsed, Of: "s", Aim: atMost(60)},
	}, nil
}

// writeSuite writes the scripts, which compare with nothing yet.
func writeSuite(dir string) error {
	for i := range suiteRuns {
		name, text := suiteScript(i)
		path := filepath.Join(dir, name+".txtar")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// suiteScript is script i: no two are alike.
func suiteScript(i int) (name, text string) {
	rest := i
	pick := func(of []string) string {
		s := of[rest%len(of)]
		rest /= len(of)
		return s
	}
	image, function, program, command := pick(suiteImages), pick(suiteFunctions), pick(suitePrograms), pick(suiteCommands)
	program = fmt.Sprintf(program, function)
	text = fmt.Sprintf("# %s in %s\nexec trapline dtrace -q -k %s -c '%s' -n '%s'\ncmp stdout want\n\n-- want --\n",
		function, image, image, command, program)
	return fmt.Sprintf("%s/%s_%03d", image, function, i), text
}
