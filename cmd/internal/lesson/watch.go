package lesson

import (
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/probes"
)

// A Watcher stands between a provider and a target. It sees what is planted for one
// instruction, the registers when that is hit, and where the guest goes on.
type Watcher struct {
	*Recorder
	Symbols []kernel.Symbol // functions of the guest, at which it could go on

	pass    int // firings to let pass
	hit     func(probes.CPU, uint64)
	landing map[uint64]bool
	firing  *Firing
	err     error
}

// NewWatcher watches the nth firing on t, counted from 1.
func NewWatcher(t probes.Target, nth int) (*Watcher, error) {
	r, err := Record(t)
	return &Watcher{Recorder: r, pass: nth - 1}, err
}

// OnHit puts the watcher between the target and f.
func (w *Watcher) OnHit(f func(probes.CPU, uint64)) {
	w.hit = f
	w.Target.OnHit(w.onHit)
}

func (w *Watcher) onHit(cpu probes.CPU, addr uint64) {
	switch {
	case w.firing == nil:
		w.hit(cpu, addr)
	case w.landing[addr] && !w.firing.Landed:
		w.land(cpu, addr)
	}
}

// land notes where the guest goes on, which is all there is to see.
func (w *Watcher) land(cpu probes.CPU, addr uint64) {
	f := w.firing
	f.After, f.Next, f.Took, f.Landed = w.registers(cpu), addr, w.Now()-f.At, true
	w.Stop()
}

func (w *Watcher) registers(cpu probes.CPU) []uint64 {
	all := make([]uint64, len(w.Arch().Regs))
	for i := range all {
		all[i] = cpu.Reg(arch.Reg(i))
	}
	return all
}

// Fire is what the probe's provider calls: the firing begins.
func (w *Watcher) Fire(p *probes.Firing) {
	if w.pass > 0 {
		w.pass--
		return
	}
	if w.firing != nil {
		return
	}
	if w.err = w.begin(p); w.err != nil {
		w.Stop()
	}
}

func (w *Watcher) begin(p *probes.Firing) error {
	b := w.Breaks[p.Probe.Key]
	f := &Firing{
		Probe: p.Probe.Desc().String(), Function: p.Probe.Function(), Offset: p.Probe.Number(), PC: b.Addr,
		isa: w.ISA, Break: b, Slot: w.Slot(b.Addr), At: w.Now(), Before: w.registers(p.CPU),
	}
	w.firing = f
	base := p.Probe.Group().Base()
	i := slices.IndexFunc(w.Symbols, func(s kernel.Symbol) bool { return s.Addr == base })
	if i < 0 {
		return fmt.Errorf("%s has no symbol", f.Function)
	}
	f.Code = make([]byte, w.Symbols[i].Size)
	if err := w.ReadMem(base, f.Code); err != nil {
		return fmt.Errorf("reading %s: %w", f.Function, err)
	}
	f.Plan = w.ISA.Plan(f.Code[f.Offset:], f.PC)
	return w.watch(base, f)
}

// watch plants breakpoints wherever the guest could go on: in the function itself, at the
// beginning of any other, at the addresses in registers and on top of the stack.
func (w *Watcher) watch(base uint64, f *Firing) error {
	w.landing = map[uint64]bool{}
	w.ISA.Walk(f.Code, base, func(off, n int) bool {
		w.landing[base+uint64(off)] = true
		return true
	}) // data in a function ends the walk, and the guest does not go there
	for _, s := range w.Symbols {
		w.landing[s.Addr] = true
	}
	for _, addr := range append(w.top(f), f.Before...) {
		if w.inText(addr) {
			w.landing[addr] = true
		}
	}
	return w.plantLandings(f.PC)
}

// top is the word on top of the stack: a return address, on some architectures.
func (w *Watcher) top(f *Firing) []uint64 {
	word := make([]byte, w.Arch().PtrSize)
	if w.ReadMem(f.Before[w.Arch().SP], word) != nil {
		return nil
	}
	return []uint64{w.Arch().ByteOrder.Uint64(word)}
}

// inText reports whether a function covers an address at which an instruction may begin.
func (w *Watcher) inText(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(w.Symbols, addr, func(s kernel.Symbol, addr uint64) int {
		if s.Addr > addr {
			return 1
		}
		return -1
	})
	return addr%uint64(w.Arch().MinInstr) == 0 && i > 0 && addr-w.Symbols[i-1].Addr < w.Symbols[i-1].Size
}

// plantLandings plants breakpoints that are never passed: the run ends at the first.
func (w *Watcher) plantLandings(but uint64) error {
	var all []probes.Break
	code := make([]byte, w.Arch().MaxInstr)
	for addr := range w.landing {
		if addr == but || w.ReadMem(addr, code) != nil {
			continue
		}
		if n, err := w.ISA.Length(code); err == nil {
			all = append(all, probes.Break{Addr: addr, Len: uint8(n), Guest: true})
		}
	}
	slices.SortFunc(all, func(a, b probes.Break) int {
		if a.Addr < b.Addr {
			return -1
		}
		return 1
	})
	return w.Target.SetBreaks(all)
}

// Firing is what has been seen; an error if the probe has not fired so often.
func (w *Watcher) Firing() (*Firing, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case w.firing == nil:
		return nil, fmt.Errorf("the probe has not fired")
	}
	return w.firing, nil
}

// Done reports whether there is nothing more to watch.
func (w *Watcher) Done() bool { return w.err != nil || w.firing != nil && w.firing.Landed }
