package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// Spans are seconds of CPU time that an emulator has used from where its guest said, in a line
// of output, "begin NAME", until it said "end NAME"; by name. What it took to come there, such
// as a boot, is not in them.
type spans map[string]float64

// A listener takes a guest's output and measures the spans in it.
type listener struct {
	clock func() (float64, error) // CPU time of the emulator until now, in seconds
	line  []byte                  // what has come of one
	begun spans
	ended spans
}

// listenTo makes a listener for a process that has been started. It must not be waited for before
// all of its output is written to the listener: then its clock is gone.
func listenTo(cmd *exec.Cmd) *listener {
	return &listener{clock: func() (float64, error) { return cpuClock(cmd.Process.Pid) }, begun: spans{}, ended: spans{}}
}

func (l *listener) Write(p []byte) (int, error) {
	for _, c := range p {
		if c != '\n' {
			l.line = append(l.line, c)
			continue
		}
		verb, name, _ := strings.Cut(string(bytes.TrimSpace(l.line)), " ")
		if err := l.mark(verb, name); err != nil {
			return 0, err
		}
		l.line = l.line[:0]
	}
	return len(p), nil
}

func (l *listener) mark(verb, name string) error {
	if verb != "begin" && verb != "end" {
		return nil
	}
	now, err := l.clock()
	if err != nil {
		return fmt.Errorf("reading the CPU time of an emulator: %w", err)
	}
	if verb == "begin" {
		l.begun[name] = now
	} else if start, ok := l.begun[name]; ok {
		l.ended[name] = now - start
	}
	return nil
}

// cpuClock is the CPU time of a process that is not waited for yet, in seconds: user and system,
// of all its threads (clock_getcpuclockid(3)).
func cpuClock(pid int) (float64, error) {
	const scheduled = 2 // Linux's CPUCLOCK_SCHED: in nanoseconds, not in ticks
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, err
	}
	return float64(ts.Nano()) / 1e9, nil
}

// span is a shell line that says where a command begins and ends.
func span(name, command string) string {
	return fmt.Sprintf("echo begin %s; %s; echo end %[1]s", name, command)
}

// spanOf is one span of each round.
func spanOf(us []usage, name string) series {
	var s series
	for _, u := range us {
		s = append(s, u.spans[name])
	}
	return s
}

// traced is the span of what debian/amd64 does while it is traced, from a snapshot.
const traced = "traced"

// tracing traces debian/amd64 while it does some work, which is the span traced.
func (b *bench) tracing(work string, program ...string) command {
	args := append([]string{"dtrace", "-q", "-k", debian, "-c", span(traced, work)}, program...)
	return func() (usage, error) {
		ctx, cancel := context.WithTimeout(b.ctx, longest)
		defer cancel()
		cmd := exec.CommandContext(ctx, b.trapline, args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		if err != nil {
			return usage{}, err
		}
		if err := cmd.Start(); err != nil {
			return usage{}, err
		}
		l := listenTo(cmd)
		_, heard := io.Copy(l, out)
		if heard != nil {
			cancel()
		}
		if err := cmp.Or(heard, cmd.Wait()); err != nil {
			return usage{}, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, lastLine(said.String()))
		}
		u := usageOf(cmd)
		u.spans = l.ended
		return u, nil
	}
}
