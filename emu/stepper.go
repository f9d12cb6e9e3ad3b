package emu

import (
	"slices"

	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// A Stepper executes single instructions of a guest, each from a state that it is given, in
// place or displaced by the breakpoint that stands there, and takes back what they have done.
// Devices and firmware are not there: what an instruction asks of them is part of its outcome.
type Stepper struct {
	m       *Machine
	engine  *unicorn.Stepper
	devices [2]deviceLog // in place, displaced
}

// How an instruction is stepped.
type How = unicorn.How

// Step makes a stepper of a machine that stands still. The machine can run no more, but after what
// is done Aside.
func (m *Machine) Step() (*Stepper, error) {
	s, err := m.engine.NewStepper()
	if err != nil {
		return nil, err
	}
	return &Stepper{m: m, engine: s}, nil
}

// Close frees what the stepper has. It comes before the machine's.
func (s *Stepper) Close() { s.engine.Close() }

// Aside calls f, which steps, and puts the machine back into the state in which it was before. A run
// goes on from there.
func (s *Stepper) Aside(f func()) error {
	defer s.m.engine.SetHandler(handler{s.m})
	return s.engine.Aside(f)
}

// Window is memory that only stepped instructions see: its virtual address and its content.
// The pages around it are not there.
func (s *Stepper) Window() (addr uint64, memory []byte) { return s.engine.Window() }

// Regs are the registers of the CPU, for making a state.
func (s *Stepper) Regs() arch.Regs { return s.m.engine }

// State copies the CPU as it is, and SetState makes a copy the CPU's state.
func (s *Stepper) State() []byte     { return s.engine.State() }
func (s *Stepper) SetState(b []byte) { s.engine.SetState(b) }

// An Outcome is what has come of the last step in place, or of the last one displaced. The
// next such step replaces it.
type Outcome struct {
	*unicorn.Outcome
	devices []deviceAccess
}

// Step executes the instruction at which the CPU stands in a state.
func (s *Stepper) Step(state []byte, how How) Outcome {
	log := &s.devices[0]
	if how.Displaced {
		log = &s.devices[1]
	}
	log.all = log.all[:0]
	s.m.engine.SetHandler(log)
	return Outcome{s.engine.Step(state, how), log.all}
}

// Differ says in words in what two outcomes differ, "" if in nothing.
func (o Outcome) Differ(p Outcome) string {
	if !slices.Equal(o.devices, p.devices) {
		return "accesses to devices"
	}
	return o.Outcome.Differ(p.Outcome)
}

// A deviceAccess is one to a device or to the firmware.
type deviceAccess struct {
	what        string
	addr, value uint64
	size        int
}

// A deviceLog answers for all devices, and remembers what was asked.
type deviceLog struct{ all []deviceAccess }

// stepVector is the interrupt that stands when one does.
const stepVector = 0x30

func (l *deviceLog) note(what string, addr uint64, size int, value uint64) uint64 {
	l.all = append(l.all, deviceAccess{what, addr, value, size})
	return 0x5a5a5a5a5a5a5a5a
}

func (l *deviceLog) Deadline()                     {}
func (l *deviceLog) Hit(uint64)                    {}
func (l *deviceLog) Deferred(*unicorn.DeferredHit) {}
func (l *deviceLog) Rewrite(uint64)                {}
func (l *deviceLog) Call()                         { l.note("call", 0, 0, 0) }
func (l *deviceLog) Ack() int                      { l.note("ack", 0, 0, 0); return stepVector }

func (l *deviceLog) Idle() unicorn.End {
	l.note("idle", 0, 0, 0)
	return unicorn.Hung
}

func (l *deviceLog) In(port uint16, size int) uint32 {
	return uint32(l.note("in", uint64(port), size, 0))
}

func (l *deviceLog) Out(port uint16, size int, v uint32) {
	l.note("out", uint64(port), size, uint64(v))
}

func (l *deviceLog) Load(pa uint64, size int) uint64 { return l.note("load", pa, size, 0) }

func (l *deviceLog) Store(pa uint64, size int, v uint64) { l.note("store", pa, size, v) }

func (l *deviceLog) ReadSystem(reg uint32) uint64 { return l.note("read", uint64(reg), 0, 0) }

func (l *deviceLog) WriteSystem(reg uint32, v uint64) { l.note("write", uint64(reg), 0, v) }
