package device

import "io"

// An ArmTimer is the generic timer of an arm64 CPU at EL1 (Arm ARM, D11): the counter and
// two timers on it, the virtual and the physical one. Its registers are system registers.
type ArmTimer struct {
	clock Clock
	lines [2]Line // virtual, physical
	armTimerRegs
}

type armTimerRegs struct {
	Timers [2]struct {
		Compare uint64 // CVAL
		Control uint32 // CTL: enable, mask
		Raised  bool   // its line is high
	}
}

// CounterFrequency is how often the counter counts in a second; a count is 16 ns.
const CounterFrequency = 62_500_000

const nsPerCount = 1_000_000_000 / CounterFrequency

// NewArmTimer makes the timers with the lines that they drive.
func NewArmTimer(clock Clock, virtual, physical Line) *ArmTimer {
	return &ArmTimer{clock: clock, lines: [2]Line{virtual, physical}}
}

// Fields of a system register's name: op0, op1 and CRn are 3, 3 and 14 for all of these.
const (
	armTimerPhysical = 2 // CRm; 3 is the virtual timer, 0 the counter
	armTimerVirtual  = 3

	armTimerValue   = 0 // op2
	armTimerControl = 1
	armTimerCompare = 2

	armTimerEnable = 1 << 0
	armTimerMask   = 1 << 1
	armTimerStatus = 1 << 2
)

func (t *ArmTimer) count() uint64 { return t.clock.Now() / nsPerCount }

// index is the timer that a register belongs to; the counter has none.
func (t *ArmTimer) index(reg uint32) (i int, ok bool) {
	switch reg >> 3 & 15 {
	case armTimerVirtual:
		return 0, true
	case armTimerPhysical:
		return 1, true
	}
	return 0, false
}

// Read reads a register, named as an MRS names it: op0 in bits 15:14, op1 in 13:11, CRn in
// 10:7, CRm in 6:3, op2 in 2:0.
func (t *ArmTimer) Read(reg uint32) uint64 {
	i, ok := t.index(reg)
	if !ok {
		return t.count()
	}
	r := &t.Timers[i]
	switch reg & 7 {
	case armTimerValue:
		return uint64(uint32(r.Compare - t.count()))
	case armTimerControl:
		v := uint64(r.Control)
		if r.Control&armTimerEnable != 0 && t.count() >= r.Compare {
			v |= armTimerStatus
		}
		return v
	case armTimerCompare:
		return r.Compare
	}
	return 0
}

// Write writes a register.
func (t *ArmTimer) Write(reg uint32, v uint64) {
	i, ok := t.index(reg)
	if !ok {
		return
	}
	r := &t.Timers[i]
	switch reg & 7 {
	case armTimerValue:
		r.Compare = t.count() + uint64(int64(int32(v)))
	case armTimerControl:
		r.Control = uint32(v) & (armTimerEnable | armTimerMask)
	case armTimerCompare:
		r.Compare = v
	}
	t.Poll()
}

// due is when timer i raises its line, which it has not yet, or Never.
func (t *ArmTimer) due(i int) uint64 {
	r := &t.Timers[i]
	if r.Control != armTimerEnable || r.Compare > Never/nsPerCount || r.Raised {
		return Never
	}
	return r.Compare * nsPerCount
}

// Next is the time of the next change of a line, or Never.
func (t *ArmTimer) Next() uint64 { return min(t.due(0), t.due(1)) }

// Poll sets the lines to what they have to be at this time.
func (t *ArmTimer) Poll() {
	for i, l := range t.lines {
		r := &t.Timers[i]
		r.Raised = r.Control == armTimerEnable && t.count() >= r.Compare
		l.Set(r.Raised)
	}
}

// Save writes the state of the timers. The lines' levels are part of the interrupt
// controller's.
func (t *ArmTimer) Save(w io.Writer) error { return save(w, "arm64 timer", &t.armTimerRegs) }

// Parse reads what Save wrote.
func (t *ArmTimer) Parse(r io.Reader, _ uint64) (set func(), err error) {
	return parse(r, "arm64 timer", &t.armTimerRegs, (*armTimerRegs).sound)
}

func (r *armTimerRegs) sound() bool {
	for _, t := range r.Timers {
		if t.Control&^(armTimerEnable|armTimerMask) != 0 || t.Raised && t.Control != armTimerEnable {
			return false
		}
	}
	return true
}
