package session

import (
	"trapline/probes"
	"trapline/probes/d/code"
)

// vtime is how long each thread has run, in virtual nanoseconds. It is kept for a program
// that reads vtimestamp, at every switch of threads that the guest's kernel makes.
type vtime struct {
	probe *probes.Probe // where the kernel switches; nil: not kept
	ran   map[uint64]uint64
	since uint64 // the last switch
}

// switchTo is the function in which Linux leaves a thread, on every architecture. At its
// first instruction the thread it leaves is still the current one.
const switchTo = "__switch_to"

// maxThreads bounds the threads that are remembered; beyond, all begin anew.
const maxThreads = 1 << 16

// keepVTime begins to keep it, where the program asks for it and the guest tells.
func (s *Session) keepVTime() error {
	if !usesBuiltin(s.prog, code.VTimestamp) || len(s.Symbols.Lookup(switchTo)) == 0 {
		return nil
	}
	ps, err := s.registry.Match(probes.Desc{Provider: "kinst", Function: switchTo, Name: "0"})
	if err != nil || len(ps) == 0 {
		return err
	}
	s.vtime = vtime{probe: ps[0], ran: make(map[uint64]uint64), since: s.Target.Now()}
	return s.registry.Enable(ps[:1])
}

func (s *Session) endVTime() error {
	if s.vtime.probe == nil {
		return nil
	}
	return s.registry.Disable([]*probes.Probe{s.vtime.probe})
}

// switched adds the time of the thread that the CPU is about to leave.
func (s *Session) switched(f *probes.Firing) {
	t, err := s.OS.Thread(s.Target, f.CPU)
	if err != nil {
		return
	}
	if len(s.vtime.ran) >= maxThreads {
		clear(s.vtime.ran)
	}
	now := s.Target.Now()
	s.vtime.ran[t.Key] += now - s.vtime.since
	s.vtime.since = now
}

// VNow implements vm.Env. Where the switches of threads cannot be seen it is the time of
// all of them.
func (e *env) VNow() uint64 {
	now := e.s.Target.Now()
	if e.s.vtime.probe == nil || e.firing.CPU == nil {
		return now
	}
	t, _ := e.Thread()
	if t == nil {
		return 0
	}
	return e.s.vtime.ran[t.Key] + now - e.s.vtime.since
}

// usesBuiltin reports whether a program reads a builtin variable.
func usesBuiltin(p *code.Program, b code.Builtin) bool {
	uses := func(f *code.Func) bool {
		if f == nil {
			return false
		}
		for _, in := range f.Code {
			if in.Op == code.OpBuiltin && code.Builtin(in.Imm) == b {
				return true
			}
		}
		return false
	}
	for _, c := range p.Clauses {
		if uses(c.Pred) {
			return true
		}
		for _, a := range c.Actions {
			for _, f := range a.Funcs() {
				if uses(f) {
					return true
				}
			}
		}
	}
	return false
}
