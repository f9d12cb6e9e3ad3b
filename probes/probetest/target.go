// Package probetest is for tests of providers and of what stands on them: a Target
// without an emulator, and the test that every Provider must pass.
package probetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"trapline/kernel/arch"
	"trapline/probes"
)

const pageSize = 4096

// SlotBase and SlotSize are the trampoline area of a Target.
const (
	SlotBase = 0xffffffff_a0000000
	SlotSize = 1 << 20
)

// A Target is a guest made of pages of memory, one CPU that goes where the test sends
// it, and a clock that the test moves. It checks that the calls made to it keep the
// contract of probes.Target and remembers in Err the first that does not.
type Target struct {
	CPU  CPU
	Err  error
	Lose int             // hits to leave out, for tests of the cross-check
	Code map[uint64]byte // what WriteSlots has stored
	// Shared: a breakpoint gets its trampoline at each hit; Slot is that of the newest.
	Shared bool
	Slot   uint64
	Turns  int // that Yield has ended

	a       *arch.Arch
	running probes.CPU // &CPU, but for an SMP
	pages   map[uint64]*[pageSize]byte
	now     uint64
	breaks  map[uint64]probes.Break
	watched map[uint64]bool // pages, by number
	hit     func(probes.CPU, uint64)
	rewrite func(uint64)
	tickAt  uint64
	tick    func(probes.CPU)
	stopped bool
	counted []uint64
	counts  []uint64
	hits    map[uint64]uint64 // of breakpoints whose hits are counted
	deferral
}

// A CPU is a register file.
type CPU struct {
	Regs [256]uint64
	Num  int
}

// Reg is the value of a register.
func (c *CPU) Reg(r arch.Reg) uint64 { return c.Regs[r] }

// SetReg sets a register.
func (c *CPU) SetReg(r arch.Reg, v uint64) { c.Regs[r] = v }

// ID is the CPU's number.
func (c *CPU) ID() int { return c.Num }

// New makes a target with nothing mapped.
func New(a *arch.Arch) *Target {
	t := &Target{
		a: a, Code: map[uint64]byte{}, pages: map[uint64]*[pageSize]byte{},
		breaks: map[uint64]probes.Break{}, hits: map[uint64]uint64{}, deferral: deferral{deferred: map[uint64]deferred{}, memos: map[int]*memo{}}, watched: map[uint64]bool{}, tickAt: ^uint64(0),
	}
	t.running = &t.CPU
	return t
}

// Map stores bytes at addr and maps the pages that takes. It notifies nobody.
func (t *Target) Map(addr uint64, p []byte) {
	for i, b := range p {
		a := addr + uint64(i)
		page := t.pages[a/pageSize]
		if page == nil {
			page = new([pageSize]byte)
			t.pages[a/pageSize] = page
		}
		page[a%pageSize] = b
	}
}

// Rewrite is the guest changing its own text.
func (t *Target) Rewrite(addr uint64, p []byte) {
	t.Map(addr, p)
	for page := addr / pageSize; page <= (addr+uint64(len(p))-1)/pageSize; page++ {
		if t.rewrite != nil && t.watched[page] {
			t.tell()
			t.rewrite(page * pageSize)
		}
	}
}

// Run is the guest's CPU executing the instructions at these addresses in turn, until
// someone calls Stop. It reports whether it got to the end.
func (t *Target) Run(pcs ...uint64) bool {
	defer t.tell()
	for _, pc := range pcs {
		if t.stopped {
			return false
		}
		t.step(pc)
	}
	return true
}

func (t *Target) step(pc uint64) {
	t.running.SetReg(t.a.PC, pc)
	if i, ok := slices.BinarySearch(t.counted, pc); ok {
		t.counts[i]++
	}
	if _, ok := t.breaks[pc]; !ok {
		return
	}
	if t.Lose > 0 {
		t.Lose--
		return
	}
	if _, ok := t.hits[pc]; ok {
		t.hits[pc]++
		return
	}
	if t.put(pc) {
		return
	}
	t.tell()
	t.hit(t.running, pc)
}

// Advance moves the clock on by ns and fires the ticks on the way at their times.
func (t *Target) Advance(ns uint64) {
	end := t.now + ns
	for t.tick != nil && t.tickAt <= end && !t.stopped {
		t.now = max(t.now, t.tickAt)
		f := t.tick
		t.tick, t.tickAt = nil, ^uint64(0)
		t.tell()
		f(t.running)
	}
	t.now = max(t.now, end)
}

// Breaks are the breakpoints that are planted, by address.
func (t *Target) Breaks() []probes.Break {
	var out []probes.Break
	for _, a := range slices.Sorted(maps.Keys(t.breaks)) {
		out = append(out, t.breaks[a])
	}
	return out
}

// Stopped reports whether Stop was called.
func (t *Target) Stopped() bool { return t.stopped }

// ReadMem implements probes.Target.
func (t *Target) ReadMem(addr uint64, p []byte) error {
	for i := range p {
		a := addr + uint64(i)
		page := t.pages[a/pageSize]
		if page == nil {
			return &probes.Fault{Addr: a}
		}
		p[i] = page[a%pageSize]
	}
	return nil
}

// WriteMem implements probes.Target.
func (t *Target) WriteMem(addr uint64, p []byte) error {
	if err := t.ReadMem(addr, make([]byte, len(p))); err != nil {
		return err
	}
	t.Map(addr, p)
	return nil
}

