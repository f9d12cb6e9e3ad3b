package unicorn

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
)

// sharing has each instruction run in the one slot that there is.
type sharing struct {
	counter
	e *Engine
}

func (s *sharing) Hit(addr uint64) {
	s.counter.Hit(addr)
	at := addr - s.e.RAMBase()
	s.e.WriteSlots(arm64Slots, append(s.e.RAM()[at:at+4:at+4], arch.ARM64.Breakpoint(4)...))
	s.e.UseSlot(addr, arm64Slots)
}

// A shared trampoline is code of the guest's: it takes time, and an exception in it has its
// address.
func TestSharedSlots(t *testing.T) {
	h := &sharing{}
	e, base := openARM64(t, h, 8*mib, []uint32{
		0x10000001, // adr x1, .
		0xd518c001, // msr vbar_el1, x1
		0xd2800140, // mov x0, #10
		0xf1000400, // 1: subs x0, x0, #1
		0x54ffffe1, // b.ne 1b
		0xd4000001, // svc #0
	})
	h.e = e
	const handler = 0x200                                                         // of synchronous exceptions
	binary.LittleEndian.PutUint32(e.RAM()[base-e.RAMBase()+handler:], 0xd503207f) // wfi
	e.SetSlots(arm64Slots)
	e.ShareSlots()
	for _, off := range []uint64{12, 20} {
		if err := e.SetBreak(Break{arch.Break{Addr: base + off, Len: 4}, base - e.RAMBase() + off}); err != nil {
			t.Fatal(err)
		}
	}
	e.Commit()
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := uint64(12 + 10*(8+4) + 4); e.Total() != want || h.hits != 11 {
		t.Errorf("clock %d, want %d; %d hits", e.Total(), want, h.hits)
	}
	if elr := e.Reg(arch.ARM64ELR); elr != arm64Slots+4 {
		t.Errorf("the exception's address is 0x%x, want 0x%x", elr, uint64(arm64Slots+4))
	}
}
