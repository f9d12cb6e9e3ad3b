package copies

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"trapline/insn"
	"trapline/trampoline"
)

// A watch counts entries and returns of functions in a program that is stepped through.
type watch struct {
	p      program
	enters map[uint64][]string // the functions that an address enters
	leaves map[uint64][]leave
	target map[uint64]uint64 // of the conditional jump at an address
	count  map[string]*struct{ entries, returns int }
	notes  map[string]bool
}

// A leave is a function and when it is left.
type leave struct {
	function string
	when     When
}

func newWatch(t *testing.T, p program, functions ...string) *watch {
	w := &watch{
		p: p, enters: map[uint64][]string{}, leaves: map[uint64][]leave{}, target: map[uint64]uint64{},
		count: map[string]*struct{ entries, returns int }{}, notes: map[string]bool{},
	}
	for _, name := range functions {
		w.count[name] = &struct{ entries, returns int }{}
		f, ok := p.index.Function(name)
		if !ok {
			t.Fatalf("no function %s", name)
		}
		for _, c := range f.Copies {
			s := p.find.Find(c)
			for _, note := range s.Notes {
				w.notes[name+": "+note] = true
			}
			w.add(name, *s.Entry, s.Returns)
		}
		for _, d := range f.Regular { // as fbt has it: nothing here ends in a tail call
			w.define(name, d.Entry)
		}
	}
	return w
}

// otherWay reports whether a copy of the function is said to have another way in.
func (w *watch) otherWay(function string) bool {
	for note := range w.notes {
		if strings.HasPrefix(note, function+": ") && strings.Contains(note, "has another way in") {
			return true
		}
	}
	return false
}

func (w *watch) add(name string, entry Site, returns []Site) {
	w.enters[entry.Addr] = append(w.enters[entry.Addr], name)
	for _, r := range returns {
		w.leaves[r.Addr] = append(w.leaves[r.Addr], leave{name, r.When})
		w.target[r.Addr] = w.flow(r.Addr).Target
	}
}

func (w *watch) define(name string, entry uint64) {
	w.enters[entry] = append(w.enters[entry], name)
	s, _ := w.p.img.Symtab().At(entry)
	code := make([]byte, s.Size)
	if w.p.img.Text(s.Addr, code) != nil {
		return
	}
	trampoline.AMD64.Walk(code, s.Addr, func(off, n int) bool {
		if addr := s.Addr + uint64(off); w.flow(addr).Way == insn.Return {
			w.leaves[addr] = append(w.leaves[addr], leave{name, Always})
		}
		return true
	})
}

func (w *watch) flow(addr uint64) insn.Flow {
	code := make([]byte, 16)
	if w.p.img.Text(addr, code) != nil {
		return insn.Flow{}
	}
	return trampoline.AMD64.Flow(code, addr)
}

// run steps through the program and returns its own counters, by function.
func (w *watch) run(t *testing.T) map[string]uint64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(w.p.path)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid, counters := cmd.Process.Pid, map[string]uint64{}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	pc := programCounter(t, pid)
	for {
		for name := range w.count {
			counters[name] = w.counter(t, pid, name)
		}
		if err := syscall.PtraceSingleStep(pid); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			return counters
		}
		next := programCounter(t, pid)
		w.step(pc, next)
		pc = next
	}
}

// step counts what the instruction at pc, after which the program went on at next, is.
func (w *watch) step(pc, next uint64) {
	for _, name := range w.enters[pc] {
		w.count[name].entries++
	}
	for _, l := range w.leaves[pc] {
		if taken := next == w.target[pc]; l.when == Always || taken == (l.when == Taken) {
			w.count[l.function].returns++
		}
	}
}

func programCounter(t *testing.T, pid int) uint64 {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
		t.Fatal(err)
	}
	return regs.PC()
}

// counters of the program that are not called as the function is.
var counterNames = map[string]string{"checked": "cold_calls"}

func (w *watch) counter(t *testing.T, pid int, name string) uint64 {
	variable := counterNames[name]
	if variable == "" {
		variable = name + "_calls"
	}
	var word [8]byte
	if _, err := syscall.PtracePeekData(pid, uintptr(w.p.img.Symtab().Lookup(variable)[0].Addr), word[:]); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint64(word[:])
}
