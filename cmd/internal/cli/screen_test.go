package cli

import (
	"strings"
	"testing"
	"time"
)

// A line of the screen's own goes before anything else is written, and does not come while
// another line is open, or too soon.
func TestScreen(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out}
	m := &messages{&out, s}
	var stdout strings.Builder
	o := &sink{Writer: &stdout, screen: s}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.show("1") }, eraseLine + "1"},
		{func() { s.show("2") }, eraseLine + "2"},
		{func() { m.Write([]byte("message\n")) }, eraseLine + "message\n"},
		{func() { m.Write([]byte("more\n")) }, "more\n"},
		{func() { s.show("3") }, eraseLine + "3"},
		{func() { o.Write([]byte("half")) }, eraseLine},
		{func() { s.show("4") }, ""},
		{func() { o.Write(nil) }, ""},
		{func() { o.Write([]byte(" a line\n")) }, ""},
		{func() { s.show("5") }, eraseLine + "5"},
		{func() { s.busy(func() string { return "" })() }, eraseLine},
		{func() { s.patience = time.Hour; s.show("6") }, ""},
		{func() { s.width = func() int { return 5 }; s.patience = 0; s.show("7890") }, eraseLine + "7890"},
		{func() { s.show("78901") }, eraseLine + "7890"},
		{func() { s.width = func() int { return 0 }; s.show("78901"); s.patience = time.Hour }, eraseLine + "78901"},
		{func() { s.quiet = time.Now().Add(-2 * time.Hour); s.show("7") }, eraseLine + "7"},
	} {
		out.Reset()
		if step.do(); out.String() != step.want {
			t.Errorf("%q, want %q", out.String(), step.want)
		}
	}
	if stdout.String() != "half a line\n" {
		t.Errorf("%q", stdout.String())
	}
}

// Without a terminal there is no screen.
func TestNoScreen(t *testing.T) {
	var out strings.Builder
	var s *screen
	s.wrote([]byte("x"))
	s.busy(func() string { return "x" })()
	if (&sink{Writer: &out}).Write([]byte("y")); out.String() != "y" {
		t.Errorf("%q", out.String())
	}
}
