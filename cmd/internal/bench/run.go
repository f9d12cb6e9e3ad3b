package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what a process has used up.
type usage struct {
	cpu   float64 // seconds, user and system
	rss   float64 // MB at its peak. At least what this program itself has: a child begins as a copy.
	spans spans   // of its guest, if that tells any
}

// A command is a process to measure. It returns what it wrote besides.
type command func() (usage, error)

// longest is more than any process here should take.
const longest = 10 * time.Minute

// usageOf is what an ended process has used (getrusage(2), filled in by wait4).
func usageOf(cmd *exec.Cmd) usage {
	state := cmd.ProcessState
	u := usage{cpu: (state.UserTime() + state.SystemTime()).Seconds()}
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.rss = float64(r.Maxrss) * 1024 / 1e6
	}
	return u
}

// run runs trapline to its end, with one of these exit statuses.
func (b *bench) run(stdout, stderr io.Writer, statuses []int, args ...string) (usage, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, b.trapline, args...)
	cmd.Stdout, cmd.Stderr = stdout, io.MultiWriter(&said, stderr)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return usage{}, err
	}
	if code := cmd.ProcessState.ExitCode(); !slices.Contains(statuses, code) {
		return usage{}, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, lastLine(said.String()))
	}
	return usageOf(cmd), nil
}

func lastLine(s string) string {
	all := strings.Split(strings.TrimSpace(s), "\n")
	return all[len(all)-1]
}

// quiet is a command whose output goes nowhere.
func (b *bench) quiet(args ...string) command {
	return func() (usage, error) { return b.run(nil, io.Discard, []int{0}, args...) }
}

// output runs trapline and returns its standard output.
func (b *bench) output(args ...string) (string, error) {
	var out bytes.Buffer
	_, err := b.run(&out, io.Discard, []int{0}, args...)
	return out.String(), err
}

// figures runs trapline with --stats and returns the line.
func (b *bench) figures(args ...string) (stats, error) {
	var st stats
	_, err := b.keeping(&st, append([]string{args[0], "--stats"}, args[1:]...)...)()
	return st, err
}

// keeping is a command whose figures, of --stats, go to st.
func (b *bench) keeping(st *stats, args ...string) command {
	return func() (usage, error) {
		var said bytes.Buffer
		u, err := b.run(nil, &said, []int{0}, args...)
		if err != nil {
			return u, err
		}
		*st, err = parseStats(said.String())
		return u, err
	}
}

// rounds measures commands in turn, n times. The result is by command, then by round.
func rounds(n int, commands ...command) ([][]usage, error) {
	out := make([][]usage, len(commands))
	for range n {
		for i, c := range commands {
			u, err := c()
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], u)
		}
	}
	return out, nil
}

// extra is what commands take beyond the first of them, in seconds, by command: the difference of
// the least that either took in short runs in turn. It is small, and a busy host only adds. of is
// what to compare of runs, cpuOf for instance.
func extra(of func([]usage) series, first command, others ...command) (series, error) {
	const turns = 7
	us, err := rounds(turns, append([]command{first}, others...)...)
	if err != nil {
		return nil, err
	}
	var s series
	for _, other := range us[1:] {
		s = append(s, slices.Min(of(other))-slices.Min(of(us[0])))
	}
	return s, nil
}

func cpuOf(us []usage) series {
	var s series
	for _, u := range us {
		s = append(s, u.cpu)
	}
	return s
}

func rssOf(us []usage) series {
	var s series
	for _, u := range us {
		s = append(s, u.rss)
	}
	return s
}

// stats is what is wanted of the line of --stats.
type stats struct {
	end   string
	clock uint64 // virtual nanoseconds
	hits  uint64
	state string // a hash of memory, CPU and devices
}

// parseStats finds the line of --stats in what a command wrote to stderr.
func parseStats(text string) (stats, error) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "end=") {
			return parseStatsLine(strings.TrimSpace(line))
		}
	}
	return stats{}, fmt.Errorf("no line of figures in %q", text)
}

func parseStatsLine(line string) (stats, error) {
	words := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		words[key] = value
	}
	clock, err := strconv.ParseUint(words["clock"], 10, 64)
	if err != nil {
		return stats{}, fmt.Errorf("figures %q: clock: %w", line, err)
	}
	hits, err := strconv.ParseUint(words["hits"], 10, 64)
	if err != nil {
		return stats{}, fmt.Errorf("figures %q: hits: %w", line, err)
	}
	return stats{end: words["end"], clock: clock, hits: hits, state: words["state"]}, nil
}
