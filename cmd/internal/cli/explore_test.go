package cli

import (
	"context"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		program string
		status  int
		said    string
		want    finding
		err     string
	}{
		{"boot", 0, "end=poweroff clock=7", finding{}, ""},
		{"boot", 3, "end=poweroff clock=7", finding{"command", "the command ended with status 3"}, ""},
		{"dtrace", 0, "dtrace: the command ended with status 3\nend=poweroff clock=7", finding{"command", "the command ended with status 3"}, ""},
		{"dtrace", 3, "end=stopped clock=7", finding{"exit", "exit(3)"}, ""},
		{"dtrace", 0, "end=stopped clock=7", finding{}, ""},
		{"boot", 124, "x\nend=limit clock=7", finding{"hang", "the guest does not come to its end"}, ""},
		{"boot", 125, "end=hang clock=7", finding{"hang", "the guest waits, and no interrupt can come"}, ""},
		{"boot", 127, "end=triple-fault clock=7", finding{"triple-fault", "the guest triple-faulted"}, ""},
		{"boot", 126, "[    0.010000] tiny: panic: no\nend=panic clock=7", finding{"panic", "tiny: panic: no"}, ""},
		{"boot", 126, "end=panic clock=7", finding{"panic", "the kernel panicked"}, ""},
		{"boot", 0, "[    1.000000] BUG: KCSAN: data-race in a / b\nend=poweroff clock=7", finding{"report", "BUG: KCSAN: data-race in a / b"}, ""},
		{"boot", 1, "trapline: no image x", finding{}, "explore: a run failed: no image x"},
		{"dtrace", 1, "dtrace: out of probes\nend=poweroff clock=7", finding{}, "explore: a run failed: dtrace: out of probes"},
	} {
		o, err := classify(tt.program, tt.status, strings.Split(tt.said, "\n"))
		if o.finding != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%q, status %d: %v, %v", tt.said, tt.status, o.finding, err)
		}
		if tt.err == "" && o.clock != 7 {
			t.Errorf("%q: clock %d", tt.said, o.clock)
		}
	}
}

func TestFindingLike(t *testing.T) {
	a := finding{"report", "WARNING: CPU: 1 PID: 20 at kernel/x.c:12 f+0x1c/0x40"}
	if b := (finding{"report", "WARNING: CPU: 3 PID: 21 at kernel/x.c:12 f+0x1c/0x40"}); !a.like(b) {
		t.Errorf("%v is not like %v", a, b)
	}
	if b := (finding{"panic", a.Text}); a.like(b) {
		t.Errorf("%v is like %v", a, b)
	}
}

// The first of the runs that are wanted is the best, in whatever order they end.
func TestSelection(t *testing.T) {
	s := selection{best: 4, ctx: map[int]context.CancelFunc{}}
	for want := range 3 {
		if _, i, ok := s.next(t.Context()); i != want || !ok {
			t.Fatalf("run %d, %t", i, ok)
		}
	}
	s.done(2, outcome{clock: 2}, nil, true)
	if _, i, ok := s.next(t.Context()); ok {
		t.Errorf("run %d is made after the best", i)
	}
	s.done(1, outcome{clock: 1}, nil, true)
	s.done(0, outcome{}, nil, false)
	if s.best != 1 || s.outcome.clock != 1 {
		t.Errorf("run %d: %v", s.best, s.outcome)
	}
}
