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
	r.SBI = NewSBI(&r.clock, &r.timer, &r.software,
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

func TestSBITimer(t *testing.T) {
	r := newSBIRig()
	set := func(ticks uint64) { r.Call(SBICall{Extension: sbiTime, Arg: [6]uint64{ticks}}) }
	if r.Next() != Never {
		t.Error("the timer is set after a reset")
	}
	set(5)
	if r.Next() != 500 || r.timer.high {
		t.Errorf("next %d, line %v", r.Next(), r.timer.high)
	}
	saved := saveBytes(t, r)
	r.clock = 499
	r.Poll()
	if r.timer.high {
		t.Error("the timer is early")
	}
	r.clock = 500
	r.Poll()
	if !r.timer.high || r.Next() != Never {
		t.Errorf("line %v, next %d", r.timer.high, r.Next())
	}
	set(^uint64(0))
	if r.timer.high || r.Next() != Never {
		t.Error("setting the timer to never does not take the interrupt back")
	}
	set(3)
	if !r.timer.high {
		t.Error("no interrupt for a time that has passed")
	}
	if err := r.Load(bytes.NewReader(saved)); err != nil || r.Next() != 500 {
		t.Errorf("loaded: next %d, %v", r.Next(), err)
	}
}
