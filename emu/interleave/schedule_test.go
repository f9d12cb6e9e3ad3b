package interleave

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Any schedule is the same when it is described by its switches alone.
func TestRecording(t *testing.T) {
	const quantum = 1000
	for _, s := range []Schedule{
		{Name: "roundrobin", Quantum: quantum},
		{Name: "random", Seed: 3, Quantum: quantum},
		{Name: "pct", Seed: 4, Quantum: quantum},
	} {
		clocks := []uint64{5000, 7000, 5500, 5000}
		first := Record(s.Policy(), quantum, true)
		_, after := run(first, clocks, 500)

		again := Record(Switches(first.Chosen(), quantum), quantum, false)
		again.Expect(first.Course())
		runUntil(again, clocks, after)
		if have, want := again.Course(), first.Course(); have.Switches < want.Switches-1 || again.Astray(true) {
			t.Errorf("%s: %v again, not %v", s.Name, have, want)
		}
	}
}

// runUntil gives turns to CPUs until one is to go on that has come to its end.
func runUntil(p Policy, clocks, ends []uint64) {
	var cpus []CPU
	for i, c := range clocks {
		cpus = append(cpus, CPU{ID: i, Clock: c})
	}
	for last := cpus[0]; ; {
		i, slice := p.Next(last, cpus)
		if cpus[i].Clock+slice > ends[i] {
			return
		}
		cpus[i].Clock += slice
		last = cpus[i]
	}
}

func TestSwitches(t *testing.T) {
	p := Switches([]Switch{{1, 50, 0}, {0, 100, 1}, {0, 90, 2}, {0, 300, 7}}, 100)
	clock := uint64(1000)
	for _, tt := range []struct {
		last  CPU
		can   []CPU
		index int
		slice uint64
	}{
		{CPU{ID: 0, Clock: clock}, []CPU{{ID: 0, Clock: clock}, {ID: 1, Clock: clock}}, 0, 90},
		{CPU{ID: 0, Clock: clock + 95}, []CPU{{ID: 0, Clock: clock + 95}, {ID: 1, Clock: clock}}, 0, 5},       // 2 waits
		{CPU{ID: 0, Clock: clock + 101}, []CPU{{ID: 0, Clock: clock + 101}, {ID: 1, Clock: clock}}, 1, 50},    // late
		{CPU{ID: 1, Clock: clock + 20}, []CPU{{ID: 0, Clock: clock + 101}}, 0, 199},                           // 1 waits
		{CPU{ID: 0, Clock: clock + 300}, []CPU{{ID: 0, Clock: clock + 300}, {ID: 1, Clock: clock}}, 0, 22685}, // there is no 7
		{CPU{ID: 0, Clock: clock + 23000}, []CPU{{ID: 0, Clock: clock + 23000}, {ID: 1, Clock: clock}}, 1, 50},
	} {
		if i, slice := p.Next(tt.last, tt.can); i != tt.index || slice != tt.slice {
			t.Errorf("%v, %v: %d for %d; want %d, %d", tt.last, tt.can, i, slice, tt.index, tt.slice)
		}
	}
}

// A CPU that yields does not run next, unless it is alone.
func TestYield(t *testing.T) {
	can := []CPU{{ID: 0, Clock: 10}, {ID: 2, Clock: 20}, {ID: 3, Clock: 15}}
	for _, tt := range []struct {
		last CPU
		can  []CPU
		want int
	}{
		{CPU{ID: 0, Clock: 10}, can, 0},
		{CPU{ID: 0, Clock: 10, Yields: true}, can, 2},
		{CPU{ID: 2, Clock: 20, Yields: true}, can, 0},
		{CPU{ID: 3, Clock: 15, Yields: true}, can[2:], 0},
		{CPU{ID: 1, Clock: 15, Yields: true}, can, 0}, // and waits
	} {
		r := Record(RoundRobin(100), 100, true)
		if i, _ := r.Next(tt.last, tt.can); i != tt.want {
			t.Errorf("%v: %d, want %d", tt.last, i, tt.want)
		}
	}
}

func TestAstray(t *testing.T) {
	turns := func(r *Recording, clocks ...uint64) {
		for i, c := range clocks {
			r.Next(CPU{ID: i % 2, Clock: c}, []CPU{{ID: 0, Clock: c + uint64(1-i%2)}, {ID: 1, Clock: c + uint64(i%2)}})
		}
	}
	known := Record(RoundRobin(100), 100, false)
	turns(known, 5, 6, 7)
	for _, tt := range []struct {
		clocks []uint64
		early  bool
		astray bool
	}{
		{[]uint64{5, 6, 7}, false, false},
		{[]uint64{5, 6, 7, 8}, false, false},
		{[]uint64{5, 6}, true, false},
		{[]uint64{5, 6}, false, true},
		{[]uint64{5, 6, 8}, true, true},
	} {
		r := Record(RoundRobin(100), 100, false)
		r.Expect(known.Course())
		if turns(r, tt.clocks...); r.Astray(tt.early) != tt.astray {
			t.Errorf("%v, early %t: astray %t", tt.clocks, tt.early, !tt.astray)
		}
	}
}

func TestSchedule(t *testing.T) {
	for _, text := range []string{
		"2/random/20000/7/118-5f2c9a31",
		"4/roundrobin/16/",
		"8/pct/1000000000/18446744073709551615/0-00000001",
		"2/switches/20000/0@1200:1,1@300:0/4-80c1a99e",
		"2/switches/20000/",
	} {
		s, err := Parse(text)
		if err != nil || s.String() != text {
			t.Errorf("%s: %v, %v", text, s, err)
			continue
		}
		if again, _ := Parse(s.String()); !cmp.Equal(s, again) {
			t.Errorf("%s: %s", text, cmp.Diff(s, again))
		}
	}
	for text, want := range map[string]string{
		"":                              "a schedule has 4 or 5 parts with / between them, not 1",
		"2/fair/20000/":                 `no schedule "fair": there are roundrobin, random, pct and replay:SCHEDULE`,
		"2/random/3/7":                  "a quantum of 3 ns: it must be from 16 to 1000000000",
		"x/random/20000/7":              `invalid number "x" in the schedule`,
		"2/random/20000/-7":             `invalid number "-7" in the schedule`,
		"2/switches/20000/0@12":         `"0@12" is not a switch (example: 0@1200:1)`,
		"2/switches/20000/0@12:300":     `invalid number "300" in the schedule`,
		"2/switches/20000/0@1:1/5":      `"5" is not a course (example: 118-5f2c9a31)`,
		"2/switches/20000/0@1:1/5-1/66": "a schedule has 4 or 5 parts with / between them, not 6",
	} {
		if _, err := Parse(text); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2/switches/20000/0@1200:1,1@300:0/4-80c1a99e")
	f.Add("4/pct/16/1/4-1")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !cmp.Equal(s, again) || strings.ContainsAny(s.String(), " '\"$&;|<>()") {
			t.Errorf("%q is %q, then %v", text, s, err)
		}
		s.Policy()
	})
}
