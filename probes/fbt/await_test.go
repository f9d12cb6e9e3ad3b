package fbt

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
)

// Calls that never return, as exit, are forgotten with their threads: what is kept does not grow
// with the threads that there have been.
func TestAwaitNeverReturns(t *testing.T) {
	r := newRig(t, nil)
	thread := guestos.Thread{}
	r.Await = func(probes.CPU) guestos.Thread { return thread }
	r.enable("fbt::tail:return")
	const stack, structures = 0xffffffff81004000, 8
	r.target.Map(stack, binary.LittleEndian.AppendUint64(nil, r.addr("split+8")))
	r.target.CPU.SetReg(arch.RSP, stack)
	for i := range uint64(1000) {
		thread = guestos.Thread{Key: 1 + i, Addr: 0x1000 + i%structures}
		if got := r.run("tail+5"); got != "" {
			t.Fatalf("thread %d: %s", thread.Key, got)
		}
	}
	if n := r.awaited.Len(); n != structures {
		t.Errorf("%d threads are waited for", n)
	}
	for _, fn := range r.Provider.funcs {
		if n := len(fn.behind); n > 1 {
			t.Errorf("%d places to return to", n)
		}
	}
	// The last of them does return, after all; one that has gone does not.
	r.target.CPU.SetReg(arch.RSP, stack+8)
	r.target.CPU.SetReg(arch.RAX, 9)
	thread.Key -= structures
	if got := r.run("split+8"); got != "" {
		t.Errorf("a thread that has ended returns: %s", got)
	}
	thread.Key += structures
	if got := r.run("split+8"); got != "tail:return 5 9 0" {
		t.Errorf("it returns: %q", got)
	}
}

// A place to return to goes with its text: what comes to lie there is looked at anew.
func TestAwaitForget(t *testing.T) {
	r := newRig(t, nil)
	r.Await = func(probes.CPU) guestos.Thread { return guestos.Thread{Key: 1, Addr: 1} }
	r.enable("fbt::tail:return")
	const stack = 0xffffffff81004000
	r.target.Map(stack, binary.LittleEndian.AppendUint64(nil, r.addr("split+8")))
	call := func() string {
		r.target.CPU.SetReg(arch.RSP, stack)
		r.run("tail+5")
		r.target.CPU.SetReg(arch.RSP, stack+8)
		return r.run("split+8")
	}
	const want = "tail:return 5 0 0"
	if got := call(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	lo := r.addr("split") &^ 0xff
	r.Forget(lo, lo+0x100)
	r.Text.Set.Forget(lo, lo+0x100)
	if got := call(); got != want {
		t.Errorf("other text there: %q, want %q", got, want)
	}
	if r.target.Err != nil {
		t.Error(r.target.Err)
	}
}
