package device

import "testing"

// A psciRig is firmware with what it has in hand.
type psciRig struct {
	*PSCI
	ends []Ending
	cpus []*control
}

// newPSCIRig makes firmware of n CPUs; the first runs.
func newPSCIRig(n int) *psciRig {
	r := &psciRig{}
	controls := make([]CPUControl, n)
	for i := range controls {
		if n > 1 {
			r.cpus = append(r.cpus, &control{started: i == 0})
			controls[i] = r.cpus[i]
		}
	}
	r.PSCI = NewPSCI(controls, func(e Ending) { r.ends = append(r.ends, e) })
	return r
}

// expect has a CPU make a call.
func (r *psciRig) expect(t *testing.T, want int64, cpu int, number uint32, arg ...uint64) {
	t.Helper()
	c := PSCICall{CPU: cpu, Number: number}
	copy(c.Arg[:], arg)
	if got := r.Call(c); got != want {
		t.Errorf("CPU %d, call %#x(%#x): %d, want %d", cpu, number, arg, got, want)
	}
}

func TestPSCI(t *testing.T) {
	r := newPSCIRig(1)
	r.expect(t, 0x10001, 0, psciVersion)
	r.expect(t, 0, 0, psciFeatures, psciSystemOff)
	r.expect(t, psciNotSupported, 0, psciFeatures, 0x84000001)
	r.expect(t, psciAlreadyOn, 0, psciCPUOn, 0)
	r.expect(t, psciInvalid, 0, psciCPUOn, 1)
	r.expect(t, 0, 0, psciAffinity, 0)
	r.expect(t, psciDenied, 0, psciCPUOff)
	r.expect(t, psciNotSupported, 0, 0x84000001)
	r.expect(t, 0, 0, psciSystemOff)
	r.expect(t, 0, 0, psciSystemReset)
	if len(r.ends) != 2 || r.ends[0] != PowerOff || r.ends[1] != Reboot {
		t.Errorf("ends %v", r.ends)
	}
}

func TestPSCISeveral(t *testing.T) {
	r := newPSCIRig(3)
	r.expect(t, psciOff, 0, psciAffinity, 2)
	r.expect(t, psciInvalid, 0, psciAffinity, 3)
	r.expect(t, psciInvalid, 0, psciCPUOn, 1<<8)
	r.expect(t, psciAlreadyOn, 0, psciCPUOn, 0, 0x1000, 7)
	r.expect(t, 0, 0, psciCPUOn, 2, 0x1000, 7)
	if c := *r.cpus[2]; c != (control{started: true, pc: 0x1000, opaque: 7}) {
		t.Errorf("started as %+v", c)
	}
	r.expect(t, 0, 2, psciAffinity32, 2)
	r.expect(t, 0, 2, psciCPUOff)
	r.expect(t, psciOff, 0, psciAffinity, 2)
}
