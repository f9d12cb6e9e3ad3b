package osfile

import (
	"errors"
	"fmt"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/code"
	"trapline/probes/d/vm"
)

// described is a kernel as a file describes it. What the file does not say is what the kernel is
// without it.
type described struct {
	guestos.OS
	file     string
	system   *guestos.System
	machine  *vm.Machine
	funcs    map[string]*code.Func
	switches string
	readsPC  bool // curthread, or a part of a thread, depends on the program counter
	view     view
	spared   guestos.Parts
	names    map[string]string // execnames, so that one is allocated once
}

// System implements guestos.OS.
func (k *described) System() *guestos.System { return k.system }

// SwitchFuncs implements guestos.Switcher.
func (k *described) SwitchFuncs() (names []string) {
	if k.switches != "" {
		names = append(names, k.switches)
	}
	return names
}

// OneThread implements guestos.Switcher.
func (k *described) OneThread() bool { return false }

// Spare implements guestos.Sparing.
func (k *described) Spare(p guestos.Parts) { k.spared = p }

// Enters implements guestos.Enterer: the thread depends on the program counter wherever the file asks
// for that.
func (k *described) Enters(uint64) bool { return k.readsPC }

// Unknown implements guestos.Partial.
func (k *described) Unknown(part string) string {
	switch part {
	case pid, ppid, uid, gid, execname:
		if k.funcs[part] == nil {
			return fmt.Sprintf("%s does not say what it is", k.file)
		}
	case "stack":
		if base, ok := k.OS.(guestos.Partial); ok {
			return base.Unknown(part)
		}
	}
	return ""
}

// noThread is the key of the only thread there is while curthread is NULL.
const noThread = ^uint64(0)

// Thread implements guestos.OS. While curthread is NULL there is none, and all parts are 0.
func (k *described) Thread(mem guestos.Mem, regs arch.Regs) (guestos.Thread, error) {
	k.at(mem, regs)
	t := guestos.Thread{Key: noThread}
	var err error
	if t.Addr, err = k.compute(k.funcs[curthread]); err != nil || t.Addr == 0 {
		return t, err
	}
	numbers := k.parts(&err)
	t.PID, t.TID, t.PPID = int(int32(numbers[0])), int(int32(numbers[1])), int(int32(numbers[2]))
	t.UID, t.GID = uint32(numbers[3]), uint32(numbers[4])
	if k.funcs[tid] == nil {
		t.TID = t.PID
	}
	if t.Key = numbers[5]; k.funcs[threadID] == nil {
		t.Key = guestos.ThreadKey(t.Addr, uint64(t.PID)<<32|uint64(uint32(t.TID)))
	}
	if err == nil && k.funcs[execname] != nil {
		t.Execname, err = k.text(k.funcs[execname])
	}
	return t, err
}

// part is a number of a thread, which may be spared.
type part struct {
	name string
	of   guestos.Parts
}

var parts = [6]part{{pid, 0}, {tid, 0}, {ppid, guestos.Parent}, {uid, guestos.Credentials}, {gid, guestos.Credentials}, {threadID, 0}}

// parts computes them; the first error stays.
func (k *described) parts(err *error) (v [len(parts)]uint64) {
	for i, p := range parts {
		if fn := k.funcs[p.name]; fn != nil && *err == nil && k.spared&p.of == 0 {
			v[i], *err = k.compute(fn)
		}
	}
	return v
}

// at has expressions look at a CPU and its memory.
func (k *described) at(mem guestos.Mem, regs arch.Regs) {
	k.view.mem, k.view.regs, k.view.cpu, k.view.err = mem, regs, 0, nil
	if n, ok := regs.(guestos.Numbered); ok {
		k.view.cpu = n.ID()
	}
}

// compute is the value of an expression.
func (k *described) compute(fn *code.Func) (uint64, error) {
	v, f, ok := k.machine.Eval(&k.view, fn)
	switch {
	case ok:
		return v, nil
	case k.view.err != nil:
		return 0, k.view.err
	}
	return 0, errors.New(f.Text())
}

// text is a string.
func (k *described) text(fn *code.Func) (string, error) {
	const maxNames = 1024 // a guest that makes up names without end must not fill memory
	v, err := k.compute(fn)
	if err != nil {
		return "", err
	}
	b := k.machine.Text(v)
	s, ok := k.names[string(b)]
	if !ok {
		if len(k.names) == maxNames {
			clear(k.names)
		}
		s = string(b)
		k.names[s] = s
	}
	return s, nil
}

// A view is the guest as expressions see it. It has no part of vm.Env but those that suits lets through.
type view struct {
	vm.Env
	mem  guestos.Mem
	regs arch.Regs
	args []arch.Reg // of a function, at its first instruction
	cpu  int
	err  error // of the last read that failed
}

// CPU implements vm.Env.
func (v *view) CPU() int { return v.cpu }

// Reg implements vm.Env.
func (v *view) Reg(i int) uint64 { return v.regs.Reg(arch.Reg(i)) }

// Arg implements vm.Env.
func (v *view) Arg(i int) uint64 { return v.Reg(int(v.args[i])) }

// firstPage is the size of what cannot be reached, so that NULL is no address in any guest.
const firstPage = 4096

// Read implements vm.Env.
func (v *view) Read(addr uint64, p []byte) (bad uint64, ok bool) {
	if addr < firstPage {
		v.err = &probes.Fault{Addr: addr}
		return addr, false
	}
	if v.err = v.mem.ReadMem(addr, p); v.err != nil {
		return addr, false
	}
	return 0, true
}
