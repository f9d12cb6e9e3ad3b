package patch

import (
	"fmt"

	"trapline/probes"
)

// An Owner is whose trampoline it is, where points share them: a thread's, or a CPU's.
type Owner struct {
	CPU bool
	ID  uint64
}

// shared are trampolines of owners, made when they are first needed and kept.
type shared struct {
	target probes.Sharer
	owner  func(probes.CPU) Owner
	slots  map[Owner]uint32
}

// Share has points take turns in trampolines: at each hit the instruction is written into that of
// the owner. It fails where the target has none of that kind. Only before points are enabled.
func (s *Set) Share(owner func(probes.CPU) Owner) error {
	t, ok := s.target.(probes.Sharer)
	if !ok {
		return fmt.Errorf("this target has no trampolines to share")
	}
	s.shared = &shared{t, owner, map[Owner]uint32{}}
	s.target.OnHit(func(cpu probes.CPU, addr uint64) {
		s.hit(cpu, addr)
		s.Fail(s.displace(cpu, addr))
	})
	return nil
}

// displace writes the instruction at addr, which is hit, into the trampoline that it runs in.
func (s *Set) displace(cpu probes.CPU, addr uint64) error {
	p := s.point(addr)
	if p == nil || p.state != planted || !p.plan.InSlot() {
		return nil
	}
	slot, err := s.sharedSlot(s.shared.owner(cpu))
	if err != nil {
		return err
	}
	at := s.slots.addr(slot)
	code, err := s.isa.Encode(p.plan, p.fn.text[p.off:], addr, at)
	if err == nil {
		err = s.slots.write([]slotCode{{slot, code}})
	}
	if err != nil {
		return fmt.Errorf("displace the instruction at %#x: %w", addr, err)
	}
	s.shared.target.UseSlot(addr, at)
	return nil
}

func (s *Set) sharedSlot(o Owner) (uint32, error) {
	if slot := s.shared.slots[o]; slot != 0 {
		return slot, nil
	}
	slot, err := s.slots.alloc()
	s.shared.slots[o] = slot
	return slot, err
}
