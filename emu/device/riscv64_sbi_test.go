package device

import (
	"bytes"
	"testing"
)

// sbiRig is the firmware with what it can reach.
type sbiRig struct {
	*SBI
	clock           fakeClock
	timer, software wire
	console         []byte
	ends            []Ending
}

func newSBIRig() *sbiRig {
	r := &sbiRig{}
	r.SBI = NewSBI(&r.clock, []SBIHart{{Timer: &r.timer, Software: &r.software}},
		func(b byte) { r.console = append(r.console, b) }, func(e Ending) { r.ends = append(r.ends, e) })
	return r
}

func TestSBICalls(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ext, fid uint64
		arg      []uint64
		code     int64
		value    uint64
	}{
		{"version", sbiBase, 0, nil, 0, sbiVersion},
		{"probe of the timer", sbiBase, 3, []uint64{sbiTime}, 0, 1},
		{"probe of nothing", sbiBase, 3, []uint64{0x12345}, 0, 0},
		{"no such function", sbiBase, 7, nil, sbiNotSupported, 0},
		{"no such extension", 0x12345, 0, nil, sbiNotSupported, 0},
		{"fence", sbiFence, 1, nil, 0, 0},
		{"hart 0 is started", sbiHart, 2, []uint64{0}, 0, 0},
		{"it cannot be started", sbiHart, 0, []uint64{0}, sbiAlready, 0},
		{"there is no hart 1", sbiHart, 2, []uint64{1}, sbiInvalid, 0},
		{"reset of another kind", sbiReset, 0, []uint64{7}, sbiInvalid, 0},
		{"getchar", sbiGetchar, 0, nil, sbiFailed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := SBICall{Extension: tt.ext, Function: tt.fid}
			copy(c.Arg[:], tt.arg)
			code, value, legacy := newSBIRig().Call(c)
			if code != tt.code || value != tt.value || legacy != (tt.ext <= 8) {
				t.Errorf("%d, %#x, legacy %v, want %d, %#x", code, value, legacy, tt.code, tt.value)
			}
		})
	}
}

func TestSBIEffects(t *testing.T) {
	r := newSBIRig()
	call := func(ext, fid uint64, arg ...uint64) {
		c := SBICall{Extension: ext, Function: fid}
		copy(c.Arg[:], arg)
		r.Call(c)
	}
	call(sbiPutchar, 0, 'h')
	call(sbiPutchar, 0, 'i')
	if string(r.console) != "hi" {
		t.Errorf("console %q", r.console)
	}
	call(sbiIPI, 0, 1, 0)
	if !r.software.high {
		t.Error("no IPI to itself")
	}
	call(sbiClearIPI, 0)
	call(sbiIPI, 0, 2, 0)
	if r.software.high {
		t.Error("an IPI to another hart arrives")
	}
	call(sbiReset, 0, 0)
	call(sbiReset, 0, 1)
	call(sbiShutdown, 0)
	if len(r.ends) != 3 || r.ends[0] != PowerOff || r.ends[1] != Reboot || r.ends[2] != PowerOff {
		t.Errorf("ends %v", r.ends)
	}
}

// control is a hart that can be started.
type control struct {
	started    bool
	pc, opaque uint64
	flushes    int
}

func (c *control) Started() bool           { return c.started }
func (c *control) Start(pc, opaque uint64) { c.started, c.pc, c.opaque = true, pc, opaque }
func (c *control) Stop()                   { c.started = false }
func (c *control) FlushTLB()               { c.flushes++ }

func TestSBIHarts(t *testing.T) {
	var controls [3]control
	var software, timers [3]wire
	var harts []SBIHart
	for i := range controls {
		harts = append(harts, SBIHart{&timers[i], &software[i], &controls[i]})
	}
	controls[0].started = true
	var now fakeClock
	s := NewSBI(&now, harts, nil, nil)
	call := func(hart int, wantCode int64, wantValue, ext, fid uint64, arg ...uint64) {
		t.Helper()
		c := SBICall{Hart: hart, Extension: ext, Function: fid}
		copy(c.Arg[:], arg)
		if code, value, _ := s.Call(c); code != wantCode || value != wantValue {
			t.Errorf("%d, %d, want %d, %d", code, value, wantCode, wantValue)
		}
	}
	call(0, 0, hartStopped, sbiHart, hartStatus, 1)
	call(0, 0, 0, sbiHart, hartStart, 1, 0x1000, 42)
	call(0, sbiAlready, 0, sbiHart, hartStart, 1, 0x1000, 42)
	call(0, sbiInvalid, 0, sbiHart, hartStart, 3, 0x1000, 42)
	call(0, 0, 0, sbiHart, hartStatus, 1)
	if c := controls[1]; c.pc != 0x1000 || c.opaque != 42 {
		t.Errorf("started at %#x with %d", c.pc, c.opaque)
	}
	call(1, 0, 0, sbiHart, hartStop)
	if controls[1].started || !controls[0].started {
		t.Error("another hart than the caller was stopped")
	}
	call(0, 0, 0, sbiIPI, 0, 1, 2) // hart 2, by its base
	call(0, 0, 0, sbiFence, 0, 7, 0)
	call(0, 0, 0, sbiFence, 1, 6, 0)
	call(0, 0, 0, sbiFence, 2, 0, ^uint64(0))
	for i := range controls {
		if software[i].high != (i == 2) || controls[i].flushes != []int{1, 2, 2}[i] {
			t.Errorf("hart %d: IPI %v, %d flushes", i, software[i].high, controls[i].flushes)
		}
	}
	call(2, 0, 0, sbiTime, 0, 3)
	now = 300
	s.Poll(0)
	if timers[2].high || s.Next(0) != Never || s.Next(2) != 300 {
		t.Errorf("timers: %v, %d, %d", timers[2].high, s.Next(0), s.Next(2))
	}
	s.Poll(2)
	if !timers[2].high || timers[0].high {
		t.Errorf("timers: %v, %v", timers[0].high, timers[2].high)
	}
}

func TestSBITimer(t *testing.T) {
	r := newSBIRig()
	set := func(ticks uint64) { r.Call(SBICall{Extension: sbiTime, Arg: [6]uint64{ticks}}) }
	if r.Next(0) != Never {
		t.Error("the timer is set after a reset")
	}
	set(5)
	if r.Next(0) != 500 || r.timer.high {
		t.Errorf("next %d, line %v", r.Next(0), r.timer.high)
	}
	saved := saveBytes(t, r)
	r.clock = 499
	r.Poll(0)
	if r.timer.high {
		t.Error("the timer is early")
	}
	r.clock = 500
	r.Poll(0)
	if !r.timer.high || r.Next(0) != Never {
		t.Errorf("line %v, next %d", r.timer.high, r.Next(0))
	}
	set(^uint64(0))
	if r.timer.high || r.Next(0) != Never {
		t.Error("setting the timer to never does not take the interrupt back")
	}
	set(3)
	if !r.timer.high {
		t.Error("no interrupt for a time that has passed")
	}
	if err := restore(r, bytes.NewReader(saved), 0); err != nil || r.Next(0) != 500 {
		t.Errorf("loaded: next %d, %v", r.Next(0), err)
	}
}
