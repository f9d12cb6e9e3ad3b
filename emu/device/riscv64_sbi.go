package device

import "io"

// An SBI is the firmware of a riscv64 machine, as its supervisor sees it
// (RISC-V Supervisor Binary Interface Specification 1.0): base, timer, IPI, remote fence,
// hart state and system reset extensions, and the legacy calls.
type SBI struct {
	clock   Clock
	harts   []SBIHart
	console func(byte)
	end     func(Ending)
	// deadlines of the harts' timers, in ns, or Never
	deadlines []uint64
}

// An SBIHart is what the firmware can do to a hart, whose number is its index.
type SBIHart struct {
	Timer, Software Line // its interrupts
	// Control is nil where there is only one hart, which has been started and stays so.
	Control HartControl
}

// HartControl starts and stops a hart.
type HartControl interface {
	CPUControl
	FlushTLB()
}

// CPUControl is what firmware can do to a CPU.
type CPUControl interface {
	Started() bool
	// Start has it begin at the physical address pc as firmware enters a kernel, with the word
	// that the kernel has given for it: in a1 (riscv64) or x0 (arm64).
	Start(pc, word uint64)
	Stop() // only the CPU that calls
}

// An Ending is what a guest asks of its firmware for the end.
type Ending uint8

// Endings.
const (
	PowerOff Ending = iota
	Reboot
)

// TimebaseFrequency is how often the time counter of a riscv64 machine counts in a second;
// a count is 100 ns.
const TimebaseFrequency = 10_000_000

const nsPerTick = 1_000_000_000 / TimebaseFrequency

// NewSBI makes the firmware. It hands what the guest prints to console, and calls end when the
// guest wants to end. The clock is that of the hart that calls.
func NewSBI(clock Clock, harts []SBIHart, console func(byte), end func(Ending)) *SBI {
	s := &SBI{clock: clock, harts: harts, console: console, end: end}
	for range harts {
		s.deadlines = append(s.deadlines, Never)
	}
	return s
}

// Extensions by their numbers: below 9 the legacy calls, one each.
const (
	sbiSetTimer, sbiPutchar, sbiGetchar, sbiClearIPI, sbiSendIPI = 0, 1, 2, 3, 4
	sbiShutdown                                                  = 8

	sbiBase  = 0x10
	sbiTime  = 0x54494d45 // "TIME"
	sbiIPI   = 0x735049   // "sPI"
	sbiFence = 0x52464e43 // "RFNC"
	sbiHart  = 0x48534d   // "HSM"
	sbiReset = 0x53525354 // "SRST"
)

// Errors.
const (
	sbiFailed       = -1
	sbiNotSupported = -2
	sbiInvalid      = -3
	sbiAlready      = -6 // available, or started
)

const (
	sbiVersion    = 1 << 24 // 1.0
	sbiOurNumber  = 0x7472  // implementation ID: none of the registered ones
	sbiOurVersion = 1
)

// A SBICall is a call: the hart that makes it, and its registers a7, a6 and a0 to a5.
type SBICall struct {
	Hart                int
	Extension, Function uint64
	Arg                 [6]uint64
}

// Call carries out a call. The legacy ones return nothing in a1, which is left alone.
func (s *SBI) Call(c SBICall) (code int64, value uint64, legacy bool) {
	if c.Extension <= sbiShutdown {
		return s.legacy(c), 0, true
	}
	code, value = s.call(c)
	return code, value, false
}

func (s *SBI) legacy(c SBICall) int64 {
	switch c.Extension {
	case sbiSetTimer:
		s.setTimer(c.Hart, c.Arg[0])
	case sbiPutchar:
		s.console(byte(c.Arg[0]))
	case sbiGetchar:
		return sbiFailed
	case sbiClearIPI:
		s.harts[c.Hart].Software.Set(false)
	case sbiSendIPI:
		s.sendIPI(^uint64(0), ^uint64(0)) // the mask is in memory: all may think it is for them
	case sbiShutdown:
		s.end(PowerOff)
	}
	return 0
}

func (s *SBI) call(c SBICall) (int64, uint64) {
	switch {
	case c.Extension == sbiBase:
		return s.base(c)
	case c.Extension == sbiTime && c.Function == 0:
		s.setTimer(c.Hart, c.Arg[0])
	case c.Extension == sbiIPI && c.Function == 0:
		s.sendIPI(c.Arg[0], c.Arg[1])
	case c.Extension == sbiFence && c.Function <= 6:
		s.fence(c.Function, c.Arg[0], c.Arg[1])
	case c.Extension == sbiHart:
		return s.hart(c)
	case c.Extension == sbiReset && c.Function == 0:
		return s.reset(c.Arg[0]), 0
	default:
		return sbiNotSupported, 0
	}
	return 0, 0
}

