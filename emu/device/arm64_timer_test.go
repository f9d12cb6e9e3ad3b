package device

import (
	"bytes"
	"testing"
)

// timerReg is the name of a timer's register.
func timerReg(crm, op2 uint32) uint32 { return 3<<14 | 3<<11 | 14<<7 | crm<<3 | op2 }

func TestARM64Timer(t *testing.T) {
	var clock fakeClock
	var virtual, physical wire
	tm := NewARM64Timer(&clock, &virtual, &physical)
	counter := timerReg(0, 2)
	value, control, compare := timerReg(3, 0), timerReg(3, 1), timerReg(3, 2)

	clock = 160
	if got := tm.Read(counter); got != 10 {
		t.Errorf("counter %d, want 10", got)
	}
	tm.Write(value, 5)
	if got := tm.Read(compare); got != 15 || tm.Next() != Never {
		t.Errorf("compare %d, want 15; next %d", got, tm.Next())
	}
	tm.Write(control, arm64TimerEnable)
	if tm.Next() != 15*16 || virtual.high {
		t.Errorf("next %d, line %v", tm.Next(), virtual.high)
	}
	saved := saveBytes(t, tm)
	clock = 15 * 16
	if tm.Next() > uint64(clock) {
		t.Error("the event is gone before it was carried out")
	}
	tm.Poll()
	if !virtual.high || physical.high || tm.Next() != Never || tm.Read(control) != arm64TimerEnable|arm64TimerStatus {
		t.Errorf("lines %v, %v, next %d, control %#x", virtual.high, physical.high, tm.Next(), tm.Read(control))
	}
	tm.Write(control, arm64TimerEnable|arm64TimerMask)
	if virtual.high {
		t.Error("masked, and the line is high")
	}
	tm.Write(control, arm64TimerEnable)
	clock += 160
	if v := int32(tm.Read(value)); v != -10 || !virtual.high {
		t.Errorf("value %d, line %v", v, virtual.high)
	}
	tm.Write(compare, 1000)
	if virtual.high {
		t.Error("the line does not fall with a new time")
	}
	tm.Write(timerReg(2, 2), 1)
	tm.Write(timerReg(2, 1), arm64TimerEnable)
	if !physical.high {
		t.Error("the physical timer is dead")
	}
	if err := restore(tm, bytes.NewReader(saved), 0); err != nil || tm.Next() != 15*16 {
		t.Errorf("loaded: next %d, %v", tm.Next(), err)
	}
}
