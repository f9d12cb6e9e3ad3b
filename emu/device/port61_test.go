package device

import "testing"

// Channel 2 as a stop watch, the way kernels calibrate their clocks with it.
func TestPort61StopWatch(t *testing.T) {
	p, clock, _ := newPIT(4321)
	s := NewPort61(p, clock)
	out(s, 0, in(s, 0)&^0x02|0x01) // speaker off, gate open
	out(p, 3, 0xb0)
	const count = PITHz / 20 // 50 ms
	out(p, 2, count&0xff, count>>8&0xff)
	start := clock.Now()
	for in(s, 0)&0x20 == 0 {
		*clock += 1000
	}
	if d := clock.Now() - start; d < 49_999_000 || d > 50_002_000 {
		t.Errorf("50 ms took %d ns", d)
	}
}

func TestPort61Refresh(t *testing.T) {
	p, clock, _ := newPIT(0)
	s := NewPort61(p, clock)
	changes, last := 0, in(s, 0)
	for range 10000 {
		*clock += 1000
		if v := in(s, 0); (v^last)&0x10 != 0 {
			changes, last = changes+1, v
		}
	}
	if changes != 10_000_000*PITHz/18/1_000_000_000 {
		t.Errorf("the refresh changed %d times in 10 ms", changes)
	}
}

func TestPort61Bits(t *testing.T) {
	p, clock, _ := newPIT(0)
	s := NewPort61(p, clock)
	out(s, 0, 0xff)
	if v := in(s, 0); v != 0x0f {
		t.Errorf("reads %#x, want 0x0f", v)
	}
}

func TestPort61State(t *testing.T) {
	testState(t, []uint16{0x61}, func(r *rig) {
		s := NewPort61(NewPIT(r.line("irq"), &r.clock), &r.clock)
		r.bus.Mount(0x61, 1, 1, s)
		r.dev = s
	})
}