// sbiSelected reports whether a hart is in the set of a mask from a base on, -1 being all.
func sbiSelected(hart int, mask, base uint64) bool {
	bit := uint64(hart) - base
	return base == ^uint64(0) || bit < 64 && mask>>bit&1 != 0
}

func (s *SBI) sendIPI(mask, base uint64) {
	for i, h := range s.harts {
		if sbiSelected(i, mask, base) {
			h.Software.Set(true)
		}
	}
}

// fence: what a hart has stored others execute without it (function 0), but what they have
// translated they keep.
func (s *SBI) fence(function, mask, base uint64) {
	for i, h := range s.harts {
		if function != 0 && h.Control != nil && sbiSelected(i, mask, base) {
			h.Control.FlushTLB()
		}
	}
}

func (s *SBI) base(c SBICall) (int64, uint64) {
	switch c.Function {
	case 0:
		return 0, sbiVersion
	case 1:
		return 0, sbiOurNumber
	case 2:
		return 0, sbiOurVersion
	case 3:
		return 0, sbiProbe(c.Arg[0])
	case 4, 5, 6: // vendor, architecture and implementation of the hart
		return 0, 0
	}
	return sbiNotSupported, 0
}

func sbiProbe(extension uint64) uint64 {
	switch extension {
	case sbiSetTimer, sbiPutchar, sbiGetchar, sbiClearIPI, sbiSendIPI, 5, 6, 7, sbiShutdown,
		sbiBase, sbiTime, sbiIPI, sbiFence, sbiHart, sbiReset:
		return 1
	}
	return 0
}

// Functions of the extension for harts.
const (
	hartStart = iota
	hartStop
	hartStatus
	hartSuspend
)

const hartStopped = 1 // of hartStatus; 0 is started

// hart starts and stops harts; none is suspended, they wait by themselves.
func (s *SBI) hart(c SBICall) (int64, uint64) {
	switch {
	case c.Function == hartStop && s.harts[c.Hart].Control != nil:
		s.harts[c.Hart].Control.Stop()
		return 0, 0
	case c.Function == hartStop, c.Function == hartSuspend:
		return sbiFailed, 0
	case c.Function > hartSuspend:
		return sbiNotSupported, 0
	case c.Arg[0] >= uint64(len(s.harts)):
		return sbiInvalid, 0
	}
	control := s.harts[c.Arg[0]].Control
	started := control == nil || control.Started()
	switch {
	case c.Function == hartStatus && !started:
		return 0, hartStopped
	case c.Function == hartStatus:
		return 0, 0
	case started:
		return sbiAlready, 0
	}
	control.Start(c.Arg[1], c.Arg[2])
	return 0, 0
}

func (s *SBI) reset(kind uint64) int64 {
	switch kind {
	case 0:
		s.end(PowerOff)
	case 1, 2:
		s.end(Reboot)
	default:
		return sbiInvalid
	}
	return 0
}

// setTimer sets a hart's timer to a count of the time, and takes the interrupt back.
func (s *SBI) setTimer(hart int, count uint64) {
	s.deadlines[hart] = Never
	if count <= Never/nsPerTick {
		s.deadlines[hart] = count * nsPerTick
	}
	s.harts[hart].Timer.Set(false)
	s.Poll(hart)
}

// Next is when a hart's timer raises its interrupt, or Never.
func (s *SBI) Next(hart int) uint64 { return s.deadlines[hart] }

// Poll raises the interrupt of a hart's timer when it is due.
func (s *SBI) Poll(hart int) {
	if s.deadlines[hart] <= s.clock.Now() {
		s.deadlines[hart] = Never
		s.harts[hart].Timer.Set(true)
	}
}

// Save writes the state of the timers. The lines are part of the CPUs'.
func (s *SBI) Save(w io.Writer) error { return save(w, "SBI", s.deadlines) }

// Parse reads what Save wrote.
func (s *SBI) Parse(r io.Reader, _ uint64) (set func(), err error) {
	deadlines := make([]uint64, len(s.deadlines))
	if err := load(r, "SBI", deadlines); err != nil {
		return nil, err
	}
	return func() { s.deadlines = deadlines }, nil
}
