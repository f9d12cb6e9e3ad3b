// Command bench measures what trapline costs, and prints ratios.
//
//	comparison --wants--> commands --rounds--> usages --pair by pair--> row of the report
//	(boot.go, fire.go ...)  (run.go)  A B A B                (stat.go)     (report.go)
//
// Everything is measured from outside, as a user pays for it: whole processes, CPU time
// (user and system) and peak memory as the kernel accounts for them at their end. Things
// to compare run in turn, A B A B, and are compared pair by pair, so that a slow minute
// of the host hits both. A guest's course is the same in every run, so numbers such as
// the hits of a probe are counted once. Where what comes before the guest's work would take
// most of the time, the guest says where it begins and ends (span.go).
//
//	go run ./cmd/internal/bench [-runs N] [-only boot,fire,...] [-json | -bench] [-baseline FILE [-update]]
//
// Each result is a median with its 95 % confidence interval (benchmath), which takes 6 rounds or more.
//
// With -bench the rows are in the format of Go's benchmarks, for benchstat. With -baseline
// ratios that are more than a tenth worse than those in the file are an error, unless the interval
// still contains the old ratio.
//
// Aims are printed beside the ratios; one that is missed is said to be missed, and is no
// error. The exit status is 1 if something could not be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// A comparison is one section of the report.
type comparison struct {
	name  string
	short string
	run   func(*bench) ([]row, error)
}

// comparisons in the order of the report.
func comparisons() []comparison {
	return []comparison{
		{"boot", "from the first instruction until init waits; A: trapline, B: QEMU", bootToInit},
		{"restore", "from a snapshot to where init waits; A: trapline traces nothing, B: QEMU -loadvm", restoring},
		{"clock", "a round of a loop in the guest; A: with the guest's clock, B: without", keepingTime},
		{"workload", "CPU time of a boot, and of what the guest runs beyond it; A: trapline, B: QEMU", everyTask},
		{"functions", "boot of debian/amd64 with every function's entry counted by its name; A: with the probes, B: without", everyFunction},
		{"everything", "boot with every instruction counted, from the first on; A: with the probes, B: without", everyInstruction},
		{"inguest", "what one hit of a counting probe costs; A: trapline, all over vfs_read, B: kprobe events in the same kernel under QEMU", inGuest},
		{"bpftrace", "what one hit of a counting probe costs; A: trapline, all over vfs_read, B: bpftrace in the same kernel under QEMU", underBPF},
		{"fire", "what one hit of a kinst probe with { @ = count(); } costs; A: with the probe, B: without", firing},
		{"engines", "what one hit costs; A: by a breakpoint, B: by the emulator's own code hook (-x engine=hook)", engines},
		{"clause", "what one hit costs with other clauses (tiny/amd64); A: with the probe, B: without", clauses},
		{"lines", "a trace of 2 million lines to a file (tiny/amd64); A: hits told later, B: each at once (-x defer=off)", writing},
		{"idle", "boot of debian/amd64 with 1,000 probes that are never hit; A: with them, B: without", neverHit},
		{"suite", fmt.Sprintf("%d test scripts on three architectures, from warm snapshots", suiteRuns), ofSuite},
		{"memory", "tracing debian/amd64; A: dtrace, B: boot of the same guest", memory},
	}
}

// bench is what a comparison is run with.
type bench struct {
	ctx      context.Context
	trapline string // path of the program
	runs     int    // 0: what the comparison thinks right
	dir      string // for files of ours
	log      io.Writer
}

// count is the number of rounds: the user's, or n.
func (b *bench) count(n int) int {
	if b.runs > 0 {
		return b.runs
	}
	return n
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := benchmark(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func benchmark(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	b := &bench{ctx: ctx, log: stderr}
	f.IntVar(&b.runs, "runs", 0, "rounds of each comparison (default 7, idle and restore: 11)")
	f.StringVar(&b.trapline, "trapline", "bin/trapline", "the program to measure")
	only := f.String("only", "", "comparisons to run, by `NAMES` with commas between (default all)")
	asJSON := f.Bool("json", false, "one JSON object for each row")
	asBench := f.Bool("bench", false, "rows as lines of Go's benchmarks, one for each round")
	base := f.String("baseline", "", "`FILE` of ratios to compare with")
	update := f.Bool("update", false, "write the ratios of these comparisons to that file instead")
	f.Parse(args)
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if _, err := os.Stat(b.trapline); err != nil {
		return fmt.Errorf("%w: 'make build' builds it", err)
	}
	if b.dir, err = os.MkdirTemp("", "trapline-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	var w report = &table{w: stdout}
	switch {
	case *asJSON:
		w = &lines{w: stdout}
	case *asBench:
		w = &benchmarks{w: stdout}
	}
	now := figures{}
	if err := b.all(chosen, w, now); err != nil || *base == "" {
		return err
	}
	before, err := readBaseline(*base)
	if *update && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return before.update(now, chosen).write(*base)
	}
	if err != nil {
		return fmt.Errorf("the ratios to compare with: %w", err)
	}
	return before.compare(now, chosen)
}

// choose picks comparisons by name; all for none.
func choose(only string) ([]comparison, error) {
	all := comparisons()
	if only == "" {
		return all, nil
	}
	var chosen []comparison
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(c comparison) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no comparison %q: there are %s", name, names(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func names(all []comparison) string {
	var s []string
	for _, c := range all {
		s = append(s, c.name)
	}
	return strings.Join(s, ", ")
}

// all runs comparisons and collects ratios. One that fails does not keep the others from
// running.
func (b *bench) all(chosen []comparison, w report, ratios figures) error {
	failed := 0
	for _, c := range chosen {
		fmt.Fprintf(b.log, "bench: %s\n", c.name)
		rows, err := c.run(b)
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if err != nil {
			failed++
			fmt.Fprintf(b.log, "bench: %s: %v\n", c.name, err)
		}
		ratios.collect(c, rows)
		if err := w.section(c, rows); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d comparisons could not be run", failed, len(chosen))
	}
	return nil
}
