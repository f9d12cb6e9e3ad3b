package verify

import (
	"testing"

	"trapline/emu"
	"trapline/kernel/arch"
)

// Instructions are verified in the states of a workload, which goes on as without.
func TestLive(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			without := run(t, a, func(*course) {})
			r := new(Report)
			with := run(t, a, func(c *course) { c.live(t, r) })
			compare(t, without, with)
			states, mismatches, _ := r.Totals()
			if mismatches > 0 || r.Instructions < 1000 || states != 2*r.Instructions || r.Faults == 0 {
				t.Error(text(r))
			}
		})
	}
}

// live verifies what the guest does up to its end.
func (c *course) live(t *testing.T, r *Report) {
	t.Helper()
	v, err := New(Config{Machine: c.Machine, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	c.SetLimit(c.Now() + 300e3)
	err = v.Live(c.funcs, r, func() (bool, error) {
		end, err := c.Run()
		return end == emu.Stopped, err
	})
	if err != nil {
		t.Fatal(err)
	}
}
