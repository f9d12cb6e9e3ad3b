package trace

import (
	"slices"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/vm"
)

// deferral is the state needed to run firings some time after their hit. What the clauses at a probe need of the guest, if it is not memory, is kept at the hit: registers,
// the time, and of the current thread that it is still the one that was read last. Order
// is kept, so the trace is the same.
type deferral struct {
	on      bool          // otherwise each firing comes at once
	threads []knownThread // by CPU
}

// A knownThread is the thread of a CPU when it was read last, and how that went.
type knownThread struct {
	thread vm.Thread
	errno  int32 // of its last system call
	failed bool
	bad    uint64
}

// known is what is known of the thread of a CPU.
func (d *deferral) known(cpu probes.CPU) *knownThread {
	for len(d.threads) <= cpu.ID() {
		d.threads = append(d.threads, knownThread{})
	}
	return &d.threads[cpu.ID()]
}

// startDeferral enables deferred firings, unless the option is off or a clause of ERROR needs the guest
// as it was at the fault.
func (tr *Trace) startDeferral() {
	tr.deferral.on = tr.Options.Defer && len(tr.on.Of(tr.DTrace.Error.ID())) == 0
}

// fireLater runs the clauses at a firing that comes later. They are Deferrable: they neither end nor show
// anything.
func (tr *Trace) fireLater(f *probes.Firing) {
	if tr.life.phase == running && !tr.elsewhere(f) {
		tr.now.env.begin(f)
		tr.vm.Fire(&tr.now.env, tr.on.Of(f.Probe.ID()))
	}
}

// fireNow runs the clauses at a firing that comes at once, and has further ones come later if that
// comes to the same.
func (tr *Trace) fireNow(f *probes.Firing, es []vm.Enabling) {
	if !tr.deferral.on {
		tr.vm.Fire(&tr.now.env, es)
		return
	}
	how := probes.Immediate
	if f.Hit != nil {
		how = f.Hit.Deferral()
	}
	var regs []arch.Reg
	if how == probes.Untried {
		var ok bool
		if regs, ok = tr.keeps(f, es); !ok {
			f.Hit.NeverDefer()
			how = probes.Immediate
		}
	}
	tr.now.env.notes = f.CPU != nil && tr.vm.AsksThread(es) && !tr.isEntry(f.CPU.Reg(tr.Target.Arch().PC))
	tr.vm.Fire(&tr.now.env, es)
	if how == probes.Immediate {
		return
	}
	if tr.now.env.notes {
		tr.now.env.Thread()
	}
	if how == probes.Untried {
		f.Hit.Defer(regs, tr.now.env.notes)
	}
}

// keeps lists the registers that have to be kept of further hits at the place of f, for firings that come
// later. It is not ok if they cannot.
func (tr *Trace) keeps(f *probes.Firing, es []vm.Enabling) (regs []arch.Reg, ok bool) {
	r, can := f.Probe.Group().Provider().(probes.RegReader)
	pc := tr.Target.Arch().PC
	addr := f.CPU.Reg(pc)
	if !can || !tr.vm.Deferrable(es) || tr.vtime.isSwitch(f.Probe) || tr.vtime.needsClock(es, tr.cpus()) || tr.vm.AsksThread(es) && tr.isEntry(addr) {
		return nil, false
	}
	read, args := tr.vm.Registers(es)
	if regs, ok = r.Reads(f.Probe, addr, args); !ok {
		return nil, false
	}
	for _, i := range read {
		regs = append(regs, arch.Reg(i))
	}
	slices.Sort(regs)
	return slices.DeleteFunc(slices.Compact(regs), func(r arch.Reg) bool { return r == pc }), true
}

// isEntry says that at addr, where the kernel is entered or left, it depends on the very
// instruction what the current thread is.
func (tr *Trace) isEntry(addr uint64) bool {
	os, can := tr.OS.(guestos.Enterer)
	return can && os.Enters(addr)
}
