package device

import (
	"io"
	"time"
)

// An RTC is the MC146818 clock of a PC with its battery-backed memory, at ports 0x70
// (index) and 0x71 (data). A machine starts on 1 January 2025 at midnight UTC, a
// Wednesday, and its virtual time goes on from there.
//
// The clock cannot be set and does not interrupt: what the guest writes to the time is
// dropped. It can be read at any moment, since an update takes no time.
type RTC struct {
	clock Clock
	rtcRegs
}

type rtcRegs struct {
	Index uint8
	RAM   [128]uint8 // alarm, control registers and memory; the time is not in it
}

// rtcEpoch is the start of a machine in seconds since 1970.
var rtcEpoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()

// Registers (data sheet, figure 7). The century is where PCs keep it.
const (
	rtcSecond  = 0x00
	rtcMinute  = 0x02
	rtcHour    = 0x04
	rtcWeekday = 0x06 // 1 is Sunday
	rtcDay     = 0x07
	rtcMonth   = 0x08
	rtcYear    = 0x09
	rtcA       = 0x0a
	rtcB       = 0x0b
	rtcC       = 0x0c
	rtcD       = 0x0d
	rtcCentury = 0x32
)

// Bits of register B.
const (
	rtc24Hours = 1 << 1
	rtcBinary  = 1 << 2
)

// NewRTC makes a clock in BCD and 24-hour mode, as a PC's firmware leaves it.
func NewRTC(clock Clock) *RTC {
	r := &RTC{clock: clock}
	r.RAM[rtcA] = 0x26 // 32768 Hz, 1024 Hz
	r.RAM[rtcB] = rtc24Hours
	return r
}

// In reads the data port; the index cannot be read back.
func (r *RTC) In(offset uint16, _ int) uint32 {
	if offset != 1 {
		return 0xff
	}
	return uint32(r.read(r.Index))
}

// Out writes the index, whose bit 7 masks an NMI that never comes, or the data.
func (r *RTC) Out(offset uint16, _ int, value uint32) {
	switch v := uint8(value); {
	case offset == 0:
		r.Index = v & 0x7f
	case r.Index == rtcC || r.Index == rtcD: // read-only
	case r.Index == rtcA:
		r.RAM[rtcA] = v & 0x7f // never in the middle of an update
	default:
		r.RAM[r.Index] = v
	}
}

func (r *RTC) read(index uint8) uint8 {
	t := time.Unix(rtcEpoch+int64(r.clock.Now()/1e9), 0).UTC()
	switch index {
	case rtcSecond:
		return r.number(t.Second())
	case rtcMinute:
		return r.number(t.Minute())
	case rtcHour:
		return r.hour(t.Hour())
	case rtcWeekday:
		return r.number(int(t.Weekday()) + 1)
	case rtcDay:
		return r.number(t.Day())
	case rtcMonth:
		return r.number(int(t.Month()))
	case rtcYear:
		return r.number(t.Year() % 100)
	case rtcCentury:
		return r.number(t.Year() / 100)
	case rtcD:
		return 0x80 // the battery is good
	default:
		return r.RAM[index&0x7f]
	}
}

// number encodes n, 0 to 99, as register B says.
func (r *RTC) number(n int) uint8 {
	if r.RAM[rtcB]&rtcBinary != 0 {
		return uint8(n)
	}
	return uint8(n/10<<4 | n%10)
}

// hour encodes an hour; in 12-hour mode bit 7 is p.m.
func (r *RTC) hour(h int) uint8 {
	if r.RAM[rtcB]&rtc24Hours != 0 {
		return r.number(h)
	}
	v := r.number((h+11)%12 + 1)
	if h >= 12 {
		v |= 0x80
	}
	return v
}

// Save writes the index and the memory.
func (r *RTC) Save(w io.Writer) error { return save(w, "RTC", &r.rtcRegs) }

// Parse reads what Save wrote.
func (r *RTC) Parse(rd io.Reader, _ uint64) (set func(), err error) {
	return parse(rd, "RTC", &r.rtcRegs, func(regs *rtcRegs) bool { return int(regs.Index) < len(regs.RAM) })
}
