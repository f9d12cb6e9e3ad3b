package emu

import (
	"debug/elf"
	"io"

	"trapline/emu/boot"
	"trapline/emu/device"
	"trapline/kernel/arch"
)

// arm64 is the arm64 machine: QEMU's virt with one Cortex-A57, GICv2 and PSCI.
type arm64 struct {
	noAccess
	m   *Machine
	dev *device.ARM64Virt
}

// Trampolines lie above everything that Linux maps.
var arm64Wiring = wiring{
	platform: newARM64,
	slots:    []uint64{0xffffffffd0000000, 0xffffffffc0000000},
	disks:    device.VirtDisks,
}

func newARM64(m *Machine, c Config) platform {
	p := &arm64{m: m}
	p.dev = device.NewARM64Virt(m.host(c, "PSCI"), intr{m.engine})
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

func (p *arm64) Load(pa uint64, size int) uint64         { return uint64(p.dev.Bus.Load(pa, size)) }
func (p *arm64) Store(pa uint64, size int, value uint64) { p.dev.Bus.Store(pa, size, uint32(value)) }
func (p *arm64) ReadSystem(reg uint32) uint64            { return p.dev.Timer.Read(reg) }
func (p *arm64) WriteSystem(reg uint32, value uint64)    { p.dev.Timer.Write(reg, value) }
func (p *arm64) Next() uint64                            { return p.dev.Next() }
func (p *arm64) Wake() uint64                            { return p.dev.Wake() }
func (p *arm64) Poll()                                   { p.dev.Poll() }
func (p *arm64) Awake() bool                             { return p.m.engine.Line() }
func (p *arm64) Save(w io.Writer) error                  { return p.dev.Save(w) }
func (p *arm64) Restore(r io.Reader) error               { return p.dev.Load(r) }

// Call is a PSCI call: its number in w0, arguments from x1 on, the result in x0.
func (p *arm64) Call() {
	e := p.m.engine
	e.SetReg(arch.ArmX0, uint64(p.dev.PSCI.Call(uint32(e.Reg(arch.ArmX0)), e.Reg(arch.ArmX0+1))))
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
	e := p.m.engine
	tcr, table := e.Reg(arch.ArmTCR), e.Reg(arch.ArmTTBR0)
	size, granule := tcr>>tcrT0SZ&63, tcr>>tcrTG0&3 == 0
	high := int64(va) < 0
	if high {
		size, granule, table = tcr>>tcrT1SZ&63, tcr>>tcrTG1&3 == 2, e.Reg(arch.ArmTTBR1)
	}
	top := uint64(int64(va) >> (64 - size))
	if e.Reg(arch.ArmSCTLR)&sctlrMMU == 0 || !granule || size == 0 || top+1 > 1 {
		return 0, false
	}
	table &= adescAddr
	for shift := 12 + (64-int(size)-13)/9*9; shift >= 12; shift -= 9 {
		desc, ok := p.m.word(table + va>>shift&511*8)
		if !ok || desc&adescValid == 0 {
			return 0, false
		}
		table = desc & adescAddr
		if desc&adescTable == 0 || shift == 12 {
			within := uint64(1)<<shift - 1
			pa := table&^within | va&within
			_, ok := p.m.inRAM(pa, true)
			return pa, ok
		}
	}
	return 0, false
}
