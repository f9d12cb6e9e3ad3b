package lesson

import (
	"slices"

	"trapline/probes"
	"trapline/trampoline"
)

// A Recorder stands between providers and a target, and records what they plant: breakpoints and
// trampolines.
type Recorder struct {
	probes.Target
	ISA     *trampoline.ISA
	Breaks  map[uint64]probes.Break // by their address
	written map[uint64][]byte       // what is in each slot, by its address
}

// Record makes a recorder of what is planted into t.
func Record(t probes.Target) (*Recorder, error) {
	isa, err := trampoline.For(t.Arch())
	return &Recorder{t, isa, map[uint64]probes.Break{}, map[uint64][]byte{}}, err
}

// SetBreaks plants breakpoints, and remembers them.
func (r *Recorder) SetBreaks(b []probes.Break) error {
	for _, x := range b {
		r.Breaks[x.Addr] = x
	}
	return r.Target.SetBreaks(b)
}

// WriteSlots writes trampolines, and remembers them.
func (r *Recorder) WriteSlots(addr uint64, code []byte) error {
	for n := 0; n+r.ISA.SlotSize <= len(code); n += r.ISA.SlotSize {
		r.written[addr+uint64(n)] = slices.Clone(code[n : n+r.ISA.SlotSize])
	}
	return r.Target.WriteSlots(addr, code)
}

// Slot is what is in the slot of the breakpoint at an address, nil if it has none.
func (r *Recorder) Slot(addr uint64) []byte {
	if b := r.Breaks[addr]; b.Slot != 0 {
		return r.written[b.Slot]
	}
	return nil
}
