package main

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 3, 100}, 3.5},
	} {
		in := slices.Clone(tt.in)
		if got := median(in); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.in, got, tt.want)
		}
		if !slices.Equal(in, tt.in) {
			t.Errorf("median(%v) changed its argument to %v", tt.in, in)
		}
	}
}

// The interval of a median holds it with 95 % confidence; with too few values it is their range.
func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		in   series
		want string
	}{
		{nil, ""},
		{series{1, 2, 3, 4, 5}, "1.000..5.000?"},
		{series{6, 5, 4, 3, 2, 1}, "1.000..6.000"},
		{series{9, 8, 7, 6, 5, 4, 3, 2, 1}, "2.000..8.000"},
	} {
		if got := interval(tt.in); got != tt.want {
			t.Errorf("interval(%v) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPairwise(t *testing.T) {
	a, b := series{2, 3, 4}, series{1, 2, 8}
	if got := pairwise(a, b, ratio); !slices.Equal(got, series{2, 1.5, 0.5}) {
		t.Errorf("ratios %v", got)
	}
	if got := pairwise(a, b, perHit(1e6)); !slices.Equal(got, series{1000, 1000, -4000}) {
		t.Errorf("nanoseconds %v", got)
	}
	if got := pairwise(a, b, rate(2e6)); !slices.Equal(got, series{2, 2, 0}) {
		t.Errorf("million hits a second %v", got)
	}
}

func TestListen(t *testing.T) {
	for said, want := range map[string]error{
		"log\ninit: no control channel\n":   nil,
		"init: no init: no control channel": nil,
		"":                                  io.EOF,
		"init: no control":                  io.EOF,
		strings.Repeat("init: no ", 1000):   io.EOF,
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(said), "bytes": iotest.OneByteReader(strings.NewReader(said))} {
			if err := listen(r, noChannel); err != want {
				t.Errorf("%.40q, %s: %v, want %v", said, name, err, want)
			}
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		aim  *aim
		text string
		v    float64
		want string
	}{
		{nil, "", 1, ""},
		{atMost(1.04), "<= 1.040", 1.04, "met"},
		{atMost(1.04), "<= 1.040", 1.05, "MISSED"},
		{atLeast(3), ">= 3.000", 3, "met"},
		{atLeast(3), ">= 3.000", 2.9, "MISSED"},
	} {
		if got := tt.aim.verdict(tt.v); got != tt.want || tt.aim.String() != tt.text {
			t.Errorf("aim %q (want %q) of %v: %q, want %q", tt.aim, tt.text, tt.v, got, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0.000", 1.0006: "1.001", -3: "-3.000", 12.34: "12.3", 376.5: "376", -1234: "-1234"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

var sample = []row{
	{Name: "CPU time", A: series{2.2, 2.1, 2.3}, B: series{2, 3, 2}, Unit: "s", Result: series{1.1, 0.7, 1.15}, Aim: atMost(1)},
	{Name: "peak memory", A: series{165}, Unit: "MB", Note: "nothing to compare with"},
	{Name: "one hit", A: series{2}, B: series{1}, Unit: "s", Result: series{250}, Of: "ns"},
}

func TestTable(t *testing.T) {
	var out strings.Builder
	w := &table{w: &out}
	if err := w.section(comparison{name: "boot", short: "A: ours, B: theirs"}, sample); err != nil {
		t.Fatal(err)
	}
	if err := w.section(comparison{name: "none", short: "no figures"}, nil); err != nil {
		t.Fatal(err)
	}
	const want = `boot: A: ours, B: theirs
                                                    A            B       result  95 % interval      n  aim
  CPU time                                    2.200 s      2.000 s        1.100  0.700..1.150?      3  <= 1.000  MISSED
  peak memory                                  165 MB                                               1
  nothing to compare with
  one hit                                     2.000 s      1.000 s       250 ns  250..250?          1

none: no figures
                                                    A            B       result  95 % interval      n  aim
  could not be run
`
	if out.String() != want {
		t.Errorf("have\n%s\nwant\n%s", &out, want)
	}
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	if err := (&lines{w: &out}).section(comparison{name: "boot"}, sample[1:2]); err != nil {
		t.Fatal(err)
	}
	want := `{"comparison":"boot","name":"peak memory","a":[165],"unit":"MB","note":"nothing to compare with","median":0}` + "\n"
	if out.String() != want {
		t.Errorf("have %swant %s", &out, want)
	}
}

func TestParseStats(t *testing.T) {
	text := "300000+0 records in\nend=poweroff clock=2830802285 virtual=2.830802285 wall=3.044 hits=300007 state=sha256:ffe9\n"
	st, err := parseStats(text)
	if want := (stats{"poweroff", 2830802285, 300007, "sha256:ffe9"}); err != nil || st != want {
		t.Errorf("%+v, %v, want %+v", st, err, want)
	}
	for text, want := range map[string]string{
		"":                         "no line of figures",
		"end=poweroff hits=1":      "clock",
		"end=poweroff clock=1":     "hits",
		"end=x clock=-1 hits=1":    "clock",
		"trapline: bad end=1":      "no line of figures",
		"end=x clock=1 hits=1e3\n": "hits",
	} {
		if _, err := parseStats(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestParseDisas(t *testing.T) {
	const text = `syscall: 57 bytes at 0xffffffff80108290
     0  55                              push %rbp                                         copy
    27  770a                            ja 0xffffffff801082b7                             relocate
    29  ff14c580d71080                  callq *0x8010d780(,%rax,8)                        emulate
`
	want := []instruction{
		{"f:0", "push %rbp", "copy"},
		{"f:27", "ja 0xffffffff801082b7", "relocate"},
		{"f:29", "callq *0x8010d780(,%rax,8)", "emulate"},
	}
	if got := parseDisas("f", text); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseList(t *testing.T) {
	const text = `   ID   PROVIDER            MODULE                          FUNCTION NAME
    4      kinst           vmlinux                        startup_64 0
    5      kinst           vmlinux                              twin 0
    6      kinst           vmlinux                              cold 0
    7      kinst           vmlinux                              twin 0
`
	names := parseList(text)
	if want := []string{"startup_64", "cold"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	hot := firstWords("\n  startup_64      1\n")
	if got := without(names, hot); !slices.Equal(got, []string{"cold"}) {
		t.Errorf("cold functions %q", got)
	}
}

func TestSpread(t *testing.T) {
	names := strings.Fields("a b c d e f g h i j")
	if got := spreadOver(names, 4); !slices.Equal(got, []string{"a", "c", "f", "h"}) {
		t.Errorf("%q", got)
	}
	if got := spreadOver(names, 10); !slices.Equal(got, names) {
		t.Errorf("%q", got)
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != len(comparisons()) {
		t.Errorf("%d comparisons, %v", len(all), err)
	}
	some, err := choose("idle,boot")
	if err != nil || len(some) != 2 || some[0].name != "idle" || some[1].name != "boot" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose("boot,speed"); err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("error %v", err)
	}
}

func TestRounds(t *testing.T) {
	var order strings.Builder
	tick := func(name string, cpu float64) command {
		return func() (usage, error) {
			order.WriteString(name)
			return usage{cpu: cpu}, nil
		}
	}
	us, err := rounds(3, tick("a", 1), tick("b", 2))
	if err != nil || order.String() != "ababab" {
		t.Errorf("order %q, %v", &order, err)
	}
	if !slices.Equal(cpuOf(us[1]), series{2, 2, 2}) {
		t.Errorf("usages %v", us)
	}
	broken := errors.New("broken")
	if _, err := rounds(1, func() (usage, error) { return usage{}, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestExtra(t *testing.T) {
	takes := func(cpu ...float64) command {
		return func() (usage, error) {
			u := usage{cpu: cpu[0]}
			cpu = append(cpu[1:], cpu[0])
			return u, nil
		}
	}
	got, err := extra(cpuOf, takes(5, 1), takes(2, 7), takes(4))
	if err != nil || !slices.Equal(got, series{1, 3}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUsageOf(t *testing.T) {
	b := &bench{ctx: t.Context(), trapline: "/bin/sh"}
	u, err := b.run(nil, io.Discard, []int{3}, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3")
	if err != nil || u.cpu <= 0 || u.rss <= 0 {
		t.Errorf("usage %+v, %v", u, err)
	}
	_, err = b.run(nil, io.Discard, []int{0}, "-c", "echo first >&2; echo why >&2; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 3: why") {
		t.Errorf("error %v", err)
	}
}

func TestCompareTasks(t *testing.T) {
	used := func(cpu ...float64) (us []usage) {
		for _, c := range cpu {
			us = append(us, usage{cpu: c})
		}
		return us
	}
	us := [][]usage{used(1, 2), used(2, 2)}
	for range tasks {
		us = append(us, used(2, 4), used(4, 3)) // 1 and 2 beyond the boot; 2 and 1
	}
	rows := compareTasks(reference{image: "an image", aim: 1}, us)
	if len(rows) != len(tasks)+2 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []series{{0.5, 1}, {0.5, 2}} {
		if got := rows[i].Result; !slices.Equal(got, want) {
			t.Errorf("%s: ratios %v, want %v", rows[i].Name, got, want)
		}
	}
	last := rows[len(rows)-1].Result
	if want := math.Pow(2, float64(len(tasks))/float64(len(tasks)+1)); math.Abs(last[0]-0.5) > 1e-9 || math.Abs(last[1]-want) > 1e-9 {
		t.Errorf("geometric mean %v, want 0.5 and %v", last, want)
	}
}

func TestAgreement(t *testing.T) {
	var a agreement
	for _, tt := range []struct{ console, want string }{
		{"[ 0.1] log\r\ncame of it: 400\r\n[ 2.0] log\n", ""},
		{"came of it: 400\n", ""},
		{"came of it: 401\n", `"401" came of a task, and "400" before`},
		{"log\nsh: mkdir: no space\n", `the guest did not do its task: its last line is "sh: mkdir: no space"`},
		{"came of it: \nthe end\n", `the guest did not do its task: its last line is "the end"`},
		{"came of it: 40", `the guest did not do its task: its last line is "came of it: 40"`},
	} {
		got := ""
		if err := a.check(tt.console); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.console, got, tt.want)
		}
	}
}

func TestAddFlat(t *testing.T) {
	const out = `goos: linux
BenchmarkFlat/branch/clock-2 	20000000	 20.43 ns/op	 5.5 cpu-ns/op
BenchmarkFlat/branch/bare-2  	20000000	 12.31 ns/op	 5 cpu-ns/op
BenchmarkFlat/call/clock-2   	20000000	 40.30 ns/op	 12.72 cpu-ns/op
PASS
`
	var rows []row
	for range 2 {
		var err error
		if rows, err = addFlat(rows, out); err != nil {
			t.Fatal(err)
		}
	}
	if len(rows) != 2 || rows[0].Name != "branch" || !slices.Equal(rows[0].A, series{5.5, 5.5}) || !slices.Equal(rows[0].B, series{5, 5}) {
		t.Errorf("rows %+v", rows)
	}
}

func TestBaseline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ratios")
	chosen := []comparison{{name: "boot"}, {name: "idle"}}
	first := figures{"idle/all": {1, 1}}
	first.collect(chosen[0], []row{
		{Name: "cpu", Result: series{1, 3, 2}},
		{Name: "rate", Result: series{5}, Of: "Mhits/s"},
		{Name: "nothing"},
	})
	before := baseline{}.update(first, chosen)
	before["fire/other"] = 1
	if err := before.write(file); err != nil {
		t.Fatal(err)
	}
	read, err := readBaseline(file)
	if err != nil || !maps.Equal(read, baseline{"boot/cpu": 2, "idle/all": 1, "fire/other": 1}) {
		t.Fatalf("%v, %v", read, err)
	}
	for _, tt := range []struct {
		now  figures
		want string
	}{
		{figures{"boot/cpu": {2.19, 2.1}, "idle/all": {0.5, 0.5}, "boot/new": {9, 9}}, ""},
		{figures{"boot/cpu": {2.21, 2.01}, "idle/all": {1, 1}}, "boot/cpu: 2.210 (at least 2.010), it was 2.000"},
		{figures{"boot/cpu": {2.5, 1.99}, "idle/all": {1, 1}}, ""},
		{figures{"boot/cpu": {2, 2}}, "idle/all: it was 1.000 and was not measured now"},
	} {
		got := ""
		if err := read.compare(tt.now, chosen); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.now, got, tt.want)
		}
	}
	updated := read.update(figures{"boot/new": {3, 2}}, chosen[:1])
	if !maps.Equal(updated, baseline{"boot/new": 3, "idle/all": 1, "fire/other": 1}) {
		t.Errorf("updated: %v", updated)
	}
	if _, err := readBaseline(file + "not"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestBenchmarks(t *testing.T) {
	var out strings.Builder
	b := benchmarks{w: &out}
	rows := []row{{Name: "a row", Result: series{1.5, 2}}, {Name: "rate", Result: series{4}, Of: "Mhits/s"}}
	if err := b.section(comparison{name: "boot"}, rows); err != nil {
		t.Fatal(err)
	}
	if err := b.section(comparison{name: "idle"}, []row{{Name: "all", Result: series{1}}}); err != nil {
		t.Fatal(err)
	}
	want := "Unit ratio better=lower\nUnit Mhits/s better=higher\n" +
		"BenchmarkBoot/a_row\t1\t1.5 ratio\nBenchmarkBoot/a_row\t1\t2 ratio\nBenchmarkBoot/rate\t1\t4 Mhits/s\n" +
		"BenchmarkIdle/all\t1\t1 ratio\n"
	if out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// No two scripts of a suite do the same.
func TestSuite(t *testing.T) {
	names, texts := map[string]bool{}, map[string]bool{}
	for i := range suiteRuns {
		name, text := suiteScript(i)
		if strings.Contains(text, "%!") {
			t.Error(text)
		}
		names[name], texts[text] = true, true
	}
	if len(names) != suiteRuns || len(texts) != suiteRuns {
		t.Errorf("%d names, %d texts", len(names), len(texts))
	}
}
