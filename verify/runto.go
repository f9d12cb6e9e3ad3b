package verify

import (
	"fmt"

	"trapline/emu"
	"trapline/kernel/arch"
	"trapline/trampoline"
)

// StopAt has the guest stop when it comes to addr, where an instruction with these bytes
// begins: at the next instant at which it could take an interrupt. It takes the machine's
// OnHit.
func StopAt(m *emu.Machine, addr uint64, code []byte) error {
	isa, err := trampoline.For(m.Arch())
	if err != nil {
		return err
	}
	p := isa.Plan(code, addr)
	if p.Kind == trampoline.Refuse || p.Kind == trampoline.Guest {
		return fmt.Errorf("the instruction at %#x cannot be probed: %s", addr, p.Reason())
	}
	b := arch.Break{Addr: addr, Len: p.Len, Do: isa.Do(p, code, addr)}
	if p.InSlot() {
		b.Slot, _ = m.Slots()
		slot, err := isa.Encode(p, code, addr, b.Slot)
		if err == nil {
			err = m.WriteSlots(b.Slot, slot)
		}
		if err != nil {
			return err
		}
	}
	m.OnRewrite(func(uint64) {})
	m.OnHit(func(arch.CPU, uint64) {
		m.Stop()
	})
	return m.SetBreaks([]arch.Break{b})
}
