package trace

import (
	"trapline/probes"
	"trapline/probes/d/consume"
	"trapline/probes/d/vm"
)

// Fire runs the clauses of a probe. It makes a Trace the Sink of its providers.
func (tr *Trace) Fire(f *probes.Firing) {
	if f.Deferred {
		tr.fireLater(f)
		return
	}
	if tr.Watch(f) {
		return
	}
	if tr.life.phase != running && tr.life.phase != ending {
		return
	}
	if tr.vtime.isSwitch(f.Probe) {
		defer tr.switched(f)
	}
	if tr.elsewhere(f) {
		return
	}
	es := tr.on.Of(f.Probe.ID())
	if len(es) == 0 {
		return
	}
	tr.now.env.begin(f)
	if tr.vm.OnlyCounts(es) {
		tr.count(f, es)
		return
	}
	tr.fireNow(f, es)
	if tr.life.phase == running {
		if _, exited := tr.vm.Exited(); exited || tr.vm.Filled() {
			tr.drainOut()
		}
	}
	for i := range es {
		if tr.out.atOnce[es[i].Clause] {
			tr.Show()
			return
		}
	}
}

// count is a firing that does nothing but count. If there is room for the counts, the target
// may do the same from now on.
func (tr *Trace) count(f *probes.Firing, es []vm.Enabling) {
	dropped := tr.vm.Dropped()
	tr.vm.Fire(&tr.now.env, es)
	if f.Hit != nil && tr.Options.CPU < 0 && tr.life.phase == running && tr.vm.Dropped() == dropped && !tr.vtime.isSwitch(f.Probe) {
		f.Hit.Count()
	}
}

// FireTimes takes firings that the target has counted. It makes a Trace a CountSink.
func (tr *Trace) FireTimes(p *probes.Probe, n uint64) {
	tr.now.countFiring = probes.Firing{Probe: p}
	tr.now.countEnv.begin(&tr.now.countFiring)
	tr.vm.FireTimes(&tr.now.countEnv, tr.on.Of(p.ID()), n)
}

// fault handles a run-time error in a clause: it fires ERROR and reports the error.
func (tr *Trace) fault(e vm.Env, ft vm.Fault) {
	if es := tr.on.Of(tr.DTrace.Error.ID()); len(es) > 0 {
		tr.now.errFiring = probes.Firing{Probe: tr.DTrace.Error, CPU: tr.now.env.firing.CPU}
		for i := range tr.now.errFiring.Args {
			tr.now.errFiring.Args[i] = ft.Arg(i)
		}
		tr.now.errEnv.begin(&tr.now.errFiring)
		tr.vm.Fire(&tr.now.errEnv, es)
	}
	tr.Show()
	p := e.Probe()
	tr.Keep(tr.out.sink.Fault(consume.Fault{
		EPID: ft.EPID, Probe: consume.Probe(*p), Text: ft.Text(), Action: ft.Action, Offset: ft.Offset,
	}))
}