// Arch implements probes.Target.
func (t *Target) Arch() *arch.Arch { return t.a }

// Now implements probes.Target.
func (t *Target) Now() uint64 {
	if t.telling != nil {
		return t.telling.now
	}
	return t.now
}

// Slots implements probes.Target.
func (t *Target) Slots() (base, size uint64) { return SlotBase, SlotSize }

// WriteSlots implements probes.Target.
func (t *Target) WriteSlots(addr uint64, code []byte) error {
	if addr < SlotBase || addr+uint64(len(code)) > SlotBase+SlotSize {
		return t.broken("trampoline code at %#x", addr)
	}
	for i, b := range code {
		t.Code[addr+uint64(i)] = b
	}
	return nil
}

// SetBreaks implements probes.Target.
func (t *Target) SetBreaks(bs []probes.Break) error {
	for i, b := range bs {
		switch {
		case i > 0 && bs[i-1].Addr >= b.Addr:
			return t.broken("SetBreaks: %#x after %#x", b.Addr, bs[i-1].Addr)
		case (b.Guest || t.Shared || !b.Do.InSlot()) != (b.Slot == 0):
			return t.broken("SetBreaks: guest %v with slot %#x", b.Guest, b.Slot)
		case b.Len == 0:
			return t.broken("SetBreaks: no length at %#x", b.Addr)
		case b.Slot != 0 && t.isBreak(b.Slot):
			return t.broken("SetBreaks: the trampoline of %#x is empty", b.Addr)
		}
	}
	for _, b := range bs {
		t.breaks[b.Addr] = b
		t.watched[b.Addr/pageSize] = true
		t.watched[(b.Addr+uint64(b.Len)-1)/pageSize] = true
	}
	return nil
}

// UseSlot implements probes.Sharer.
func (t *Target) UseSlot(addr, slot uint64) {
	if _, ok := t.breaks[addr]; !ok || !t.Shared || t.isBreak(slot) {
		t.broken("UseSlot: %#x for the breakpoint at %#x", slot, addr)
	}
	t.Slot = slot
}

// isBreak reports whether the trampoline at an address begins with a breakpoint.
func (t *Target) isBreak(slot uint64) bool {
	for i, c := range t.a.Breakpoint(t.a.MinInstr) {
		if t.Code[slot+uint64(i)] != c {
			return false
		}
	}
	return true
}

// ForgetText implements probes.Target.
func (t *Target) ForgetText(lo, hi uint64) {
	for a := range t.breaks {
		if a-lo < hi-lo {
			t.broken("ForgetText: there is a breakpoint at %#x", a)
		}
	}
}

// ClearBreaks implements probes.Target.
func (t *Target) ClearBreaks(addrs []uint64) error {
	if !slices.IsSorted(addrs) {
		return t.broken("ClearBreaks: not sorted")
	}
	for _, a := range addrs {
		if _, ok := t.hits[a]; ok {
			return t.broken("ClearBreaks: the hits at %#x were not taken", a)
		}
		if _, ok := t.deferred[a]; ok {
			return t.broken("ClearBreaks: the hits at %#x are still deferred", a)
		}
		delete(t.breaks, a)
	}
	return nil
}

// CountHits implements probes.Counter.
func (t *Target) CountHits(addr uint64) bool {
	if _, ok := t.breaks[addr]; !ok {
		return false
	}
	t.hits[addr] = 0
	return true
}

// TakeHits implements probes.Counter.
func (t *Target) TakeHits(addr uint64) uint64 {
	n := t.hits[addr]
	delete(t.hits, addr)
	return n
}

// Counting is the number of breakpoints whose hits are counted.
func (t *Target) Counting() int { return len(t.hits) }

func (t *Target) broken(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if t.Err == nil {
		t.Err = err
	}
	return err
}

// OnHit implements probes.Target.
func (t *Target) OnHit(f func(probes.CPU, uint64)) { t.hit = f }

// OnRewrite implements probes.Target.
func (t *Target) OnRewrite(f func(uint64)) { t.rewrite = f }

// OnTick implements probes.Target.
func (t *Target) OnTick(at uint64, f func(probes.CPU)) { t.tickAt, t.tick = at, f }

// Stop implements probes.Target.
func (t *Target) Stop() { t.stopped = true }

// CPUs implements probes.CPUs: there is one.
func (t *Target) CPUs() int { return 1 }

// OnCPUTick implements probes.CPUs.
func (t *Target) OnCPUTick(_ int, at uint64, f func(probes.CPU, bool)) {
	t.OnTick(at, func(c probes.CPU) { f(c, false) })
}

// Yield implements probes.CPUs.
func (t *Target) Yield() { t.Turns++ }

// Chill implements probes.Target.
func (t *Target) Chill(ns uint64) { t.Advance(ns) }

// CheckedOn implements probes.CrossChecker.
func (t *Target) CheckedOn(int) (hits, executions uint64) { return 0, 0 }

// CrossCheck implements probes.CrossChecker.
func (t *Target) CrossCheck(addrs []uint64) error {
	if !slices.IsSorted(addrs) {
		return errors.New("cross-check: addresses are not sorted")
	}
	t.counted, t.counts = slices.Clone(addrs), make([]uint64, len(addrs))
	return nil
}

// Counts implements probes.CrossChecker.
func (t *Target) Counts() []uint64 { return t.counts }
