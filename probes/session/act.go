package session

import (
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/code"
)

// Write implements vm.Env.
func (e *env) Write(addr uint64, p []byte) (bad uint64, ok bool) {
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
	b, err := p.Arguments(e.s.Target, e.firing.CPU, e.s.Options.VM.StrSize-1)
	return string(guestos.JoinArguments(b)), badAddr(err, 0), err == nil
}

// Do implements vm.Env. BEGIN and END have no process to send a signal to.
func (e *env) Do(a code.Act, n uint64) bool {
	switch a {
	case code.Chill:
		c, ok := e.s.Target.(probes.Chiller)
		if ok {
			c.Chill(n)
			e.s.vtime.chilled(e.firing.CPU, n)
		}
		return ok
	case code.Yield:
		y, ok := e.s.Target.(probes.Yielder)
		if ok {
			y.Yield()
		}
		return ok
	case code.Stop:
		return e.signal(guestos.StopSignal)
	case code.Raise:
		return n <= guestos.LastSignal && e.signal(int(n))
	case code.Panic, code.Breakpoint:
		e.s.halted = a
		e.s.Target.Stop()
		return true
	}
	return false
}

func (e *env) signal(n int) bool {
	os, ok := e.s.OS.(guestos.Signaler)
	return ok && e.firing.CPU != nil && os.Signal(e.s.Target, e.firing.CPU, n) == nil
}
