package trace

import (
	"errors"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/code"
	"trapline/probes/d/vm"
)

// env is the guest as a program sees it at one firing. One is used over and over, so that
// a firing allocates nothing.
type env struct {
	tr     *Trace
	firing *probes.Firing
	probe  vm.Probe
	known  bool // probe is that of firing
	thread knownThread
	asked  bool // thread is that of firing
	notes  bool // what is read for thread is remembered, for deferred firings
	warned bool // noThread has said so
	cpu    numbered
	frames [2]uint64
}

func (e *env) begin(f *probes.Firing) {
	e.firing, e.known, e.asked, e.notes = f, false, false, false
}

// Probe implements vm.Env.
func (e *env) Probe() *vm.Probe {
	if !e.known {
		e.known = true
		p := e.firing.Probe
		e.probe = vm.Probe{ID: uint32(p.ID()), Prov: p.Provider(), Module: p.Module(), Func: p.Function(), Name: p.Name()}
	}
	return &e.probe
}

// CPU implements vm.Env. BEGIN and END happen on CPU 0.
func (e *env) CPU() int {
	if e.firing.CPU == nil {
		return 0
	}
	return e.firing.CPU.ID()
}

// Arg implements vm.Env.
func (e *env) Arg(i int) uint64 {
	if p, ok := e.firing.Probe.Group().Provider().(probes.Arguer); ok {
		return p.Arg(e.firing, i)
	}
	if i < len(e.firing.Args) {
		return e.firing.Args[i]
	}
	return 0
}

// Reg implements vm.Env. Registers are 0 in BEGIN and END.
func (e *env) Reg(i int) uint64 {
	if e.firing.CPU == nil {
		return 0
	}
	return e.firing.CPU.Reg(arch.Reg(i))
}

// Now implements vm.Env.
func (e *env) Now() uint64 { return e.tr.Target.Now() }

// Wall implements vm.Env.
func (e *env) Wall() int64 { return e.tr.Epoch + int64(e.tr.Target.Now()) }

// Thread implements vm.Env. BEGIN and END belong to a thread of their own, "dtrace".
func (e *env) Thread() (*vm.Thread, uint64) {
	k := &e.thread
	switch {
	case e.firing.Deferred:
		k = e.tr.known(e.firing.CPU)
		k.thread.Errno = e.errno(k.errno)
	case !e.asked:
		e.asked = true
		e.readThread()
	}
	if k.failed {
		return nil, k.bad
	}
	return &k.thread, 0
}

func (e *env) readThread() {
	e.thread = knownThread{}
	if e.firing.CPU == nil {
		e.thread.thread.Execname = "dtrace"
		return
	}
	if e.notes && e.tr.Target.Remembered() {
		e.thread = *e.tr.known(e.firing.CPU)
		e.thread.thread.Errno = e.errno(e.thread.errno)
		return
	}
	t, err := e.osThread()
	switch {
	case err == nil:
	case errors.Is(err, guestos.ErrNoThread):
		t = guestos.Thread{Key: ^uint64(0)}
		e.noThread(err)
	default:
		e.thread.failed, e.thread.bad = true, badAddr(err, 0)
	}
	e.thread.errno = t.Errno
	e.thread.thread = vm.Thread{
		Key: t.Key, PID: int32(t.PID), TID: int32(t.TID), PPID: int32(t.PPID),
		UID: t.UID, GID: t.GID, Execname: t.Execname, Addr: t.Addr, Errno: e.errno(t.Errno),
	}
	if e.notes {
		*e.tr.known(e.firing.CPU) = e.thread
	}
}

// noThread reports once that threads are not known: pid would be a silent 0.
func (e *env) noThread(err error) {
	if !e.warned {
		e.warned = true
		e.tr.Complain("pid, execname and self-> are 0, empty and one for all threads: %v", err)
	}
}

// osThread asks the OS for the thread.
func (e *env) osThread() (guestos.Thread, error) {
	if e.notes {
		return e.rememberThread()
	}
	return e.tr.OS.Thread(e.tr.Target, e.firing.CPU)
}

// rememberThread is osThread, with what is read noted. It is apart, for what it returns is allocated.
func (e *env) rememberThread() (t guestos.Thread, err error) {
	e.tr.Target.Remember(func(mem arch.Memory, regs arch.Regs) {
		e.cpu = numbered{regs, e.firing.CPU.ID()}
		t, err = e.tr.OS.Thread(mem, &e.cpu)
	})
	return t, err
}

// numbered are registers of the CPU with that number.
type numbered struct {
	arch.Regs
	id int
}

// ID implements guestos.Numbered.
func (n *numbered) ID() int { return n.id }

// maxErrno is the largest number of an error: what a system call returns is not negative, or
// one of those negated.
const maxErrno = 4095

// errno is the error of the system call that returns here, 0 if it has none; elsewhere that of the
// thread's last one, if its kernel keeps it.
func (e *env) errno(last int32) int32 {
	p := e.firing.Probe
	provider := p.Group().Provider()
	if !probes.AboutOf(provider).Calls || p.Name() != "return" {
		return last
	}
	if failer, ok := provider.(probes.Failer); ok {
		if errno, ok := failer.ErrorOf(e.firing); ok {
			return errno
		}
	}
	if v := -int64(e.Arg(1)); v > 0 && v <= maxErrno {
		return int32(v)
	}
	return 0
}

// ThreadOf returns the thread that a CPU is in, none if that is not known.
func (tr *Trace) ThreadOf(cpu probes.CPU) guestos.Thread {
	t, err := tr.OS.Thread(tr.Target, cpu)
	if err != nil {
		return guestos.Thread{}
	}
	return t
}

// Caller implements vm.Env.
func (e *env) Caller() uint64 {
	if e.Stack(e.frames[:]) < 2 {
		return 0
	}
	return e.frames[1]
}

// Stack implements vm.Env.
func (e *env) Stack(pcs []uint64) int {
	if e.firing.CPU == nil {
		return 0
	}
	return e.tr.OS.Stack(e.tr.Target, e.firing.CPU, pcs)
}

// UStack implements vm.Env.
func (e *env) UStack(pcs []uint64) int {
	if p, ok := e.tr.OS.(guestos.Processes); ok && e.firing.CPU != nil {
		return guestos.UserStack(p, e.tr.Target.Arch(), e.tr.Target, e.firing.CPU, pcs)
	}
	return 0
}

// firstPage is the size of what a program cannot reach, so that NULL is no address in any guest: while
// one has no page tables yet, it has memory there.
const firstPage = 4096

// Read implements vm.Env.
func (e *env) Read(addr uint64, p []byte) (bad uint64, ok bool) {
	if addr < firstPage && len(p) > 0 {
		return addr, false
	}
	err := e.tr.Target.ReadMem(addr, p)
	if err == nil {
		return 0, true
	}
	return badAddr(err, addr), false
}

// badAddr is the address that could not be reached, or other if the error does not say.
func badAddr(err error, other uint64) uint64 {
	var fault *probes.Fault
	if errors.As(err, &fault) {
		return fault.Addr
	}
	return other
}

// spareThreads keeps the OS from reading what the program does not ask for.
func (tr *Trace) spareThreads() {
	os, can := tr.OS.(guestos.Sparing)
	if !can {
		return
	}
	var spared guestos.Parts
	if !usesBuiltin(tr.prog, code.PPID) {
		spared |= guestos.Parent
	}
	if !usesBuiltin(tr.prog, code.UID) && !usesBuiltin(tr.prog, code.GID) {
		spared |= guestos.Credentials
	}
	os.Spare(spared)
}
