package emu

import (
	"io"

	"trapline/emu/boot"
	"trapline/emu/device"
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// pc is the amd64 machine: an IBM PC/AT as far as a kernel without firmware needs it.
type pc struct {
	noDevices
	m      *Machine
	dev    *device.PC
	ioapic bool
}

// Trampolines lie between the image and the modules. Not lower: per-CPU accesses relative
// to RIP have targets near zero and wrap around (up to 0x33100 in Linux).
var _ = platforms.Row(arch.AMD64, wiring{
	platform:        newPC,
	slots:           []uint64{0xffffffffb0000000, 0xffffffff90000000},
	maxSMPMemory:    device.LAPICBase,
	maxIOAPICMemory: device.IOAPICBase,
	setUpSMP:        (*unicorn.Engine).SetAPIC,
})

func newPC(m *Machine, c Config) platform {
	p := &pc{m: m, ioapic: c.IOAPIC}
	if c.hasAPICs() {
		return newSMP(p, c)
	}
	p.dev = device.NewPC(clock{m}, intr{m.engine}, sink(c.Console), sink(c.Control), m.resetFor)
	return p
}

func (p *pc) Boot(b Boot) (*Placed, error) {
	placed, err := boot.AMD64(boot.Config{
		Kernel: b.Kernel, CommandLine: b.CommandLine, Initrd: b.Initrd, RAM: p.m.engine.RAM(), CPUs: len(p.m.cpus), IOAPIC: p.ioapic,
	})
	if err != nil {
		return nil, err
	}
	e := placed.Entry
	p.m.engine.Start(unicorn.Entry{
		RIP: e.RIP, RSI: e.RSI, RSP: e.RSP, CR3: e.CR3, GDT: e.GDTBase, GDTLimit: e.GDTLimit,
	})
	return placed, nil
}

func (p *pc) In(port uint16, size int) uint32         { return p.dev.Bus.In(port, size) }
func (p *pc) Out(port uint16, size int, value uint32) { p.dev.Bus.Out(port, size, value) }
func (p *pc) Ack() int                                { return p.dev.PIC.Ack() }
func (p *pc) Next() uint64                            { return p.dev.Next() }
func (p *pc) Wake() uint64                            { return p.dev.Wake() }
func (p *pc) Awake() bool                             { return p.m.engine.Line() }
func (p *pc) Poll()                                   { p.dev.Poll() }
func (p *pc) Save(w io.Writer) error                  { return p.dev.Save(w) }

func (p *pc) Parse(r io.Reader, now uint64) (set func(), err error) { return p.dev.Parse(r, now) }

func (p *pc) Send(port int, b []byte) {
	if port == 0 {
		p.dev.COM1.Receive(b)
	} else {
		p.dev.COM2.Receive(b)
	}
	p.m.reschedule()
}
