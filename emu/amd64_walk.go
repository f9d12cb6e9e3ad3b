package emu

import "trapline/kernel/arch"

const (
	ptePresent = 1 << 0
	pteLarge   = 1 << 7
	pteFrame   = 0x000ffffffffff000
	cr0Paging  = 1 << 31
)

// Walk follows four-level paging (SDM vol. 3, 4.5).
func (p *pc) Walk(va uint64) (uint64, bool) {
	table := p.m.reg(arch.CR3) & pteFrame
	if p.m.reg(arch.CR0)&cr0Paging == 0 || uint64(int64(va<<16)>>16) != va {
		return 0, false
	}
	for shift := 39; shift >= 12; shift -= 9 {
		e, ok := p.m.word(table + va>>shift&511*8)
		if !ok || e&ptePresent == 0 {
			return 0, false
		}
		table = e & pteFrame
		if e&pteLarge != 0 && (shift == 30 || shift == 21) {
			within := uint64(1)<<shift - 1
			table = table&^within | va&within&^(pageSize-1)
			break
		}
	}
	return table | va&(pageSize-1), table < p.m.Memory()
}
