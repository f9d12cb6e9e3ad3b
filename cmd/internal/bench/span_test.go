package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestListener(t *testing.T) {
	const said = "log\nbegin a\r\nbegin of something else\nend of b\nend a\nbegin a\nend a\nbegin c\nend d"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(said), "bytes": iotest.OneByteReader(strings.NewReader(said))} {
		now := 0.0
		l := &listener{clock: func() (float64, error) { now++; return now * now, nil }, begun: spans{}, ended: spans{}}
		if _, err := io.Copy(l, r); err != nil {
			t.Fatal(err)
		}
		// Marks are 1 to 7; the last line is not whole.
		if want := (spans{"a": 36 - 25}); !maps.Equal(l.ended, want) {
			t.Errorf("%s: %v, want %v", name, l.ended, want)
		}
	}
	broken := errors.New("broken")
	l := &listener{clock: func() (float64, error) { return 0, broken }}
	if _, err := io.WriteString(l, "begin a\n"); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestCPUClock(t *testing.T) {
	before, err := cpuClock(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50_000_000 {
		_ = i
	}
	after, err := cpuClock(os.Getpid())
	if err != nil || after <= before || before <= 0 {
		t.Errorf("%v, then %v, %v", before, after, err)
	}
}

// The clock of a process goes on until it is waited for.
func TestListenTo(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", span("nothing", ":"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l := listenTo(cmd)
	if _, err := io.Copy(l, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	us := []usage{{spans: l.ended}}
	if len(l.ended) != 1 || spanOf(us, "nothing")[0] < 0 || l.begun["nothing"] <= 0 {
		t.Errorf("begun %v, ended %v", l.begun, l.ended)
	}
}

func TestRowsOfSpans(t *testing.T) {
	w := ways("8")[1:2]
	ours := []usage{{spans: spans{hit: 1e-7}}}
	theirs := []usage{{spans: spans{"reads": 2, w[0].span: 2 + readCount*2e-6, "forks": 2, "probed forks": 20}}}
	r := hitsOfVFSRead(w, ours, theirs)[0]
	if number(r.A[0]) != "100" || number(r.B[0]) != "2000" || number(r.Result[0]) != "0.050" {
		t.Errorf("%+v", r)
	}
	rows := ofProcesses(7, theirs, []usage{{spans: spans{traced: 1}}}, []usage{{spans: spans{traced: 2}}})
	if !slices.Equal(rows[0].Result, series{0.1}) || !slices.Equal(rows[1].Result, series{0.2}) {
		t.Errorf("%+v", rows)
	}
}
