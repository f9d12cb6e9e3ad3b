package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"trapline/kernel/guestos"
)

// A finding is what is wrong with a run: nothing if it is zero.
type finding struct {
	Kind string `json:"kind"` // exit, command, panic, report, hang, triple-fault
	Text string `json:"text"` // in words
}

// numbers differ from one order to the next.
var numbersIn = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// like reports whether two findings are the same, but for numbers.
func (f finding) like(g finding) bool {
	return f.Kind == g.Kind && numbersIn.ReplaceAllString(f.Text, "N") == numbersIn.ReplaceAllString(g.Text, "N")
}

// An outcome is what has come of a run.
type outcome struct {
	finding
	clock    uint64 // the guest's time at the end
	schedule string
}

// program is what each run is one of.
func (x *exploring) program() string {
	if len(x.t.sources) == 0 {
		return "boot"
	}
	return "dtrace"
}

// run runs the guest in a process of its own.
func (x *exploring) run(ctx context.Context, schedule []string) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, fmt.Errorf("running the guest: %w", err)
	}
	args := append([]string{os.Args[0], x.program()}, x.given...)
	args = append(args, "--stats", "--console")
	if x.program() == "boot" {
		args = append(args, "-q")
	}
	args = append(args, schedule...)
	if x.t.guest.until > 0 {
		args = append(args, "--until", x.t.guest.until.String())
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = args
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	var ended *exec.ExitError
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err != nil && !errors.As(err, &ended) {
		return outcome{}, fmt.Errorf("running the guest: %w", err)
	}
	return classify(x.program(), cmd.ProcessState.ExitCode(), strings.Split(strings.TrimSpace(said.String()), "\n"))
}

// commandEnded is what dtrace says of a command that failed.
const commandEnded = "dtrace: the command ended with status "

// classify returns what a run's status and messages, the console among them, amount to.
func classify(program string, status int, said []string) (o outcome, err error) {
	last := said[len(said)-1]
	if !strings.HasPrefix(last, "end=") {
		return o, fmt.Errorf("explore: a run failed: %s", strings.TrimPrefix(last, "trapline: "))
	}
	stats := map[string]string{}
	for _, word := range strings.Fields(last) {
		name, value, _ := strings.Cut(word, "=")
		stats[name] = value
	}
	o.clock, _ = strconv.ParseUint(stats["clock"], 10, 64)
	o.schedule = stats["schedule"]
	o.finding = findingOf(program, status, ending(stats["end"]), said[:len(said)-1])
	if o.finding == (finding{}) && status != 0 {
		return o, fmt.Errorf("explore: a run failed: %s", strings.TrimPrefix(said[max(len(said)-2, 0)], "trapline: "))
	}
	return o, nil
}

func findingOf(program string, status int, end ending, said []string) finding {
	for _, line := range said {
		if text := guestos.Report(line); text != "" {
			if end == endPanic {
				return finding{"panic", text}
			}
			return finding{"report", text}
		}
	}
	switch {
	case end == endPanic:
		return finding{"panic", "the kernel panicked"}
	case end == endTriple:
		return finding{"triple-fault", "the guest triple-faulted"}
	case end == endHang:
		return finding{"hang", "the guest waits, and no interrupt can come"}
	case end == endLimit && status == statusLimit:
		return finding{"hang", "the guest does not come to its end"}
	case end == endStopped && status != 0:
		return finding{"exit", fmt.Sprintf("exit(%d)", status)}
	case program == "boot" && end == endPowerOff && status != 0:
		return finding{"command", fmt.Sprintf("the command ended with status %d", status)}
	}
	for _, line := range said {
		if n, ok := strings.CutPrefix(line, commandEnded); ok {
			return finding{"command", "the command ended with status " + n}
		}
	}
	return finding{}
}

// first makes n runs side by side, and returns the first of them, in their order, that is
// wanted, -1 for none. It does not depend on how many are made at a time.
func (x *exploring) first(n int, schedule func(int) []string, want func(outcome) bool) (int, outcome, error) {
	s := selection{best: n, ctx: map[int]context.CancelFunc{}}
	var all sync.WaitGroup
	for range min(x.jobs, n) {
		all.Go(func() {
			for {
				ctx, i, ok := s.next(x.ctx)
				if !ok {
					return
				}
				o, err := x.run(ctx, schedule(i))
				s.done(i, o, err, err != nil || want(o))
			}
		})
	}
	all.Wait()
	if s.best == n {
		return -1, outcome{}, x.ctx.Err()
	}
	return s.best, s.outcome, s.err
}

// A selection keeps the first of the runs that is wanted, or fails.
type selection struct {
	mu      sync.Mutex
	begun   int // runs
	best    int
	outcome outcome
	err     error
	ctx     map[int]context.CancelFunc // of those that are under way
}

// next is the next run to make, if there is one before the best.
func (s *selection) next(parent context.Context) (ctx context.Context, i int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun >= s.best || parent.Err() != nil {
		return nil, 0, false
	}
	i = s.begun
	s.begun++
	ctx, s.ctx[i] = context.WithCancel(parent)
	return ctx, i, true
}

// done takes what has come of a run. The later ones do not matter if it is the best.
func (s *selection) done(i int, o outcome, err error, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx[i]()
	delete(s.ctx, i)
	if !wanted || i >= s.best {
		return
	}
	s.best, s.outcome, s.err = i, o, err
	for j, cancel := range s.ctx {
		if j > i {
			cancel()
		}
	}
}
