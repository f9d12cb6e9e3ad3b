package emu

import (
	"debug/elf"
	"io"

	"trapline/emu/boot"
	"trapline/emu/device"
	"trapline/emu/internal/unicorn"
	"trapline/kernel/arch"
)

// riscv64 is the riscv64 machine: QEMU's virt with our firmware.
type riscv64 struct {
	noDevices
	m   *Machine
	dev *device.RISCV64Virt

	foreign bool // firmware that is not ours comes before the kernel
}

// Trampolines lie above what Linux uses: its image and modules end 256 MiB below the top.
var _ = platforms.Row(arch.RISCV64, wiring{
	platform: newRISCV64,
	slots:    []uint64{0xffffffffe0000000, 0xffffffffc0000000},
	disks:    device.VirtDisks,
	bare:     true,
})

// interrupt is one of a CPU's interrupts.
type interrupt struct {
	*hart
	which uint8
}

func (i interrupt) Set(high bool) {
	i.SetInterrupt(i.which, high)
	if high && i.idle && i.awake() {
		i.m.wake(i.cpu)
	}
}

// hart is a CPU.
type hart struct{ cpuControl }

// awake: an interrupt stands that ends its wait.
func (h *hart) awake() bool { return h.Reg(arch.RISCV64MIP)&h.Reg(arch.RISCV64MIE) != 0 }

// Start implements device.CPUControl.
func (h *hart) Start(pc, opaque uint64) {
	h.StartRISCV64(pc, opaque)
	h.SetInterrupt(0xff, false)
	h.FlushTLB()
	h.m.wake(h.cpu)
}

func newRISCV64(m *Machine, c Config) platform {
	p := &riscv64{m: m}
	if c.NoFirmware {
		p.dev = device.NewBareRISCV64Virt(m.host(c, "none"), p.bareHarts()...)
		return p
	}
	var cpus []device.RISCV64CPU
	for _, c := range m.cpus {
		h := &hart{cpuControl{c, m}}
		cpus = append(cpus, device.RISCV64CPU{RISCV64Lines: h.lines(), Control: h})
	}
	if len(cpus) == 1 {
		cpus[0].Control = nil
	}
	p.dev = device.NewRISCV64Virt(m.host(c, "SBI"), cpus)
	return p
}

// bareHarts gives machine mode of all CPUs to the guest, and returns their lines.
func (p *riscv64) bareHarts() (lines []device.RISCV64Lines) {
	for _, c := range p.m.cpus {
		c.SetBare()
		lines = append(lines, (&hart{cpuControl{c, p.m}}).lines())
	}
	return lines
}

func (h *hart) lines() device.RISCV64Lines {
	line := func(which uint8) device.Line { return interrupt{h, which} }
	return device.RISCV64Lines{
		External: line(unicorn.RISCV64External),
		Timer:    line(unicorn.RISCV64Timer),
		Software: line(unicorn.RISCV64Software),

		MachineExternal: line(unicorn.RISCV64MachineExternal),
		MachineTimer:    line(unicorn.RISCV64MachineTimer),
		MachineSoftware: line(unicorn.RISCV64MachineSoftware),
	}
}

// kernelOffset is where an Image goes: firmware has the first 2 MiB on real boards.
const riscv64KernelOffset = 2 << 20

func (p *riscv64) Boot(b Boot) (*Placed, error) {
	p.foreign = b.Firmware != nil
	placed, err := boot.Virt(boot.Config{
		Kernel: b.Kernel, CommandLine: b.CommandLine, Initrd: b.Initrd, RAM: p.m.engine.RAM(),
	}, boot.VirtMachine{ELF: elf.EM_RISCV, Base: p.m.engine.RAMBase(), Offset: riscv64KernelOffset, AtText: true, Tree: p.tree})
	if err != nil {
		return nil, err
	}
	p.m.AvoidSlots(0, 0) // no kernel comes to lie there
	if p.foreign {
		info, err := p.placeFirmware(b.Firmware, placed)
		if err == nil {
			p.startFirmware(placed, info)
		}
		return placed, err
	}
	p.m.engine.StartRISCV64(placed.PC, placed.Tree.Base)
	if p.dev.CLINT != nil {
		p.startAll(placed)
	}
	return placed, nil
}

// startAll starts the other CPUs, too: without firmware to hold them back all begin at the entry.
func (p *riscv64) startAll(placed *boot.Placed) {
	for _, c := range p.m.cpus[1:] {
		c.StartRISCV64(placed.PC, placed.Tree.Base)
		c.off = false
	}
}

