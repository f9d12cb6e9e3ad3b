package device

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// newPIT makes a timer at a start that is not zero.
func newPIT(start uint64) (*PIT, *fakeClock, *wire) {
	clock, irq := fakeClock(start), new(wire)
	return NewPIT(irq, &clock), &clock, irq
}

func TestTicksExact(t *testing.T) {
	hz, giga := big.NewInt(PITHz), big.NewInt(1e9)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		ns := rng.Uint64() >> rng.IntN(64)
		want := new(big.Int).SetUint64(ns)
		want.Mul(want, hz).Div(want, giga)
		n := ticks(ns)
		if n != want.Uint64() {
			t.Fatalf("ticks(%d) = %d, want %d", ns, n, want)
		}
		if at := nanos(n); n > 0 && (ticks(at) != n || ticks(at-1) != n-1) {
			t.Fatalf("nanos(%d) = %d is not the first of that tick", n, at)
		}
	}
	if nanos(1<<63) != Never {
		t.Error("a tick past the end of time is not Never")
	}
}

// In every mode the interrupts are the rises of the output, tick by tick.
func TestPITRises(t *testing.T) {
	for _, mode := range []uint8{0, 2, 3, 4} {
		for _, count := range []uint16{2, 3, 5, 18} {
			t.Run(fmt.Sprintf("mode%d/%d", mode, count), func(t *testing.T) {
				p, clock, irq := newPIT(777)
				out(p, 3, 0x30|mode<<1)
				out(p, 0, uint8(count), 0)
				high := p.ch[0].output(clock.Now())
				for tick := range uint64(100) {
					before := irq.rises
					*clock = fakeClock(777 + nanos(tick+1))
					due := p.Next() <= clock.Now()
					p.Poll()
					now := p.ch[0].output(clock.Now())
					if rises := now && !high; rises != due || (irq.rises > before) != due {
						t.Fatalf("tick %d: output rises %v, event due %v, interrupts %d", tick+1, rises, due, irq.rises-before)
					}
					high = now
				}
			})
		}
	}
}

func TestPITPeriodicDoesNotDrift(t *testing.T) {
	const start, reload, n = 12345, 4773, 3000 // 250 Hz
	p, clock, irq := newPIT(start)
	out(p, 3, 0x34)
	out(p, 0, reload&0xff, reload>>8)
	for k := int64(1); k <= n; k++ {
		at := big.NewInt(k * reload * 1e9)
		at.Add(at, big.NewInt(PITHz-1)).Div(at, big.NewInt(PITHz))
		if have, want := p.Next(), start+at.Uint64(); have != want {
			t.Fatalf("event %d at %d, want %d", k, have, want)
		}
		*clock = fakeClock(p.Next() + uint64(k)%1000) // polled a little late
		p.Poll()
	}
	if irq.rises != n || irq.high {
		t.Errorf("%d interrupts, want %d; line is high: %v", irq.rises, n, irq.high)
	}
	*clock += 1e9 // 250 of them together
	p.Poll()
	if irq.rises != n+1 || p.Next() <= clock.Now() {
		t.Errorf("late poll: %d interrupts, next at %d, now %d", irq.rises-n, p.Next(), *clock)
	}
}

func TestPITOneShot(t *testing.T) {
	for _, tt := range []struct {
		mode  uint8
		ticks uint64
	}{{0, 1000}, {4, 1001}} {
		p, clock, irq := newPIT(0)
		if p.Next() != Never {
			t.Error("an event before the first count")
		}
		out(p, 3, 0x30|tt.mode<<1)
		out(p, 0, 1000&0xff, 1000>>8)
		if want := nanos(tt.ticks); p.Next() != want {
			t.Errorf("mode %d: event at %d, want %d", tt.mode, p.Next(), want)
		}
		*clock = fakeClock(p.Next())
		p.Poll()
		if irq.rises != 1 || p.Next() != Never {
			t.Errorf("mode %d: %d interrupts, next at %d", tt.mode, irq.rises, p.Next())
		}
		out(p, 0, 0, 0) // without a new control word; 0 is 65536
		if want := clock.Now() + nanos(0x10000+tt.ticks-1000); p.Next() != want {
			t.Errorf("mode %d: second event at %d, want %d", tt.mode, p.Next(), want)
		}
		out(p, 3, 0x30|tt.mode<<1)
		if p.Next() != Never {
			t.Errorf("mode %d: a control word does not cancel the event", tt.mode)
		}
	}
}

