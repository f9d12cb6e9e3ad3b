package device

import "testing"

func TestACPIPower(t *testing.T) {
	var endings []Ending
	a := NewACPIPower(func(e Ending) { endings = append(endings, e) })
	if got := a.In(acpiControl, 2); got != acpiMode {
		t.Errorf("control %#x", got)
	}
	a.Out(acpiStatus, 2, 0xffff)
	a.Out(acpiEnable, 2, 0x0120)
	if status, enable := a.In(acpiStatus, 2), a.In(acpiEnable, 2); status != 0 || enable != 0x120 {
		t.Errorf("status %#x, enable %#x", status, enable)
	}
	a.Out(acpiControl, 2, 5<<10)
	if len(endings) != 0 {
		t.Error("it ends where a type of sleep is chosen")
	}
	a.Out(acpiControl, 2, acpiSleep|5<<10)
	if len(endings) != 1 || endings[0] != PowerOff {
		t.Errorf("endings %v", endings)
	}
	testState(t, []uint16{0, 1, 2, 3, 4}, func(r *rig) {
		a := NewACPIPower(func(e Ending) { r.note("%v", e) })
		r.bus.Mount(0, 6, 2, a)
		r.dev = a
	})
}
