package probetest

import (
	"bytes"

	"trapline/kernel/arch"
	"trapline/probes"
)

// deferral is the part of a Target that delivers hits later.
type deferral struct {
	deferred map[uint64]deferred // by address
	waiting  []lateHit
	telling  *lateHit
	late     func(probes.CPU, uint64)
	memos    map[int]*memo // by CPU
}

// deferred is what is kept of hits at an address.
type deferred struct {
	regs []arch.Reg
	memo bool
}

// A lateHit is a hit that waits to be delivered: a CPU with some of its registers.
type lateHit struct {
	cpu  int
	addr uint64
	now  uint64
	regs map[arch.Reg]uint64
}

// ID implements probes.CPU.
func (h *lateHit) ID() int { return h.cpu }

// Reg implements probes.CPU. It panics for a register that was not asked for.
func (h *lateHit) Reg(r arch.Reg) uint64 {
	v, ok := h.regs[r]
	if !ok {
		panic("probetest: a register that was not kept of a hit")
	}
	return v
}

// SetReg implements probes.CPU.
func (h *lateHit) SetReg(arch.Reg, uint64) {}

// A memo is what was read while a function ran.
type memo struct {
	t    *Target
	regs map[arch.Reg]uint64
	mem  map[uint64][]byte
}

// Reg implements arch.Regs.
func (m *memo) Reg(r arch.Reg) uint64 {
	m.regs[r] = m.t.running.Reg(r)
	return m.regs[r]
}

// SetReg implements arch.Regs.
func (m *memo) SetReg(arch.Reg, uint64) {}

// ReadMem implements arch.Memory.
func (m *memo) ReadMem(addr uint64, p []byte) error {
	err := m.t.ReadMem(addr, p)
	m.mem[addr] = bytes.Clone(p)
	return err
}

// holds reports whether what was read is unchanged.
func (m *memo) holds() bool {
	for r, v := range m.regs {
		if r != m.t.a.PC && m.t.running.Reg(r) != v {
			return false
		}
	}
	for addr, was := range m.mem {
		now := make([]byte, len(was))
		if m.t.ReadMem(addr, now) != nil || !bytes.Equal(was, now) {
			return false
		}
	}
	return true
}

// OnDeferred implements probes.Deferrer.
func (t *Target) OnDeferred(f func(probes.CPU, uint64)) { t.late = f }

// DeferHits implements probes.Deferrer.
func (t *Target) DeferHits(addr uint64, regs []arch.Reg, memo bool) bool {
	if _, ok := t.breaks[addr]; !ok || t.late == nil {
		return false
	}
	t.deferred[addr] = deferred{regs, memo}
	return true
}

// UndeferHits implements probes.Deferrer.
func (t *Target) UndeferHits(addr uint64) { delete(t.deferred, addr) }

// Remember implements probes.Deferrer.
func (t *Target) Remember(f func(arch.Memory, arch.Regs)) {
	m := &memo{t, map[arch.Reg]uint64{}, map[uint64][]byte{}}
	t.memos[t.running.ID()] = m
	f(m, m)
}

// Remembered implements probes.Deferrer.
func (t *Target) Remembered() bool {
	m := t.memos[t.running.ID()]
	return m != nil && m.holds()
}

// Deferring returns the number of breakpoints whose hits are deferred.
func (t *Target) Deferring() int { return len(t.deferred) }

// put records a hit, if it may be deferred.
func (t *Target) put(pc uint64) bool {
	d, ok := t.deferred[pc]
	if !ok || d.memo && !t.Remembered() {
		return false
	}
	h := lateHit{t.running.ID(), pc, t.now, map[arch.Reg]uint64{t.a.PC: pc}}
	for _, r := range d.regs {
		h.regs[r] = t.running.Reg(r)
	}
	t.waiting = append(t.waiting, h)
	return true
}

// tell delivers all hits that wait.
func (t *Target) tell() {
	all := t.waiting
	t.waiting = nil
	for i := range all {
		t.telling = &all[i]
		t.late(t.telling, all[i].addr)
	}
	t.telling = nil
}
