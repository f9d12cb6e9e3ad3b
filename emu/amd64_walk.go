package emu

import (
	"encoding/binary"

	"trapline/kernel/arch"
)

const (
	ptePresent = 1 << 0
	pteLarge   = 1 << 7
	pteFrame   = 0x000ffffffffff000
	cr0Paging  = 1 << 31
)

// Walk follows four-level paging (SDM vol. 3, 4.5).
func (p *pc) Walk(va uint64) (uint64, bool) {
	ram := p.m.engine.RAM()
	table := p.m.engine.Reg(arch.CR3) & pteFrame
	if p.m.engine.Reg(arch.CR0)&cr0Paging == 0 || uint64(int64(va<<16)>>16) != va {
		return 0, false
	}
	for shift := 39; shift >= 12; shift -= 9 {
		at := table + va>>shift&511*8
		if at+8 > uint64(len(ram)) {
			return 0, false
		}
		e := binary.LittleEndian.Uint64(ram[at:])
		if e&ptePresent == 0 {
			return 0, false
		}
		table = e & pteFrame
		if e&pteLarge != 0 && (shift == 30 || shift == 21) {
			within := uint64(1)<<shift - 1
			table = table&^within | va&within&^(pageSize-1)
			break
		}
	}
	return table | va&(pageSize-1), table < uint64(len(ram))
}
