package device

import "io"

// An ARM64Timer is the generic timer of an arm64 CPU at EL1 (Arm ARM, D11): the counter and
// two timers on it, the virtual and the physical one. Its registers are system registers.
type ARM64Timer struct {
	clock Clock
	lines [2]Line // virtual, physical
	arm64TimerRegs
}

type arm64TimerRegs struct {
	Timers [2]struct {
		Compare uint64 // CVAL
		Control uint32 // CTL: enable, mask
		Raised  bool   // its line is high
	}
}

// CounterFrequency is how often the counter counts in a second; a count is 16 ns.
const CounterFrequency = 62_500_000

const nsPerCount = 1_000_000_000 / CounterFrequency

// NewARM64Timer makes the timers with the lines that they drive.
func NewARM64Timer(clock Clock, virtual, physical Line) *ARM64Timer {
	return &ARM64Timer{clock: clock, lines: [2]Line{virtual, physical}}
}

// Fields of a system register's name: op0, op1 and CRn are 3, 3 and 14 for all of these.
const (
	arm64TimerPhysical = 2 // CRm; 3 is the virtual timer, 0 the counter
	arm64TimerVirtual  = 3

	arm64TimerValue   = 0 // op2
	arm64TimerControl = 1
	arm64TimerCompare = 2

	arm64TimerEnable = 1 << 0
	arm64TimerMask   = 1 << 1
	arm64TimerStatus = 1 << 2
)

func (t *ARM64Timer) count() uint64 { return t.clock.Now() / nsPerCount }

// index is the timer that a register belongs to; the counter has none.
func (t *ARM64Timer) index(reg uint32) (i int, ok bool) {
	switch reg >> 3 & 15 {
	case arm64TimerVirtual:
		return 0, true
	case arm64TimerPhysical:
		return 1, true
	}
	return 0, false
}

// Read reads a register, named as an MRS names it: op0 in bits 15:14, op1 in 13:11, CRn in
// 10:7, CRm in 6:3, op2 in 2:0.
func (t *ARM64Timer) Read(reg uint32) uint64 {
	i, ok := t.index(reg)
	if !ok {
		return t.count()
	}
	r := &t.Timers[i]
	switch reg & 7 {
	case arm64TimerValue:
		return uint64(uint32(r.Compare - t.count()))
	case arm64TimerControl:
		v := uint64(r.Control)
		if r.Control&arm64TimerEnable != 0 && t.count() >= r.Compare {
			v |= arm64TimerStatus
		}
		return v
	case arm64TimerCompare:
		return r.Compare
	}
	return 0
}

// Write writes a register.
func (t *ARM64Timer) Write(reg uint32, v uint64) {
	i, ok := t.index(reg)
	if !ok {
		return
	}
	r := &t.Timers[i]
	switch reg & 7 {
	case arm64TimerValue:
		r.Compare = t.count() + uint64(int64(int32(v)))
	case arm64TimerControl:
		r.Control = uint32(v) & (arm64TimerEnable | arm64TimerMask)
	case arm64TimerCompare:
		r.Compare = v
	}
	t.Poll()
}

// due is when timer i raises its line, which it has not yet, or Never.
func (t *ARM64Timer) due(i int) uint64 {
	r := &t.Timers[i]
	if r.Control != arm64TimerEnable || r.Compare > Never/nsPerCount || r.Raised {
		return Never
	}
	return r.Compare * nsPerCount
}

// Next is the time of the next change of a line, or Never.
func (t *ARM64Timer) Next() uint64 { return min(t.due(0), t.due(1)) }

// Poll sets the lines to what they have to be at this time.
func (t *ARM64Timer) Poll() {
	for i, l := range t.lines {
		r := &t.Timers[i]
		r.Raised = r.Control == arm64TimerEnable && t.count() >= r.Compare
		l.Set(r.Raised)
	}
}

// Save writes the state of the timers. The lines' levels are part of the interrupt
// controller's.
func (t *ARM64Timer) Save(w io.Writer) error { return save(w, "arm64 timer", &t.arm64TimerRegs) }

// Parse reads what Save wrote.
func (t *ARM64Timer) Parse(r io.Reader, _ uint64) (set func(), err error) {
	return parse(r, "arm64 timer", &t.arm64TimerRegs, (*arm64TimerRegs).sound)
}

func (r *arm64TimerRegs) sound() bool {
	for _, t := range r.Timers {
		if t.Control&^(arm64TimerEnable|arm64TimerMask) != 0 || t.Raised && t.Control != arm64TimerEnable {
			return false
		}
	}
	return true
}
