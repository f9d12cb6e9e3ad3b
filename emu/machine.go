// Package emu is where a guest runs: a machine over the Unicorn engine, with memory, a
// clock, devices and breakpoints. It knows nothing of probes, images or D.
//
//	Machine --- turns         the CPUs, each a unicorn.Engine: code, exceptions, clock, breakpoints in text
//	   |------- platform      the devices, wired for an architecture (amd64.go and its like)
//	   |------- schedule      who is next on the clock: devices, a tick, the limit
//	   |------- breakpoints   what is planted where, and what is called at a hit
//	   '------- Translations  code that is kept from one process to the next
//
// A run is reproducible: its course depends on what Boot placed, on the bytes handed to
// the serial ports between runs, and on nothing else.
package emu

import (
	"fmt"

	"trapline/emu/boot"
	"trapline/emu/interleave"
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// Sizes of guest memory, in bytes.
const (
	MinMemory = 16 << 20
	MaxMemory = 4 << 30
	pageSize  = 4096
)

const defaultCodeBuffer = 256 << 20

// ErrBusy is wrapped by New while another machine is open in this process.
var ErrBusy = unicorn.ErrBusy

// Config is what a machine is made of.
type Config struct {
	Memory     uint64 // bytes of RAM, a multiple of 4096
	CodeBuffer uint64 // bytes for translated code; 0: 256 MiB
	// Console and Control take what the guest sends on its first and second serial port.
	Console, Control func(byte)
	// InPlace puts breakpoints into the guest's own text, as a live tracer does, where
	// the guest can see them. Otherwise fetches and data accesses see different pages.
	InPlace bool
	// Hooked makes breakpoints fire by the emulator's code hook: nothing is planted in the
	// guest, whatever InPlace says, and displaced instructions run where they are.
	Hooked bool
	// Shared makes trampolines code of the guest's like any other, where it takes interrupts and
	// whose addresses it sees, and has breakpoints take turns in them (Machine.UseSlot).
	Shared bool
	// Disks are images of disks, of whole sectors of 512 bytes. They are never changed: what
	// the guest writes stays in the machine.
	Disks []boot.File
	// CPUs is how many CPUs there are, 0 for one.
	CPUs int
	// IOAPIC gives an amd64 machine an I/O APIC, and local APICs also where there is one CPU. Others
	// have no use for it.
	IOAPIC bool
	// NoFirmware leaves out our firmware: the kernel, an ELF file, is entered at its entry in
	// machine mode, with the devices that this needs (riscv64).
	NoFirmware bool
}

// hasAPICs reports whether an amd64 machine has local APICs.
func (c Config) hasAPICs() bool { return c.CPUs > 1 || c.IOAPIC }

// End says why a run has ended.
type End uint8

// Ends of a run.
const (
	Stopped  End = iota // Stop was called
	Limit               // the limit of virtual time was reached
	Halt                // the CPU was halted with interrupts off
	Reset               // the guest asked for a reset of the machine
	Hang                // idle, and nothing can wake the guest
	Triple              // triple fault
	Failed              // the emulator gave up; the error says more
	PowerOff            // the guest asked its firmware to switch the machine off
)

// A Machine is one guest computer. Its methods may be called from one goroutine at a
// time, Stop from any.
type Machine struct {
	arch     *arch.Arch
	platform platform
	text     textMap
	turns
	schedule
	breakpoints
	translations Translations

	running bool
	latest  uint64 // what Now has returned last while CPUs ran
	placed  bool   // there is a guest: of Boot or of Load
	limited bool   // the limit was reached
	reset   bool   // the guest has asked for it
	off     bool   // the guest has switched itself off
}

// New makes a machine for the guest architecture a. One is open at a time in a process.
func New(a *arch.Arch, c Config) (*Machine, error) {
	if c.Memory < MinMemory || c.Memory > MaxMemory || c.Memory%pageSize != 0 {
		return nil, fmt.Errorf("guest memory of %d bytes: it must be %d MiB to %d GiB, in whole pages",
			c.Memory, MinMemory>>20, MaxMemory>>30)
	}
	wire, ok := platforms.Of(a)
	if !ok {
		return nil, fmt.Errorf("no machine for %s guests", a)
	}
	c.CPUs = max(c.CPUs, 1)
	if err := wire.check(a, c); err != nil {
		return nil, err
	}
	if c.CodeBuffer == 0 {
		c.CodeBuffer = defaultCodeBuffer
	}
	c.InPlace = c.InPlace && !c.Hooked
	m := &Machine{arch: a}
	m.turns = turns{m: m, policy: interleave.RoundRobin(interleave.Quantum)}
	m.breakpoints = breakpoints{m: m, inPlace: c.InPlace, shared: c.Shared}
	m.schedule = schedule{m: m, tickAt: Never, limit: Never, checkAt: Never}
	m.translations.m = m
	if err := m.open(wire, c); err != nil {
		return nil, fmt.Errorf("making a machine: %w", err)
	}
	m.platform = wire.platform(m, c)
	m.setSlots(noSlots)
	return m, nil
}

// open opens the engines.
func (m *Machine) open(w wiring, c Config) (err error) {
	if m.engine, err = unicorn.Open(m.arch, c.Memory, c.CodeBuffer, handler{m}); err != nil {
		return err
	}
	m.cpus = []*cpu{{Engine: m.engine}}
	for len(m.cpus) < c.CPUs {
		e, err := m.engine.Another(c.CodeBuffer)
		if err != nil {
			m.engine.Close()
			return err
		}
		m.cpus = append(m.cpus, &cpu{Engine: e, off: true})
	}
	if err := w.setUp(c, m.cpus); err != nil {
		m.engine.Close()
		return err
	}
	m.engine.SetInPlace(c.InPlace)
	m.engine.SetHooked(c.Hooked)
	if c.Shared {
		m.engine.ShareSlots()
	}
	return nil
}

// Close frees the machine. Closing it again does nothing.
func (m *Machine) Close() { m.engine.Close() }

// Arch is the guest's architecture.
func (m *Machine) Arch() *arch.Arch { return m.arch }

// Memory is the guest's RAM in bytes.
func (m *Machine) Memory() uint64 { return uint64(len(m.engine.RAM())) }

// Boot places a kernel and puts the CPU at its entry.
func (m *Machine) Boot(b Boot) (*Placed, error) {
	p, err := m.platform.Boot(b)
	if err != nil {
		return nil, err
	}
	m.placed = true
	if p.Image != nil {
		m.text = textMap{p.Image.Virt, p.Image.Phys, p.Image.Size}
		m.AvoidSlots(p.Image.Virt, p.Image.Virt+p.Image.Size)
	}
	return p, nil
}

// Run runs the guest until the run ends. After Stopped it can be run again.
func (m *Machine) Run() (End, error) {
	m.limited, m.running = false, true
	defer func() { m.running = false }()
	why, err := m.runCPUs()
	switch {
	case err != nil:
		return Failed, err
	case m.off:
		return PowerOff, nil
	case m.reset:
		return Reset, nil
	case m.limited:
		return Limit, nil
	}
	switch why {
	case unicorn.Stopped:
		return Stopped, nil
	case unicorn.Halted:
		return Halt, nil
	case unicorn.Hung:
		return Hang, nil
	case unicorn.Triple:
		return Triple, nil
	}
	return Failed, fmt.Errorf("emulating: the engine stopped for no known reason (%d)", why)
}

// Stop ends a run soon: at the next instant the guest could take an interrupt. It may be
// called from any goroutine and from a callback; with no run under way it ends the next.
func (m *Machine) Stop() { m.cpus[0].Stop() }

// Running reports whether a run is under way: true in a callback.
func (m *Machine) Running() bool { return m.running }

// Regs are the registers of the CPU that runs, or has run last.
func (m *Machine) Regs() arch.Regs { return m.engine }

// RegsOf are the registers of one CPU.
func (m *Machine) RegsOf(cpu int) arch.Regs { return m.cpus[cpu] }

// Waits reports whether one CPU waits for an interrupt, or is off.
func (m *Machine) Waits(cpu int) bool { return m.cpus[cpu].idle || m.cpus[cpu].off }

// Now is the virtual time in nanoseconds: exact during a callback, otherwise that of the
// end of the run. With several CPUs it is that of the one that runs, but never earlier than
// what Now has returned before, and in the end that of the one that is furthest.
func (m *Machine) Now() uint64 {
	switch {
	case !m.running:
		return m.furthest()
	case len(m.cpus) > 1:
		m.latest = max(m.latest, m.present())
		return m.latest
	}
	return m.present()
}

// present is the time of the CPU that runs, or has run last.
func (m *Machine) present() uint64 {
	if m.deferred != nil {
		return m.deferred.Now
	}
	if m.running {
		return m.engine.Clock()
	}
	return m.engine.Total()
}

// furthest is the latest time of a CPU. It does not depend on when Now has been asked for.
func (m *Machine) furthest() (at uint64) {
	for _, c := range m.cpus {
		at = max(at, c.Total())
	}
	return at
}

// Send hands bytes to the guest's serial port: 0 is the console, 1 the control channel.
// The guest receives them as fast as it takes them.
func (m *Machine) Send(port int, p []byte) { m.platform.Send(port, p) }

// Flush forgets all translated addresses, so that the guest goes on as one does that has
// just been loaded into memory. Only between runs.
func (m *Machine) Flush() {
	for _, c := range m.cpus {
		c.Flush()
	}
	m.latest = 0
}

// Counters are what the machine has counted so far.
func (m *Machine) Counters() (sum unicorn.Counters) {
	for _, c := range m.cpus {
		sum = sum.Add(c.Counters())
	}
	return sum
}

// LibraryVersion is the version of the emulator library, or an error that says which one
// is needed.
func LibraryVersion() (string, error) {
	return unicorn.Version(), unicorn.Check()
}
