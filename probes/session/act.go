package session

import (
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
	t, bad := e.Thread()
	if t == nil {
		return false, bad, false
	}
	return t.PID == pid || t.PPID == pid, 0, true
}

// Do implements vm.Env. Neither signals nor stopped processes can be had of a guest from
// outside: Start has refused a program that asks for them.
func (e *env) Do(a code.Act, n uint64) bool {
	switch a {
	case code.Chill:
		c, ok := e.s.Target.(probes.Chiller)
		if ok {
			c.Chill(n)
		}
		return ok
	case code.Panic, code.Breakpoint:
		e.s.halted = a
		e.s.Target.Stop()
		return true
	}
	return false
}
