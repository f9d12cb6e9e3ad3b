package trace

import (
	"slices"

	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/code"
	"trapline/probes/d/vm"
)

// vtime is how long each thread has run, in virtual nanoseconds by the clocks of the CPUs that it
// was on. It is kept for a program that reads vtimestamp, from the start of the trace on.
//
//	since       switched    switched                  now
//	  |-- thread 1 --|-- thread 2 --|---- thread 1 -----|     a CPU
//	                                '------ spent ------'     VNow = ran + spent
//
// Interrupts count for the thread that they interrupt, and waiting for the idle thread. What the
// tracer does takes no time, but for chill(), which does not count.
type vtime struct {
	probes  []*probes.Probe // where the kernel switches; none: not kept
	threads guestos.PerThread[ranTime]
	start   uint64
	since   []uint64 // by CPU: until when its time is in threads; start beyond the end
	common  bool     // all CPUs are in one thread, and have one element of since
	read    []bool   // by clause: it reads vtimestamp
}

// ranTime is that of one thread.
type ranTime struct {
	ran  uint64 // until a CPU has left it last
	told uint64 // what VNow has returned last: it does not go back, whatever the guest does
}

// KeepVTime begins to keep it if the program asks for it and the guest's threads are known.
func (tr *Trace) KeepVTime() error {
	if !usesBuiltin(tr.prog, code.VTimestamp) {
		return nil
	}
	v := vtime{start: tr.Target.Now()}
	var err error
	if os, can := tr.OS.(guestos.Switcher); can {
		v.common = os.OneThread()
		v.probes, err = tr.entries(os.SwitchFuncs())
	}
	if err != nil {
		return err
	}
	if v.probes == nil {
		tr.Complain("vtimestamp is the time of all threads: it is not known where this kernel goes from one to another")
		return nil
	}
	tr.vtime = v
	for _, c := range tr.prog.Clauses {
		tr.vtime.read = append(tr.vtime.read, readsBuiltin(c, code.VTimestamp))
	}
	return tr.Registry.Enable(tr.vtime.probes)
}

// entries are the probes at the first instructions of functions, nil if one of these is not there.
func (tr *Trace) entries(functions []string) (all []*probes.Probe, err error) {
	for _, name := range functions {
		p, err := tr.Entry(name)
		if err != nil || p == nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// EndVTime ends that.
func (tr *Trace) EndVTime() error {
	if !tr.vtime.kept() {
		return nil
	}
	return tr.Registry.Disable(tr.vtime.probes)
}

// Timed is the number of threads whose time is kept.
func (tr *Trace) Timed() int { return tr.vtime.threads.Len() }

// kept reports whether there is any.
func (v *vtime) kept() bool { return len(v.probes) > 0 }

// isSwitch reports whether a probe is where the kernel switches.
func (v *vtime) isSwitch(p *probes.Probe) bool { return slices.Contains(v.probes, p) }

// needsClock reports whether clauses that fire on a CPU need its own clock. A hit that is delivered
// late does not have that.
func (v *vtime) needsClock(es []vm.Enabling, cpus int) bool {
	if !v.kept() || cpus == 1 {
		return false
	}
	for _, e := range es {
		if v.read[e.Clause] {
			return true
		}
	}
	return false
}

// of is until when the time of a CPU is in threads.
func (v *vtime) of(cpu int) *uint64 {
	if v.common {
		cpu = 0
	}
	for len(v.since) <= cpu {
		v.since = append(v.since, v.start)
	}
	return &v.since[cpu]
}

// switched adds the time of the thread that the CPU is about to leave.
func (tr *Trace) switched(f *probes.Firing) {
	now, since := tr.clock(f.CPU), tr.vtime.of(f.CPU.ID())
	if t, err := tr.OS.Thread(tr.Target, f.CPU); err == nil {
		if of := tr.vtime.threads.Of(&t); of != nil {
			of.ran += elapsed(*since, now)
		}
	}
	*since = now
}

// VNow implements vm.Env. Where the switches of threads cannot be seen it is the time of
// all of them.
func (e *env) VNow() uint64 {
	tr := e.tr
	if !tr.vtime.kept() || e.firing.CPU == nil {
		return tr.Target.Now()
	}
	t, _ := e.Thread()
	if t == nil {
		return 0
	}
	of := tr.vtime.threads.Of(&guestos.Thread{Key: t.Key, Addr: t.Addr})
	if of == nil {
		return 0
	}
	spent := elapsed(*tr.vtime.of(e.firing.CPU.ID()), tr.clock(e.firing.CPU))
	of.told = max(of.told, of.ran+spent)
	return of.told
}

// chilled leaves out time in which the tracer held a CPU.
func (v *vtime) chilled(cpu probes.CPU, ns uint64) {
	if v.kept() && cpu != nil {
		*v.of(cpu.ID()) += ns
	}
}

// elapsed is the time between two, 0 if the second is the earlier: the clock of a CPU may be
// behind the time at which the trace began, and one of a pair behind the other.
func elapsed(from, to uint64) uint64 { return to - min(from, to) }

// usesBuiltin reports whether a program reads a builtin variable.
func usesBuiltin(p *code.Program, b code.Builtin) bool {
	return slices.ContainsFunc(p.Clauses, func(c *code.Clause) bool { return readsBuiltin(c, b) })
}

// readsBuiltin reports whether a clause does.
func readsBuiltin(c *code.Clause, b code.Builtin) bool {
	uses := func(f *code.Func) bool {
		return f != nil && slices.ContainsFunc(f.Code, func(in code.Instr) bool {
			return in.Op == code.OpBuiltin && code.Builtin(in.Imm) == b
		})
	}
	return uses(c.Pred) || slices.ContainsFunc(c.Actions, func(a code.Action) bool {
		return slices.ContainsFunc(a.Funcs(), uses)
	})
}