func TestPITCount(t *testing.T) {
	for _, tt := range []struct {
		mode       uint8
		count      uint16
		tick       uint64
		want       uint16
		wantOutput bool
	}{
		{0, 100, 0, 100, false},
		{0, 100, 99, 1, false},
		{0, 100, 100, 0, true},
		{0, 100, 101, 0xffff, true},
		{2, 100, 99, 1, false},
		{2, 100, 100, 100, true},
		{3, 100, 0, 100, true},
		{3, 100, 49, 2, true},
		{3, 100, 50, 100, false},
		{3, 100, 99, 2, false},
		{3, 5, 2, 0, true},
		{3, 5, 3, 4, false},
		{4, 100, 100, 0, false},
		{4, 100, 101, 0xffff, true},
		{2, 0, 1, 0xffff, true},
		{2, 0, 0x10000, 0, true},
	} {
		t.Run(fmt.Sprintf("mode%d/%d/%d", tt.mode, tt.count, tt.tick), func(t *testing.T) {
			p, clock, _ := newPIT(5)
			p.SetGate(true)
			out(p, 3, 0xb0|tt.mode<<1)
			out(p, 2, uint8(tt.count), uint8(tt.count>>8))
			*clock = fakeClock(5 + nanos(tt.tick))
			if have := uint16(in(p, 2)) | uint16(in(p, 2))<<8; have != tt.want {
				t.Errorf("count %d, want %d", have, tt.want)
			}
			if p.Output() != tt.wantOutput {
				t.Errorf("output %v", p.Output())
			}
		})
	}
}

func TestPITLatch(t *testing.T) {
	p, clock, _ := newPIT(0)
	out(p, 3, 0x34)
	out(p, 0, 0x34, 0x12)
	*clock = fakeClock(nanos(0x34))
	out(p, 3, 0x00) // latch channel 0
	*clock = fakeClock(nanos(0x100))
	out(p, 3, 0x00) // the first one stands
	if lo, hi := in(p, 0), in(p, 0); lo != 0x00 || hi != 0x12 {
		t.Errorf("latched %#x %#x, want 0x1200", hi, lo)
	}
	if lo, hi := in(p, 0), in(p, 0); lo != 0x34 || hi != 0x11 {
		t.Errorf("count after it %#x %#x, want 0x1134", hi, lo)
	}
	out(p, 3, 0xc2) // read back: state and count of channel 0
	*clock = fakeClock(nanos(0x200))
	if st, lo, hi := in(p, 0), in(p, 0), in(p, 0); st != 0xb4 || lo != 0x34 || hi != 0x11 {
		t.Errorf("read back %#x %#x %#x, want 0xb4 0x34 0x11", st, lo, hi)
	}
	out(p, 3, 0xe4)
	if st := in(p, 1); st&0x40 != 0 {
		t.Errorf("state %#x of a channel that nobody uses: guests wait for bit 6", st)
	}
	out(p, 3, 0xb0) // channel 2 has a mode but no count
	out(p, 3, 0xe8)
	if st := in(p, 2); st != 0x70 {
		t.Errorf("state without a count %#x, want 0x70", st)
	}
}

func TestPITAccess(t *testing.T) {
	p, _, _ := newPIT(0)
	out(p, 3, 0x14)
	out(p, 0, 0x42)
	if v := in(p, 0); v != 0x42 || p.ch[0].Reload != 0x42 {
		t.Errorf("low byte only: count %#x, reads %#x", p.ch[0].Reload, v)
	}
	out(p, 3, 0x24)
	out(p, 0, 0x42)
	if v := in(p, 0); v != 0x42 || p.ch[0].Reload != 0x4200 {
		t.Errorf("high byte only: count %#x, reads %#x", p.ch[0].Reload, v)
	}
}

func TestPITGate(t *testing.T) {
	for _, tt := range []struct {
		mode uint8
		want string // output at each step, see below
	}{
		{0, "_ _ _ -"}, // pauses
		{1, "- - _ -"}, // waits for the trigger
		{2, "- - - -"},
		{3, "- - - _"}, // starts with the gate
		{4, "- - - _"}, // pauses
		{5, "- - - _"}, // strobes after the trigger
	} {
		p, clock, _ := newPIT(0)
		out(p, 3, 0xb0|tt.mode<<1)
		out(p, 2, 100, 0)
		level := func() string { return map[bool]string{true: "-", false: "_"}[p.Output()] }
		have := level()
		*clock = fakeClock(nanos(5000)) // closed all the time
		have += " " + level()
		p.SetGate(true)
		have += " " + level()
		*clock += fakeClock(nanos(100))
		if tt.mode == 3 {
			*clock -= fakeClock(nanos(50))
		}
		have += " " + level()
		if have != tt.want {
			t.Errorf("mode %d: output %q, want %q", tt.mode, have, tt.want)
		}
	}
}

func TestPITGatePauses(t *testing.T) {
	p, clock, _ := newPIT(0)
	p.SetGate(true)
	out(p, 3, 0x90) // mode 0, low byte
	out(p, 2, 100)
	*clock = fakeClock(nanos(40))
	p.SetGate(false)
	*clock = fakeClock(nanos(4000))
	if v := in(p, 2); v != 60 {
		t.Errorf("count %d with the gate closed, want 60", v)
	}
	p.SetGate(true)
	*clock += fakeClock(nanos(60))
	if !p.Output() {
		t.Error("does not reach zero")
	}
}

func buildPIT(r *rig) {
	p := NewPIT(r.line("irq"), &r.clock)
	r.bus.Mount(0x40, 4, 1, p)
	r.dev, r.poll = p, p.Poll
	r.prod = func(rng *rand.Rand) {
		p.SetGate(rng.IntN(2) == 0)
		r.note("out %v next %d", p.Output(), p.Next())
	}
}

func TestPITState(t *testing.T) { testState(t, []uint16{0x40, 0x41, 0x42, 0x43}, buildPIT) }
