package device

import "io"

// An SBI is the firmware of a riscv64 machine with one hart, as its supervisor sees it
// (RISC-V Supervisor Binary Interface Specification 1.0): base, timer, IPI, remote fence,
// hart state and system reset extensions, and the legacy calls.
type SBI struct {
	clock    Clock
	timer    Line
	software Line
	console  func(byte)
	end      func(Ending)
	sbiRegs
}

type sbiRegs struct {
	Deadline uint64 // of the timer, in ns, or Never
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

// NewSBI makes the firmware. It drives the lines of the timer's and the software interrupt,
// hands what the guest prints to console, and calls end when the guest wants to end.
func NewSBI(clock Clock, timer, software Line, console func(byte), end func(Ending)) *SBI {
	return &SBI{clock: clock, timer: timer, software: software, console: console, end: end, sbiRegs: sbiRegs{Never}}
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

// A SBICall is the registers of a call: a7, a6 and a0 to a5.
type SBICall struct {
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
		s.setTimer(c.Arg[0])
	case sbiPutchar:
		s.console(byte(c.Arg[0]))
	case sbiGetchar:
		return sbiFailed
	case sbiClearIPI:
		s.software.Set(false)
	case sbiSendIPI:
		s.software.Set(true)
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
		s.setTimer(c.Arg[0])
	case c.Extension == sbiIPI && c.Function == 0:
		if sbiSelected(c.Arg[0], c.Arg[1]) {
			s.software.Set(true)
		}
	case c.Extension == sbiFence && c.Function <= 6: // there is no other hart
	case c.Extension == sbiHart:
		return s.hart(c)
	case c.Extension == sbiReset && c.Function == 0:
		return s.reset(c.Arg[0]), 0
	default:
		return sbiNotSupported, 0
	}
	return 0, 0
}

// sbiSelected tells whether hart 0 is in the set of a mask from a base on, -1 being all.
func sbiSelected(mask, base uint64) bool { return base == ^uint64(0) || base == 0 && mask&1 != 0 }

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

// hart answers for the only hart: it is started, and cannot be started, stopped or asked
// for otherwise.
func (s *SBI) hart(c SBICall) (int64, uint64) {
	switch {
	case c.Function == 1, c.Function == 3:
		return sbiFailed, 0
	case c.Function > 3:
		return sbiNotSupported, 0
	case c.Arg[0] != 0:
		return sbiInvalid, 0
	case c.Function == 0:
		return sbiAlready, 0
	}
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

// setTimer sets the timer to a count of the time, and takes the interrupt back.
func (s *SBI) setTimer(count uint64) {
	s.Deadline = Never
	if count <= Never/nsPerTick {
		s.Deadline = count * nsPerTick
	}
	s.timer.Set(false)
	s.Poll()
}

// Next is when the timer raises its interrupt, or Never.
func (s *SBI) Next() uint64 { return s.Deadline }

// Poll raises the interrupt when it is due.
func (s *SBI) Poll() {
	if s.Deadline <= s.clock.Now() {
		s.Deadline = Never
		s.timer.Set(true)
	}
}

// Save writes the state of the timer. The lines are part of the CPU's.
func (s *SBI) Save(w io.Writer) error { return save(w, "SBI", &s.sbiRegs) }

// Load reads what Save wrote.
func (s *SBI) Load(r io.Reader) error { return load(r, "SBI", &s.sbiRegs) }
