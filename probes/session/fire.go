package session

import (
	"trapline/probes"
	"trapline/probes/d/buffer"
	"trapline/probes/d/consume"
	"trapline/probes/d/vm"
)

// Fire runs the clauses of a probe. It makes a Session the Sink of its providers.
func (s *Session) Fire(f *probes.Firing) {
	if f.Deferred {
		s.fireLater(f)
		return
	}
	if s.modules.event(f) {
		return
	}
	if s.phase != running && s.phase != ending {
		return
	}
	if f.Probe == s.vtime.probe {
		defer s.switched(f)
	}
	if s.elsewhere(f) {
		return
	}
	es := s.on.of(f.Probe.ID())
	if len(es) == 0 {
		return
	}
	s.env.begin(f)
	if s.vm.OnlyCounts(es) {
		s.count(f, es)
		return
	}
	s.fireNow(f, es)
	if s.phase == running {
		if _, exited := s.vm.Exited(); exited || s.vm.Filled() {
			s.drainOut()
		}
	}
	for i := range es {
		if s.shows[es[i].Clause] {
			s.show()
			return
		}
	}
}

// enter leaves a phase in which probes fire: hits that were counted until now are its firings.
func (s *Session) enter(p phase) {
	s.set.TakeHits()
	s.phase = p
}

// drainOut ends the trace: at once or, with the option statusrate, when the status is looked at next.
// Nothing fires until then.
func (s *Session) drainOut() {
	s.enter(draining)
	if rate := s.Options.StatusRate; rate > 0 && s.began {
		s.profile.Every(rate-(s.Target.Now()-s.start)%rate, s.Target.Stop)
		return
	}
	s.Target.Stop()
}

// count is a firing that does nothing but count. If there is room for the counts, the target
// may do the same from now on.
func (s *Session) count(f *probes.Firing, es []vm.Enabling) {
	dropped := s.vm.Dropped()
	s.vm.Fire(&s.env, es)
	if f.Hit != nil && s.Options.CPU < 0 && s.phase == running && s.vm.Dropped() == dropped && f.Probe != s.vtime.probe {
		f.Hit.Count()
	}
}

// FireTimes takes firings that the target has counted. It makes a Session a CountSink.
func (s *Session) FireTimes(p *probes.Probe, n uint64) {
	s.countFiring = probes.Firing{Probe: p}
	s.countEnv.begin(&s.countFiring)
	s.vm.FireTimes(&s.countEnv, s.on.of(p.ID()), n)
}

// fault is a run-time error in a clause: it fires ERROR and tells the user.
func (s *Session) fault(e vm.Env, ft vm.Fault) {
	if es := s.on.of(s.dtrace.Error.ID()); len(es) > 0 {
		s.errFiring = probes.Firing{Probe: s.dtrace.Error, CPU: s.env.firing.CPU}
		for i := range s.errFiring.Args {
			s.errFiring.Args[i] = ft.Arg(i)
		}
		s.errEnv.begin(&s.errFiring)
		s.vm.Fire(&s.errEnv, es)
	}
	s.show()
	p := e.Probe()
	s.keep(s.sink.Fault(consume.Fault{
		EPID: ft.EPID, Probe: consume.Probe(*p), Text: ft.Text(), Action: ft.Action, Offset: ft.Offset,
	}))
}

// show prints what has been recorded, unless that waits for the end.
func (s *Session) show() {
	if s.Options.BufPolicy == buffer.Switch {
		s.drain()
	}
	s.keep(s.sink.Flush())
}

// drain takes everything out of the buffers.
func (s *Session) drain() {
	for _, b := range s.vm.Buffers() {
		s.full(b)
	}
}

// full empties one buffer.
func (s *Session) full(b *buffer.Buffer) { s.keep(s.read.Drain(b, s.sink)) }

// drops reports what found no room in aggregations and variables.
func (s *Session) drops() error {
	var d consume.Drops
	for _, t := range s.vm.Tables() {
		d.Aggregations += t.Drops
	}
	d.Variables, d.Spec, d.SpecFails, d.Errors = s.vm.VarDrops(), s.vm.SpecDrops, s.vm.SpecFails, s.vm.ErrorFaults
	return s.sink.Drops(d)
}
