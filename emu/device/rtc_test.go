package device

import (
	"fmt"
	"testing"
	"time"
)

func rtcRead(r *RTC, reg uint8) uint8 {
	out(r, 0, reg|0x80) // with the NMI masked
	return in(r, 1)
}

func TestRTCTime(t *testing.T) {
	for _, tt := range []struct {
		after time.Duration
		b     uint8
		want  string // century year month day weekday hour:minute:second, in hexadecimal
	}{
		{0, 0x02, "20 25 01 01 04 00:00:00"},
		{999999999, 0x02, "20 25 01 01 04 00:00:00"},
		{59 * time.Second, 0x02, "20 25 01 01 04 00:00:59"},
		{23*time.Hour + 59*time.Minute + 59*time.Second, 0x02, "20 25 01 01 04 23:59:59"},
		{24 * time.Hour, 0x02, "20 25 01 02 05 00:00:00"},
		{4 * 24 * time.Hour, 0x02, "20 25 01 05 01 00:00:00"}, // Sunday
		{59 * 24 * time.Hour, 0x02, "20 25 03 01 07 00:00:00"},
		{(3*365 + 59) * 24 * time.Hour, 0x02, "20 28 02 29 03 00:00:00"},
		{13*time.Hour + 45*time.Minute, 0x06, "14 19 01 01 04 0d:2d:00"}, // binary
		{13*time.Hour + 45*time.Minute, 0x00, "20 25 01 01 04 81:45:00"}, // 12 hours
		{0, 0x00, "20 25 01 01 04 12:00:00"},
		{12 * time.Hour, 0x04, "14 19 01 01 04 8c:00:00"},
	} {
		t.Run(fmt.Sprintf("%v/%#x", tt.after, tt.b), func(t *testing.T) {
			clock := fakeClock(tt.after)
			r := NewRTC(&clock)
			out(r, 0, rtcB)
			out(r, 1, tt.b)
			var f [8]any
			for i, reg := range []uint8{0x32, 9, 8, 7, 6, 4, 2, 0} {
				f[i] = rtcRead(r, reg)
			}
			if have := fmt.Sprintf("%02x %02x %02x %02x %02x %02x:%02x:%02x", f[:]...); have != tt.want {
				t.Errorf("have %s, want %s", have, tt.want)
			}
		})
	}
}

func TestRTCRegisters(t *testing.T) {
	var clock fakeClock
	r := NewRTC(&clock)
	for reg, want := range map[uint8]uint8{rtcA: 0x26, rtcB: 0x02, rtcC: 0x00, rtcD: 0x80} {
		if v := rtcRead(r, reg); v != want {
			t.Errorf("register %#x reads %#x, want %#x", reg, v, want)
		}
	}
	for _, tt := range []struct{ reg, write, want uint8 }{
		{rtcA, 0xa6, 0x26}, // no update is ever under way
		{rtcC, 0xff, 0x00},
		{rtcD, 0x00, 0x80},
		{rtcSecond, 0x30, 0x00},
		{0x01, 0x59, 0x59}, // alarm
		{0x7f, 0xa5, 0xa5}, // memory
	} {
		out(r, 0, tt.reg)
		out(r, 1, tt.write)
		if v := rtcRead(r, tt.reg); v != tt.want {
			t.Errorf("register %#x reads %#x, want %#x", tt.reg, v, tt.want)
		}
	}
	if v := in(r, 0); v != 0xff {
		t.Errorf("the index reads %#x", v)
	}
}

func TestRTCState(t *testing.T) {
	testState(t, []uint16{0x70, 0x71}, func(r *rig) {
		c := NewRTC(&r.clock)
		r.bus.Mount(0x70, 2, 1, c)
		r.dev = c
	})
}
