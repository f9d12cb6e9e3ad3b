package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/emu"
)

// history has an event at each of these times, and a checkpoint of each of these contents.
func history(times []uint64, memory ...byte) *History {
	h := &History{End: "poweroff", Output: []byte("one\ntwo\n")}
	for _, at := range times {
		h.Events.Kept = append(h.Events.Kept, emu.Event{Clock: at, PC: at, Number: 14, Kind: 1})
		h.Events.Sums = []uint64{at}
	}
	h.Events.Events = uint64(len(times))
	for i, m := range memory {
		h.Checkpoints = append(h.Checkpoints, emu.Checkpoint{At: uint64(i), Hash: [32]byte{m}})
	}
	return h
}

func TestFootprint(t *testing.T) {
	same := func() *History { return history([]uint64{1, 2, 3}, 1, 2) }
	said := same()
	said.Output = []byte("one\ntoo\n")
	ended := same()
	ended.Clock = 9
	for _, c := range []struct {
		name string
		with *History
		want []string
	}{
		{"the same", same(), nil},
		{"later", history([]uint64{1, 2, 4}, 1, 2),
			[]string{"event 2: exception 14 at 0.000000003 s, pc 3 | exception 14 at 0.000000004 s, pc 4"}},
		{"missing", history([]uint64{1, 2}, 1, 2), []string{"event 2: exception 14 at 0.000000003 s, pc 3 | none"}},
		{"memory", history([]uint64{1, 2, 3}, 1, 3),
			[]string{"checkpoint 1: 0200000000000000 at 0.000000001 s | 0300000000000000 at 0.000000001 s"}},
		{"fewer checkpoints", history([]uint64{1, 2, 3}, 1), []string{"checkpoint 1: 0200000000000000 at 0.000000001 s | none"}},
		{"output", said, []string{`output 5: "wo" | "oo"`}},
		{"end", ended, []string{"end 0: poweroff at 0.000000000 s, state 0000000000000000 | poweroff at 0.000000009 s, state 0000000000000000"}},
	} {
		f := NewFootprint("image", same(), c.with, func(pc uint64) string { return fmt.Sprint("pc ", pc) })
		var got []string
		for _, d := range f.Differences {
			got = append(got, fmt.Sprintf("%s %d: %s | %s", d.What, d.Index, d.Without, d.With))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// The second look is at the block and the checkpoint at which histories part.
func TestPart(t *testing.T) {
	a, b := history(nil, 1, 2, 3), history(nil, 1, 2, 4)
	a.Events.Sums, b.Events.Sums = []uint64{7, 8, 9}, []uint64{7, 8}
	if got := Part(a, b); got != (Place{Block: 2, Checkpoint: 2}) {
		t.Errorf("they part at %+v", got)
	}
	if got := Part(a, a); got != (Place{Block: -1, Checkpoint: -1}) {
		t.Errorf("one history parts from itself at %+v", got)
	}
}

func TestFootprintMemory(t *testing.T) {
	f := new(Footprint)
	f.Memory(0x8000_0000, []byte{1, 2, 3}, []byte{1, 2, 4})
	var b strings.Builder
	if _, err := f.WriteTo(&b); err != nil || !strings.Contains(b.String(),
		"\nmemory at physical address 0x80000002 differs\n\twithout probes  03\n\twith probes     04\n") {
		t.Errorf("%v %s", err, b.String())
	}
}
