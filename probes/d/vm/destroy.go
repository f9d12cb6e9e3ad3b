package vm

import "trapline/probes/d/code"

// Chill may take half of each second of a CPU: what goes beyond is an illegal operation.
const (
	chillPeriod = 1_000_000_000 // ns
	chillMax    = 500_000_000
)

// chilled is how long a machine has chilled since a moment, in virtual nanoseconds.
type chilled struct {
	since, total uint64
}

// immediate runs an action on the guest.
func (f *frame) immediate(a *action) bool {
	n := uint64(0)
	if len(a.Args) > 0 {
		v, ok := f.run(a.Args[0])
		if !ok {
			return false
		}
		n = narrow(v, a.Args[0].Type)
	}
	if a.Act == code.Chill && !f.m.chill.take(f.env.Now(), n) || !f.env.Do(a.Act, n) {
		return f.fail(IllegalOp, 0)
	}
	return true
}

// take reports whether n more nanoseconds may pass now.
func (c *chilled) take(now, n uint64) bool {
	if now-c.since >= chillPeriod {
		c.since, c.total = now, 0
	}
	if n > chillMax || c.total+n > chillMax {
		return false
	}
	c.total += n
	return true
}
