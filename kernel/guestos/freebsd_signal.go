package guestos

import (
	"cmp"
	"errors"
	"fmt"

	"trapline/kernel/arch"
	"trapline/kernel/debuginfo"
)

// freebsdSignals is where FreeBSD keeps the signals of a thread: offsets in struct thread, in bytes.
type freebsdSignals struct {
	pending, kill uint64 // sets of the signals that wait for it, bit n-1 for signal n
	ast           uint64 // what it has to do before it leaves the kernel
	bit           int    // of ast: take signals
}

// freebsdStop is SIGSTOP there.
const freebsdStop = 17

// freebsdSignalsOf finds the offsets. Before 14.0 there is no td_ast.
func freebsdSignalsOf(all *debuginfo.Types) (s freebsdSignals, err error) {
	thread, err := structOf(all, "thread")
	if err != nil {
		return s, err
	}
	err = cmp.Or(field(thread, "td_ast", 4, &s.ast),
		within(thread, &s.pending, "td_sigqueue", "sq_signals"), within(thread, &s.kill, "td_sigqueue", "sq_kill"))
	values := all.Enumerator("TDA_SIG")
	if err == nil && (len(values) != 1 || values[0] < 0 || values[0] >= 32) {
		err = errors.New("the kernel does not tell the value of TDA_SIG")
	}
	if err == nil {
		s.bit = int(values[0])
	}
	return s, err
}

// CanSignal implements Signaler.
func (f *freebsd) CanSignal() error { return f.types().noSignals }

// StopSignal implements Signaler.
func (f *freebsd) StopSignal() int { return freebsdStop }

// Signal puts the signal into the set of those that wait for the thread, as one of kill(2), and has the
// thread look there before it leaves the kernel.
func (f *freebsd) Signal(mem MemWriter, regs arch.Regs, n int) error {
	if n < 1 || n > LastSignal {
		return fmt.Errorf("no signal has the number %d", n)
	}
	td, err := f.current(mem, regs)
	if err != nil || td == 0 {
		return err
	}
	proc, err := f.process(mem, regs)
	if err != nil || proc == 0 {
		return err
	}
	flag, err := f.u32(mem, proc+f.types().layout.flag)
	if err != nil || flag&freebsdSystemProcess != 0 {
		return err
	}
	s := f.types().signals
	return cmp.Or(f.setBit(mem, td+s.pending, n-1), f.setBit(mem, td+s.kill, n-1), f.setBit(mem, td+s.ast, s.bit))
}

// setBit sets a bit of a word of 4 bytes, or of an array of them.
func (f *freebsd) setBit(mem MemWriter, addr uint64, bit int) error {
	addr += uint64(bit / 32 * 4)
	v, err := f.u32(mem, addr)
	if err != nil {
		return err
	}
	le.PutUint32(f.word[:], v|1<<(bit%32))
	return mem.WriteMem(addr, f.word[:4])
}
