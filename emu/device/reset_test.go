package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReset(t *testing.T) {
	type write struct {
		port  uint16
		value uint8
	}
	for _, tt := range []struct {
		name   string
		writes []write
		want   []string
	}{
		{"keyboard", []write{{0x64, 0xd1}, {0x64, 0xfe}}, []string{"keyboard controller (port 0x64)"}},
		{"hard", []write{{0xcf9, 0x02}, {0xcf9, 0x06}}, []string{"hard reset (port 0xcf9)"}},
		{"soft", []write{{0xcf9, 0x04}}, []string{"soft reset (port 0xcf9)"}},
		{"no rise", []write{{0xcf9, 0x04}, {0xcf9, 0x06}}, []string{"soft reset (port 0xcf9)"}},
		{"no reset", []write{{0xcf9, 0x0a}, {0x64, 0xff}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var have []string
			r := NewReset(func(reason string) { have = append(have, reason) })
			for _, w := range tt.writes {
				if w.port == 0x64 {
					out(r.Keyboard(), 0, w.value)
				} else {
					out(r.Control(), 0, w.value)
				}
			}
			if diff := cmp.Diff(tt.want, have); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResetReads(t *testing.T) {
	r := NewReset(nil)
	out(r.Control(), 0, 0x02)
	if v := in(r.Control(), 0); v != 0x02 {
		t.Errorf("the control register reads %#x", v)
	}
	if v := in(r.Keyboard(), 0); v != 0xff {
		t.Errorf("the keyboard reads %#x", v)
	}
}

func TestResetState(t *testing.T) {
	testState(t, []uint16{0x64, 0xcf9}, func(r *rig) {
		d := NewReset(func(reason string) { r.note("%s", reason) })
		r.bus.Mount(0x64, 1, 1, d.Keyboard())
		r.bus.Mount(0xcf9, 1, 1, d.Control())
		r.dev = d
	})
}
