package device

import (
	"math/rand/v2"
	"testing"
)

// newPIC makes a pair as a PC kernel sets it up: vectors 0x30 and 0x38, all lines open.
func newPIC() (*PIC, *wire) {
	intr := new(wire)
	p := NewPIC(intr)
	initPIC(p, 0x01)
	return p, intr
}

func initPIC(p *PIC, icw4 uint8) {
	out(p.Master(), 0, 0x11)
	out(p.Master(), 1, 0x30, 0x04, icw4, 0x00)
	out(p.Slave(), 0, 0x11)
	out(p.Slave(), 1, 0x38, 0x02, icw4, 0x00)
}

func raise(p *PIC, lines ...int) {
	for _, n := range lines {
		p.Line(n).Set(true)
		p.Line(n).Set(false)
	}
}

// drain acknowledges what is pending, without ending anything.
func drain(p *PIC) (vectors []int) {
	for p.Pending() {
		vectors = append(vectors, p.Ack())
	}
	return vectors
}

func wantVectors(t *testing.T, have []int, want ...int) {
	t.Helper()
	if len(have) != len(want) {
		t.Fatalf("vectors %#x, want %#x", have, want)
	}
	for i := range have {
		if have[i] != want[i] {
			t.Fatalf("vectors %#x, want %#x", have, want)
		}
	}
}

func TestPICPriority(t *testing.T) {
	p, intr := newPIC()
	raise(p, 7, 4)
	wantVectors(t, drain(p), 0x34) // 7 waits behind 4
	raise(p, 12)
	wantVectors(t, drain(p), 0x3c)
	raise(p, 14, 1)
	wantVectors(t, drain(p), 0x31) // 14 waits behind 12
	if intr.high {
		t.Error("INTR is high with nothing to serve")
	}
	out(p.Master(), 0, 0x61) // end 1
	out(p.Slave(), 0, 0x20)  // end 12, but 2 is in service at the master
	wantVectors(t, drain(p))
	out(p.Master(), 0, 0x62)
	wantVectors(t, drain(p), 0x3e)
	out(p.Slave(), 0, 0x20)
	out(p.Master(), 0, 0x20) // 2, the highest
	wantVectors(t, drain(p))
	out(p.Master(), 0, 0x20) // 4
	wantVectors(t, drain(p), 0x37)
}

func TestPICMask(t *testing.T) {
	p, intr := newPIC()
	out(p.Master(), 1, 0xff)
	if v := in(p.Master(), 1); v != 0xff {
		t.Errorf("mask reads %#x", v)
	}
	raise(p, 0, 8)
	if intr.high || in(p.Master(), 0) != 0x05 || in(p.Slave(), 0) != 0x01 {
		t.Errorf("requests %#x %#x, INTR %v", in(p.Master(), 0), in(p.Slave(), 0), intr.high)
	}
	out(p.Master(), 1, 0xfb) // open the cascade
	wantVectors(t, drain(p), 0x38)
	out(p.Master(), 0, 0x0b) // OCW3: read ISR
	out(p.Slave(), 0, 0x0b)
	if m, s := in(p.Master(), 0), in(p.Slave(), 0); m != 0x04 || s != 0x01 {
		t.Errorf("in service %#x %#x", m, s)
	}
}

func TestPICEdge(t *testing.T) {
	p, _ := newPIC()
	p.Line(4).Set(true)
	p.Line(4).Set(true)
	wantVectors(t, drain(p), 0x34)
	out(p.Master(), 0, 0x20)
	wantVectors(t, drain(p)) // still high: no edge
	raise(p, 4)              // falls
	wantVectors(t, drain(p))
	raise(p, 4)
	wantVectors(t, drain(p), 0x34)
}

func TestPICLevel(t *testing.T) {
	p, intr := newPIC()
	out(p.ELCR(), 0, 0xff)
	out(p.ELCR(), 1, 0xff)
	if m, s := in(p.ELCR(), 0), in(p.ELCR(), 1); m != 0xf8 || s != 0xde {
		t.Errorf("edge/level registers %#x %#x, want 0xf8 0xde", m, s)
	}
	p.Line(11).Set(true)
	wantVectors(t, drain(p), 0x3b)
	out(p.Slave(), 0, 0x20)
	out(p.Master(), 0, 0x20)
	wantVectors(t, drain(p), 0x3b) // still high
	out(p.Slave(), 0, 0x20)
	out(p.Master(), 0, 0x20)
	p.Line(11).Set(false)
	if intr.high {
		t.Error("INTR stays high when the level has gone")
	}
}

