package emu

import (
	"debug/elf"
	"io"

	"trapline/emu/boot"
	"trapline/emu/device"
	"trapline/kernel/arch"
)

// arm64 is the arm64 machine: QEMU's virt with Cortex-A57s, GICv2 and PSCI.
type arm64 struct {
	noDevices
	m   *Machine
	dev *device.ARM64Virt
}

// Trampolines lie above everything that Linux maps.
var _ = platforms.Row(arch.ARM64, wiring{
	platform: newARM64,
	slots:    []uint64{0xffffffffd0000000, 0xffffffffc0000000},
	disks:    device.VirtDisks,
})

// core is a CPU.
type core struct{ cpuControl }

// Set sets its interrupt line, which ends a wait whether or not interrupts are masked.
func (c *core) Set(high bool) {
	c.SetLine(high)
	if high && c.idle {
		c.m.wake(c.cpu)
	}
}

// Start implements device.CPUControl.
func (c *core) Start(pc, context uint64) {
	c.StartARM64(pc, context)
	c.FlushTLB()
	c.m.wake(c.cpu)
}

func newARM64(m *Machine, c Config) platform {
	p := &arm64{m: m}
	var cpus []device.ARM64CPU
	for _, c := range m.cpus {
		core := &core{cpuControl{c, m}}
		cpus = append(cpus, device.ARM64CPU{IRQ: core, Control: core})
	}
	if len(cpus) == 1 {
		cpus[0].Control = nil
	}
	p.dev = device.NewARM64Virt(m.host(c, "PSCI"), cpus)
	return p
}

func (p *arm64) Boot(b Boot) (*Placed, error) {
	placed, err := boot.Virt(boot.Config{
		Kernel: b.Kernel, CommandLine: b.CommandLine, Initrd: b.Initrd, RAM: p.m.engine.RAM(),
	}, boot.VirtMachine{ELF: elf.EM_AARCH64, Base: p.m.engine.RAMBase(), Tree: p.tree})
	if err != nil {
		return nil, err
	}
	p.m.AvoidSlots(0, 0) // no kernel comes to lie there
	p.m.engine.StartARM64(placed.PC, placed.Tree.Base)
	return placed, nil
}

// cpu is the number of the CPU that runs.
func (p *arm64) cpu() int { return p.m.engine.ID() }

func (p *arm64) Load(pa uint64, size int) uint64 { return uint64(p.dev.Buses[p.cpu()].Load(pa, size)) }
func (p *arm64) Store(pa uint64, size int, value uint64) {
	p.dev.Buses[p.cpu()].Store(pa, size, uint32(value))
}
func (p *arm64) ReadSystem(reg uint32) uint64         { return p.dev.Timers[p.cpu()].Read(reg) }
func (p *arm64) WriteSystem(reg uint32, value uint64) { p.dev.Timers[p.cpu()].Write(reg, value) }
func (p *arm64) Next() uint64                         { return p.dev.Next(p.cpu()) }
func (p *arm64) Wake() uint64                         { return p.dev.Wake(p.cpu()) }
func (p *arm64) Poll()                                { p.dev.Poll(p.cpu()) }
func (p *arm64) Awake() bool                          { return p.m.engine.Line() }
func (p *arm64) Save(w io.Writer) error               { return p.dev.Save(w) }
func (p *arm64) Parse(r io.Reader, now uint64) (set func(), err error) {
	return p.dev.Parse(r, now)
}

// Call is a PSCI call: its number in w0, arguments from x1 on, the result in x0.
func (p *arm64) Call() {
	e := p.m.engine
	c := device.PSCICall{CPU: e.ID(), Number: uint32(e.Reg(arch.ARM64X0))}
	for i := range c.Arg {
		c.Arg[i] = e.Reg(arch.ARM64X0 + 1 + arch.Reg(i))
	}
	e.SetReg(arch.ARM64X0, uint64(p.dev.PSCI.Call(c)))
}

func (p *arm64) Send(port int, b []byte) {
	p.dev.UARTs[port].Receive(b)
	p.m.reschedule()
}

// Bits of TCR_EL1, SCTLR_EL1 and of translation tables with pages of 4 KiB (Arm ARM, D5.3).
const (
	sctlrMMU = 1 << 0
	tcrT0SZ  = 0
	tcrT1SZ  = 16
	tcrTG1   = 30 // 2: 4 KiB
	tcrTG0   = 14 // 0: 4 KiB

	adescValid = 1 << 0
	adescTable = 1 << 1 // or, at the last level, a page
	adescAddr  = 0x0000fffffffff000
)

// Walk follows the tables of TTBR1 for addresses with ones on top, of TTBR0 for those
// with zeros.
func (p *arm64) Walk(va uint64) (uint64, bool) {
	m := p.m
	tcr, table := m.reg(arch.ARM64TCR), m.reg(arch.ARM64TTBR0)
	size, granule := tcr>>tcrT0SZ&63, tcr>>tcrTG0&3 == 0
	high := int64(va) < 0
	if high {
		size, granule, table = tcr>>tcrT1SZ&63, tcr>>tcrTG1&3 == 2, m.reg(arch.ARM64TTBR1)
	}
	top := uint64(int64(va) >> (64 - size))
	if m.reg(arch.ARM64SCTLR)&sctlrMMU == 0 || !granule || size == 0 || top+1 > 1 {
		return 0, false
	}
	table &= adescAddr
	for shift := 12 + (64-int(size)-13)/9*9; shift >= 12; shift -= 9 {
		desc, ok := m.word(table + va>>shift&511*8)
		if !ok || desc&adescValid == 0 {
			return 0, false
		}
		table = desc & adescAddr
		if desc&adescTable == 0 || shift == 12 {
			within := uint64(1)<<shift - 1
			pa := table&^within | va&within
			_, ok := m.inRAM(pa, true)
			return pa, ok
		}
	}
	return 0, false
}
