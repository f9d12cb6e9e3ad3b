package emu

import (
	"fmt"
	"io"

	"trapline/emu/device"
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// platform is the devices of a machine as its CPU sees them.
type platform interface {
	Boot(b Boot) (*Placed, error)
	unicorn.Devices
	// Walk is the physical address of va by the guest's page tables.
	Walk(va uint64) (pa uint64, ok bool)
	Next() uint64 // virtual time of the next event
	Wake() uint64 // virtual time of the next event that can raise an interrupt as things are
	Awake() bool  // an interrupt stands that ends the CPU's wait
	Poll()        // carry out what is due
	Send(port int, p []byte)
	Save(w io.Writer) error
	Parse(r io.Reader, now uint64) (set func(), err error) // as device.State has it
}

// noDevices is what a CPU does not have. A platform embeds it, and has what its CPU has.
type noDevices struct{}

func (noDevices) Ack() int                   { return 0 }
func (noDevices) In(uint16, int) uint32      { return 0 }
func (noDevices) Out(uint16, int, uint32)    {}
func (noDevices) Load(uint64, int) uint64    { return 0 }
func (noDevices) Store(uint64, int, uint64)  {}
func (noDevices) Call()                      {}
func (noDevices) ReadSystem(uint32) uint64   { return 0 }
func (noDevices) WriteSystem(uint32, uint64) {}

// wiring is how the machine of an architecture is put together.
type wiring struct {
	platform func(*Machine, Config) platform
	// slots are places for the trampolines in the guest's kernel half, best first: outside
	// what its kernels use, and within reach of their text where that matters.
	slots []uint64
	disks int  // how many there may be
	bare  bool // it can do without our firmware
	// maxSMPMemory limits RAM on a guest with several CPUs; 0 means no limit.
	maxSMPMemory    uint64
	maxIOAPICMemory uint64 // the same where there is an I/O APIC
	// setUpSMP gives one of several CPUs, or of those with an I/O APIC, what it needs for that; may
	// be nil.
	setUpSMP func(*unicorn.Engine) error
}

// platforms has the machine of each architecture.
var platforms arch.Table[wiring]

// check returns an error if a machine of this kind cannot have what c wants.
func (w wiring) check(a *arch.Arch, c Config) error {
	switch {
	case c.NoFirmware && !w.bare:
		return fmt.Errorf("%s guests cannot do without firmware here: that is for riscv64", a)
	case c.CPUs > MaxCPUs:
		return fmt.Errorf("cannot have %d CPUs (1 to %d)", c.CPUs, MaxCPUs)
	case c.CPUs > 1 && w.maxSMPMemory > 0 && c.Memory > w.maxSMPMemory:
		return fmt.Errorf("%d CPUs with %d MiB of memory: %s guests can have %d MiB then", c.CPUs, c.Memory>>20, a, w.maxSMPMemory>>20)
	case c.IOAPIC && w.maxIOAPICMemory > 0 && c.Memory > w.maxIOAPICMemory:
		return fmt.Errorf("%d MiB of memory: such guests can have %d MiB", c.Memory>>20, w.maxIOAPICMemory>>20)
	}
	return w.checkDisks(c)
}

// checkDisks returns an error if a machine of this kind cannot have the disks of c.
func (w wiring) checkDisks(c Config) error {
	switch n := len(c.Disks); {
	case n > 0 && w.disks == 0:
		return fmt.Errorf("this machine has no disks: use arm64 or riscv64")
	case n > w.disks:
		return fmt.Errorf("%d disks: the machine has room for %d", n, w.disks)
	}
	for _, f := range c.Disks {
		if size := f.Size(); size == 0 || size%device.SectorSize != 0 {
			return fmt.Errorf("a disk image of %d bytes: it must be a multiple of %d, one sector or more", size, device.SectorSize)
		}
	}
	return nil
}

// setUp gives several CPUs what each needs for that.
func (w wiring) setUp(c Config, cpus []*cpu) error {
	if !c.hasAPICs() || w.setUpSMP == nil {
		return nil
	}
	for _, c := range cpus {
		if err := w.setUpSMP(c.Engine); err != nil {
			return err
		}
	}
	return nil
}

// clock is the clock of the devices: that of the CPU that reaches them.
type clock struct{ m *Machine }

func (c clock) Now() uint64 { return c.m.engine.Clock() }

// intr is the CPU's interrupt line.
type intr struct{ *unicorn.Engine }

func (i intr) Set(high bool) { i.SetLine(high) }

// sink is f, or what takes bytes and drops them.
func sink(f func(byte)) func(byte) {
	if f == nil {
		return func(byte) {}
	}
	return f
}

// host is what the devices of a virt machine reach. Firmware is whom its guest asks for the
// end.
func (m *Machine) host(c Config, firmware string) device.Host {
	h := device.Host{
		Clock: clock{m}, Memory: dma{m},
		Console: sink(c.Console), Control: sink(c.Control), End: m.endFor(firmware),
	}
	for _, f := range c.Disks {
		h.Disks = append(h.Disks, device.NewDisk(f, f.Size()))
	}
	return h
}

// endFor carries out what the guest asks of its firmware.
func (m *Machine) endFor(firmware string) func(device.Ending) {
	return func(e device.Ending) {
		if e == device.PowerOff {
			m.powerOff()
		} else {
			m.resetFor("firmware (" + firmware + ")")
		}
	}
}

// powerOff and resetFor end the run as the guest asks for it.
func (m *Machine) powerOff() {
	m.off = true
	m.Stop()
}

func (m *Machine) resetFor(string) {
	m.reset = true
	m.Stop()
}
