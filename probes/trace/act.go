package trace

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
	if err := e.tr.Target.WriteMem(addr, p); err != nil {
		return badAddr(err, addr), false
	}
	return 0, true
}

// Progeny implements vm.Env.
func (e *env) Progeny(pid int32) (yes bool, bad uint64, ok bool) {
	p, known := e.tr.OS.(guestos.Processes)
	if !known || e.firing.CPU == nil {
		t, bad := e.Thread()
		return t != nil && (t.PID == pid || t.PPID == pid), bad, t != nil
	}
	err := p.Parents(e.tr.Target, e.firing.CPU, func(n int) bool {
		yes = n == int(pid)
		return !yes
	})
	return yes, badAddr(err, 0), err == nil
}

// UReg implements vm.Env.
func (e *env) UReg(i int) uint64 {
	if p, ok := e.tr.OS.(guestos.Processes); ok && e.firing.CPU != nil {
		v, _ := p.UserReg(e.tr.Target, e.firing.CPU, arch.Reg(i))
		return v
	}
	return 0
}

// Execargs implements vm.Env.
func (e *env) Execargs() (args string, bad uint64, ok bool) {
	p, known := e.tr.OS.(guestos.Processes)
	if !known || e.firing.CPU == nil {
		return "", 0, true
	}
	b, err := p.Arguments(e.tr.Target, e.firing.CPU, e.tr.Options.StrSize-1)
	return string(guestos.JoinArguments(b)), badAddr(err, 0), err == nil
}

// A guestAct is an action on the guest.
type guestAct struct {
	// can says why the action is not possible with a target; nil: it always is.
	can func(tr *Trace) error
	// do does it, with the action's argument, and reports whether it could.
	do func(e *env, n uint64) bool
}

// guestActs has a row for each action that is immediate.
var guestActs = map[code.Act]guestAct{
	code.Stop:       {(*Trace).canSignal, func(e *env, _ uint64) bool { return e.stop() }},
	code.Raise:      {(*Trace).canSignal, func(e *env, n uint64) bool { return n <= guestos.LastSignal && e.signal(int(n)) }},
	code.Panic:      {nil, func(e *env, _ uint64) bool { return e.halt(code.Panic) }},
	code.Breakpoint: {nil, func(e *env, _ uint64) bool { return e.halt(code.Breakpoint) }},
	code.Chill:      {nil, (*env).chill},
	code.Yield:      {nil, func(e *env, _ uint64) bool { e.tr.Target.Yield(); return true }},
}

// Do implements vm.Env.
func (e *env) Do(a code.Act, n uint64) bool { return guestActs[a].do(e, n) }

func (e *env) chill(ns uint64) bool {
	e.tr.Target.Chill(ns)
	e.tr.vtime.chilled(e.firing.CPU, ns)
	return true
}

func (e *env) halt(a code.Act) bool {
	e.tr.halted = a
	e.tr.Target.Stop()
	return true
}

// signal sends a signal to the process. BEGIN and END have none.
func (e *env) signal(n int) bool {
	os, ok := e.tr.OS.(guestos.Signaler)
	return ok && e.firing.CPU != nil && os.Signal(e.tr.Target, e.firing.CPU, n) == nil
}

// stop sends the signal that stops a process.
func (e *env) stop() bool {
	os, ok := e.tr.OS.(guestos.Signaler)
	return ok && e.signal(os.StopSignal())
}

func (tr *Trace) canSignal() error {
	if os, ok := tr.OS.(guestos.Signaler); ok {
		return os.CanSignal()
	}
	return fmt.Errorf("%s does not take signals from outside", tr.OS.System().Name)
}

// allowed refuses a program that does what option destructive is needed for, or what this
// target cannot do.
func (tr *Trace) allowed() error {
	if line, yes := tr.prog.Destructive(); yes && !tr.Options.Destructive {
		return fmt.Errorf("line %d: destructive actions not allowed", line)
	}
	for _, c := range tr.prog.Clauses {
		for _, a := range c.Actions {
			if can := guestActs[a.Act].can; can != nil {
				if err := can(tr); err != nil {
					return fmt.Errorf("line %d: %v( ) is not possible: %w", a.Line, a.Act, err)
				}
			}
		}
	}
	return nil
}

// Halted says that a panic() or breakpoint() action has ended the run, and which.
func (tr *Trace) Halted() (act code.Act, yes bool) { return tr.halted, tr.halted != code.Eval }
