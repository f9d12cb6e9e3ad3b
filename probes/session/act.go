package session

import (
	"fmt"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/d/code"
)

// Write implements vm.Env.
func (e *env) Write(addr uint64, p []byte) (bad uint64, ok bool) {
	if addr < firstPage && len(p) > 0 {
		return addr, false
	}
	if err := e.s.Target.WriteMem(addr, p); err != nil {
		return badAddr(err, addr), false
	}
	return 0, true
}

// Progeny implements vm.Env.
func (e *env) Progeny(pid int32) (yes bool, bad uint64, ok bool) {
	p, known := e.s.OS.(guestos.Processes)
	if !known || e.firing.CPU == nil {
		t, bad := e.Thread()
		return t != nil && (t.PID == pid || t.PPID == pid), bad, t != nil
	}
	err := p.Parents(e.s.Target, e.firing.CPU, func(n int) bool {
		yes = n == int(pid)
		return !yes
	})
	return yes, badAddr(err, 0), err == nil
}

// UReg implements vm.Env.
func (e *env) UReg(i int) uint64 {
	if p, ok := e.s.OS.(guestos.Processes); ok && e.firing.CPU != nil {
		v, _ := p.UserReg(e.s.Target, e.firing.CPU, arch.Reg(i))
		return v
	}
	return 0
}

// Execargs implements vm.Env.
func (e *env) Execargs() (args string, bad uint64, ok bool) {
	p, known := e.s.OS.(guestos.Processes)
	if !known || e.firing.CPU == nil {
		return "", 0, true
	}
	b, err := p.Arguments(e.s.Target, e.firing.CPU, e.s.Options.StrSize-1)
	return string(guestos.JoinArguments(b)), badAddr(err, 0), err == nil
}

// A guestAct is an action on the guest.
type guestAct struct {
	// can says why the action is not possible with a target; nil: it always is.
	can func(s *Session) error
	// do does it, with the action's argument, and reports whether it could.
	do func(e *env, n uint64) bool
}

// guestActs has a row for each action that is immediate.
var guestActs = map[code.Act]guestAct{
	code.Stop:       {(*Session).canSignal, func(e *env, _ uint64) bool { return e.signal(guestos.StopSignal) }},
	code.Raise:      {(*Session).canSignal, func(e *env, n uint64) bool { return n <= guestos.LastSignal && e.signal(int(n)) }},
	code.Panic:      {nil, func(e *env, _ uint64) bool { return e.halt(code.Panic) }},
	code.Breakpoint: {nil, func(e *env, _ uint64) bool { return e.halt(code.Breakpoint) }},
	code.Chill:      {nil, (*env).chill},
	code.Yield:      {nil, func(e *env, _ uint64) bool { e.s.Target.Yield(); return true }},
}

// Do implements vm.Env.
func (e *env) Do(a code.Act, n uint64) bool { return guestActs[a].do(e, n) }

func (e *env) chill(ns uint64) bool {
	e.s.Target.Chill(ns)
	e.s.vtime.chilled(e.firing.CPU, ns)
	return true
}

func (e *env) halt(a code.Act) bool {
	e.s.halted = a
	e.s.Target.Stop()
	return true
}

// signal sends a signal to the process. BEGIN and END have none.
func (e *env) signal(n int) bool {
	os, ok := e.s.OS.(guestos.Signaler)
	return ok && e.firing.CPU != nil && os.Signal(e.s.Target, e.firing.CPU, n) == nil
}

func (s *Session) canSignal() error {
	if os, ok := s.OS.(guestos.Signaler); ok {
		return os.CanSignal()
	}
	return fmt.Errorf("%s does not take signals from outside", s.OS.System().Name)
}
