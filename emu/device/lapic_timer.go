package device

// period is how many nanoseconds a count takes of the timer from the initial one to zero: it
// counts every nanosecond, divided by 1 to 128.
func (a *LAPIC) period() uint64 { return uint64(a.r.Initial) * a.divisor() }

// divisor: its logarithm less one is in bits 0, 1 and 3, where 7 is a divisor of one.
func (a *LAPIC) divisor() uint64 {
	n := a.r.Divide&3 | a.r.Divide>>1&4
	return 1 << ((n + 1) & 7)
}

// elapsed is the time since the initial count was written.
func (a *LAPIC) elapsed() uint64 { return uint64(max(int64(a.clock.Now()-a.r.Start), 0)) }

// arm sets when the count is over next.
func (a *LAPIC) arm() {
	period, elapsed := a.period(), a.elapsed()
	a.r.Due = Never
	switch {
	case period == 0:
	case elapsed < period:
		a.r.Due = a.r.Start + period
	case a.r.LVT[lvtTimer]&lvtPeriodic != 0:
		a.r.Due = a.r.Start + (elapsed/period+1)*period
	}
}

// current is the count.
func (a *LAPIC) current() uint32 {
	period, elapsed := a.period(), a.elapsed()
	switch {
	case period == 0 || a.r.Due == Never:
		return 0
	case a.r.Due <= a.clock.Now():
		return 0 // over, and about to be seen
	}
	left := period - elapsed%period
	return uint32((left + a.divisor() - 1) / a.divisor())
}

// writeDivide has what is left of the count go on at the new speed.
func (a *LAPIC) writeDivide(v uint32) {
	left := a.current()
	a.r.Divide = v
	a.r.Start = a.clock.Now() - uint64(a.r.Initial-left)*a.divisor()
	a.arm()
}

// Next is when the timer raises an interrupt, or Never.
func (a *LAPIC) Next() uint64 {
	if a.r.LVT[lvtTimer]&lvtMasked != 0 {
		return Never
	}
	return a.r.Due
}

// Poll raises the timer's interrupt if it is due. Counts that have ended together are one.
func (a *LAPIC) Poll() {
	if a.Next() <= a.clock.Now() {
		a.arm()
		a.local(lvtTimer)
	}
}