func (p *riscv64) Load(pa uint64, size int) uint64 { return uint64(p.dev.Bus.Load(pa, size)) }
func (p *riscv64) Store(pa uint64, size int, value uint64) {
	p.dev.Bus.Store(pa, size, uint32(value))
}
func (p *riscv64) Next() uint64 { return p.dev.Next(p.m.engine.ID()) }
func (p *riscv64) Poll()        { p.dev.Poll(p.m.engine.ID()) }
func (p *riscv64) Awake() bool {
	return p.m.engine.Reg(arch.RISCV64MIP)&p.m.engine.Reg(arch.RISCV64MIE) != 0
}
func (p *riscv64) Save(w io.Writer) error { return p.dev.Save(w) }
func (p *riscv64) Parse(r io.Reader, now uint64) (set func(), err error) {
	return p.dev.Parse(r, now)
}

// Bits of mie, and of the modes.
const (
	mieSupervisorTimer = 1 << 5
	mieMachineTimer    = 1 << 7

	riscv64Machine = 3
)

// Wake: while the guest holds a timer's interrupt back that cannot wake it.
func (p *riscv64) Wake() uint64 {
	mie := p.m.engine.Reg(arch.RISCV64MIE)
	return p.dev.Wake(p.m.engine.ID(), mie&mieMachineTimer != 0, mie&mieSupervisorTimer != 0)
}

// clint is the timer of the hart that runs.
func (p *riscv64) clint() *device.CLINTHart { return p.dev.CLINT.Hart(p.m.engine.ID()) }

// ReadSystem and WriteSystem are the CSRs of the supervisor's timer.
func (p *riscv64) ReadSystem(csr uint32) uint64 {
	if csr == unicorn.RISCV64Stimecmp {
		return p.clint().Stimecmp()
	}
	return p.clint().Menvcfg()
}

func (p *riscv64) WriteSystem(csr uint32, v uint64) {
	if csr == unicorn.RISCV64Stimecmp {
		p.clint().SetStimecmp(v)
	} else {
		p.clint().SetMenvcfg(v)
	}
}

// Call is an SBI call: number in a7 and a6, arguments from a0 on, results in a0 and a1.
func (p *riscv64) Call() {
	e := p.m.engine
	c := device.SBICall{Hart: e.ID(), Extension: e.Reg(arch.RISCV64A0 + 7), Function: e.Reg(arch.RISCV64A0 + 6)}
	for i := range c.Arg {
		c.Arg[i] = e.Reg(arch.RISCV64A0 + arch.Reg(i))
	}
	code, value, legacy := p.dev.SBI.Call(c)
	e.SetReg(arch.RISCV64A0, uint64(code))
	if !legacy {
		e.SetReg(arch.RISCV64A0+1, value)
	}
}

func (p *riscv64) Send(port int, b []byte) {
	p.dev.UARTs[port].Receive(b)
	p.m.reschedule()
}

// Bits of satp and of page table entries (Privileged Architecture, 4.3 to 4.5).
const (
	satpMode  = 60
	satpTable = 1<<44 - 1
	sv39      = 8

	rpteValid = 1 << 0
	rpteLeaf  = 1<<1 | 1<<2 | 1<<3 // readable, writable or executable
)

// Walk follows three (Sv39), four (Sv48) or five (Sv57) levels. In machine mode, and before
// there is paging, an address is physical.
func (p *riscv64) Walk(va uint64) (uint64, bool) {
	satp := p.m.reg(arch.RISCV64SATP)
	mode := satp >> satpMode
	if mode == 0 || p.m.reg(arch.RISCV64PRIV) == riscv64Machine {
		_, ok := p.m.inRAM(va, true)
		return va, ok
	}
	levels := int(mode) - sv39 + 3
	if uint64(int64(va<<(64-12-9*levels))>>(64-12-9*levels)) != va {
		return 0, false
	}
	table := satp & satpTable << 12
	for shift := 12 + 9*(levels-1); shift >= 12; shift -= 9 {
		e, ok := p.m.word(table + va>>shift&511*8)
		if !ok || e&rpteValid == 0 {
			return 0, false
		}
		table = e >> 10 & satpTable << 12
		if e&rpteLeaf != 0 {
			within := uint64(1)<<shift - 1
			pa := table&^within | va&within
			_, ok := p.m.inRAM(pa, true)
			return pa, ok
		}
	}
	return 0, false
}