func TestPICSpurious(t *testing.T) {
	p, _ := newPIC()
	if v := p.Ack(); v != 0x37 {
		t.Errorf("vector %#x, want line 7 of the master", v)
	}
	out(p.Master(), 0, 0x0b)
	if v := in(p.Master(), 0); v != 0 {
		t.Errorf("in service %#x after a spurious interrupt", v)
	}
}

func TestPICAutoEOI(t *testing.T) {
	p, _ := newPIC()
	initPIC(p, 0x03)
	raise(p, 3, 1)
	wantVectors(t, drain(p), 0x31, 0x33)
	out(p.Master(), 0, 0x80) // rotate at each
	raise(p, 3, 1)
	wantVectors(t, drain(p), 0x31, 0x33)
	raise(p, 3, 5)
	wantVectors(t, drain(p), 0x35, 0x33) // 3 was last: it is lowest now
}

func TestPICRotate(t *testing.T) {
	for _, tt := range []struct {
		name string
		ocw2 uint8
		want []int
	}{
		{"set priority", 0xc3, []int{0x34}},       // 3 lowest, 4 highest
		{"specific EOI", 0xe1, []int{0x34}},       // ends 1, which becomes lowest
		{"non-specific EOI", 0xa0, []int{0x34}},   // the same by priority
		{"plain EOI", 0x20, []int{0x30}},          // 0 highest
		{"no operation", 0x40, []int{0x30}},       // 1 stays in service
		{"specific EOI of 0", 0x60, []int{0x30}},  // nor this
		{"rotate at auto EOI", 0x80, []int{0x30}}, // not in use
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := newPIC()
			raise(p, 1)
			p.Ack()
			out(p.Master(), 0, tt.ocw2)
			if tt.ocw2 == 0xc3 {
				out(p.Master(), 0, 0x61)
			}
			raise(p, 0, 4)
			wantVectors(t, drain(p), tt.want...)
		})
	}
}

func TestPICSpecialMask(t *testing.T) {
	p, _ := newPIC()
	raise(p, 1, 5)
	wantVectors(t, drain(p), 0x31)
	out(p.Master(), 0, 0x68) // special mask mode
	out(p.Master(), 1, 0x02)
	wantVectors(t, drain(p), 0x35)
	out(p.Master(), 0, 0x20) // ends 5, since 1 is masked
	out(p.Master(), 0, 0x0b)
	if v := in(p.Master(), 0); v != 0x02 {
		t.Errorf("in service %#x, want 0x02", v)
	}
}

func TestPICNested(t *testing.T) {
	p, _ := newPIC()
	initPIC(p, 0x11) // special fully nested: the slave interrupts itself
	raise(p, 12)
	wantVectors(t, drain(p), 0x3c)
	raise(p, 9, 5)
	wantVectors(t, drain(p), 0x39) // but nothing lower than line 2
}

func TestPICPoll(t *testing.T) {
	p, intr := newPIC()
	raise(p, 6)
	out(p.Master(), 0, 0x0c)
	if v := in(p.Master(), 0); v != 0x86 {
		t.Errorf("poll %#x, want 0x86", v)
	}
	if intr.high {
		t.Error("a polled interrupt stays pending")
	}
	out(p.Master(), 0, 0x0c)
	if v := in(p.Master(), 0); v != 0 {
		t.Errorf("poll without a request %#x", v)
	}
}

func TestPICInit(t *testing.T) {
	p, _ := newPIC()
	raise(p, 3)
	p.Ack()
	p.Line(4).Set(true)
	initPIC(p, 0x01)
	wantVectors(t, drain(p)) // requests are gone, and a line that is high makes no edge
	out(p.Master(), 0, 0x12) // single, no ICW4
	out(p.Master(), 1, 0x57, 0x00)
	raise(p, 3)
	wantVectors(t, drain(p), 0x53)
}

func TestPICState(t *testing.T) {
	ports := []uint16{0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1}
	testState(t, ports, func(r *rig) {
		p := NewPIC(r.line("intr"))
		r.bus.Mount(0x20, 2, 1, p.Master())
		r.bus.Mount(0xa0, 2, 1, p.Slave())
		r.bus.Mount(0x4d0, 2, 1, p.ELCR())
		r.dev = p
		r.prod = func(rng *rand.Rand) {
			if p.Pending() && rng.IntN(2) == 0 {
				r.note("ack %#x", p.Ack())
			}
			p.Line(rng.IntN(16)).Set(rng.IntN(2) == 0)
		}
	})
}
