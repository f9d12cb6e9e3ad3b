package cli

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"trapline/kernel"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]uint64{
		"64": 64 << 20, "64M": 64 << 20, "65536k": 64 << 20, "2G": 2 << 30, "1g": 1 << 30, "16384K": 16 << 20,
	} {
		var s size
		if err := s.Set(text); err != nil || uint64(s) != want {
			t.Errorf("%q: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "K", "1KK", "1.5G", "-1", "+1", "0", "1 M", "4294967296"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, s)
		}
	}
}

func TestSeconds(t *testing.T) {
	var s seconds
	if err := s.Set("1.5"); err != nil || s.nanoseconds() != 15e8 || s.duration() != 1500*time.Millisecond || s.String() != "1.5" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestConsoleLog(t *testing.T) {
	var out bytes.Buffer
	var lines []string
	l := consoleLog{out: &out, line: func(s string) { lines = append(lines, s) }}
	text := "one\r\n\ntwo\rthree" + strings.Repeat("x", longestLine)
	for _, b := range []byte(text) {
		if !l.byte(b) {
			t.Fatal(l.err)
		}
	}
	l.flush()
	l.flush()
	if got := strings.ReplaceAll(text, "\r", ""); out.String() != got {
		t.Errorf("passed on %q", out.String())
	}
	if len(lines) != 4 || lines[0] != "one" || lines[1] != "" || len(lines[2]) != longestLine || lines[3] != strings.Repeat("x", 8) {
		t.Errorf("lines %.50q", lines)
	}
	bad := consoleLog{out: &fullDisk{}, line: func(s string) { lines = append(lines, s) }}
	if !bad.byte('a') || bad.byte('\n') || bad.byte('b') || bad.err == nil || lines[len(lines)-1] != "a" {
		t.Errorf("a full disk: %v, %q", bad.err, lines)
	}
}

func TestFinish(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		stderr string
	}{
		{nil, 0, "stats\n"},
		{errors.New("broken"), 1, "trapline: broken\nstats\n"},
		{usagef("wrong"), 2, "trapline: wrong\nstats\n"},
		{&exit{status: 7}, 7, "stats\n"},
		{fmt.Errorf("a: %w", &exit{statusHang, errors.New("hang")}), 125, "trapline: hang\nstats\n"},
	} {
		var w bytes.Buffer
		e := &env{stderr: &w, last: "stats\n"}
		if status := e.finish(tt.err); status != tt.status || w.String() != tt.stderr {
			t.Errorf("%v: status %d, stderr %q", tt.err, status, w.String())
		}
	}
}

func TestJoin(t *testing.T) {
	if join("", "") != "" || join("a", "") != "a" || join("", "b") != "b" || join("a", "b") != "a b" {
		t.Error("words of the command line")
	}
}

// Nothing but a terminal gets progress.
func TestNoTerminal(t *testing.T) {
	var w bytes.Buffer
	e := &env{stderr: &w}
	p := e.progress()
	p.Start("x", 1)
	p.Add(1)
	p.Done()
	if terminal(&w) || w.Len() > 0 {
		t.Errorf("%q", w.String())
	}
}

// The rows of --all are all sized functions from end to end, in order of address.
func TestDisasRows(t *testing.T) {
	hermetic(t)
	img := openTiny(t)
	got := run("disas", "--all", "--format", "tsv")
	if got.status != 0 || got.stderr != "" {
		t.Fatal(got.status, got.stderr)
	}
	rows, addr, next := map[string]int{}, uint64(0), 0
	for line := range strings.Lines(got.stdout) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var at uint64
		var off, n int
		if _, err := fmt.Sscanf(f[1]+" "+f[2]+" "+f[3], "%x %d %d", &at, &off, &n); err != nil || len(f) != 5 {
			t.Fatalf("row %q: %v", line, err)
		}
		if at < addr || at == addr && off != next || at > addr && off != 0 {
			t.Fatalf("row %q after %x+%d", line, addr, next)
		}
		addr, next = at, off+n
		rows[f[0]] = next
	}
	for _, s := range img.Symtab().Funcs() {
		if n := rows[s.Name]; !s.Label && uint64(n) != s.Size {
			t.Errorf("%s: %d bytes of %d", s.Name, n, s.Size)
		}
	}
}

// Columns are straight within a function, however long its instructions are.
func TestDisasColumns(t *testing.T) {
	hermetic(t)
	got := run("disas", "awk_*")
	row := regexp.MustCompile(`^ +\d+  [0-9a-f]+ .*\S  +((copy|relocate|emulate|guest|refuse: .+)\n)$`)
	column, plans := 0, map[string]bool{}
	for line := range strings.Lines(got.stdout) {
		at := row.FindStringSubmatchIndex(line)
		switch {
		case at == nil:
			column = 0
		case column == 0:
			column = at[2]
		case column != at[2]:
			t.Errorf("column %d instead of %d: %q", at[2], column, line)
		}
		if at != nil {
			plans[strings.Fields(line[at[2]:])[0]] = true
		}
	}
	if got.status != 0 || !plans["copy"] || !plans["relocate"] || !plans["emulate"] || !plans["refuse:"] {
		t.Errorf("plans %v: %+v", plans, got.status)
	}
}

func openTiny(t *testing.T) *kernel.Image {
	k, err := (&guestOptions{image: defaultImage()}).openKernel(true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k.Image
}
