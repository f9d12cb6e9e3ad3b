package osfile

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
)

// guest is memory and the registers of a CPU.
type guest struct {
	words map[uint64]uint64
	regs  map[arch.Reg]uint64
	cpu   int
}

func (g *guest) ReadMem(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		w, ok := g.words[at&^7]
		if !ok {
			return &probes.Fault{Addr: at}
		}
		p[i] = byte(w >> (8 * (at & 7)))
	}
	return nil
}

func (g *guest) Reg(r arch.Reg) uint64       { return g.regs[r] }
func (g *guest) SetReg(r arch.Reg, v uint64) { g.regs[r] = v }
func (g *guest) ID() int                     { return g.cpu }

// base is a kernel of which nothing is known, and whose variable cpus lies at 0x10000.
type base struct{ guestos.OS }

func (base) System() *guestos.System { return guestos.Bare }

type symbols struct{}

func (symbols) Lookup(name string) []kernel.Symbol {
	switch name {
	case "cpus":
		return []kernel.Symbol{{Name: name, Addr: 0x10000, Size: 64}}
	case "calls":
		return []kernel.Symbol{{Name: name, Addr: 0x11000}}
	}
	return nil
}

func open(text string) (guestos.OS, error) {
	return New(Config{File: "my.d", Text: []byte(text), Arch: arch.AMD64, Symbols: symbols{}, Base: base{}})
}

// file describes a kernel with an array of CPUs. Without type information it declares what it needs.
const file = `
struct proc { struct proc *parent; int pid; uint32_t uid; char name[16]; uint64_t args[2]; };
inline struct proc *curthread = ((struct proc **)&` + "`cpus" + `)[cpu];
inline int pid = curthread->pid;
inline int ppid = curthread->parent != NULL ? curthread->parent->pid : 0;
inline uid_t uid = curthread->uid;
inline string execname = curthread->name;
inline uint64_t syscall_arg[int n] = n < 2 ? curthread->args[n] : arg0;
`

// running has process 7, "init", on CPU 1, and nothing on CPU 0.
func running() *guest {
	name := binary.LittleEndian.Uint64([]byte("init\x00\x00\x00\x00"))
	return &guest{cpu: 1, regs: map[arch.Reg]uint64{arch.RDI: 99}, words: map[uint64]uint64{
		0x10000: 0, 0x10008: 0x20000,
		0x20000: 0x30000, 0x20008: 1000<<32 | 7, 0x20010: name, 0x20018: 0, 0x20020: 5, 0x20028: 6,
		0x30000: 0, 0x30008: 1,
	}}
}

func TestThread(t *testing.T) {
	k, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	g := running()
	th, err := k.Thread(g, g)
	want := guestos.Thread{Key: th.Key, PID: 7, TID: 7, PPID: 1, UID: 1000, Execname: "init", Addr: 0x20000}
	if err != nil || th != want || th.Key == 0 {
		t.Errorf("%+v, %v, want %+v", th, err, want)
	}
	if n := testing.AllocsPerRun(100, func() { k.Thread(g, g) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	again := running()
	again.words[0x20008] = 1000<<32 | 8
	if next, _ := k.Thread(again, again); next.Key == th.Key {
		t.Error("another process in the same structure has the same key")
	}
	g.cpu = 0
	if th, err := k.Thread(g, g); err != nil || th != (guestos.Thread{Key: ^uint64(0)}) {
		t.Errorf("on a CPU without a thread %+v, %v", th, err)
	}
	k.(guestos.Sparing).Spare(guestos.Parent | guestos.Credentials)
	g.cpu = 1
	delete(g.words, 0x30008)
	if th, err := k.Thread(g, g); err != nil || th.PPID != 0 || th.UID != 0 || th.PID != 7 {
		t.Errorf("spared: %+v, %v", th, err)
	}
}

// What cannot be read is an error with the address, never 0.
func TestFaults(t *testing.T) {
	k, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []uint64{0x10008, 0x20000, 0x20008, 0x20010, 0x30008} {
		g := running()
		delete(g.words, gone)
		_, err := k.Thread(g, g)
		var fault *probes.Fault
		if !errors.As(err, &fault) || fault.Addr&^7 != gone {
			t.Errorf("without %#x: %v", gone, err)
		}
	}
	g := running()
	g.words[0x10008] = 8 // a wild pointer into the first page
	if _, err := k.Thread(g, g); err == nil {
		t.Error("the first page was read")
	}
}

func TestSystemCalls(t *testing.T) {
	k, err := open(file + `inline string syscall_table = "cpus";`)
	if err != nil {
		t.Fatal(err)
	}
	g := running()
	table := k.System().Calls.Find(noSymbols{}, g.ReadMem)
	for i, want := range []uint64{5, 6, 99} {
		if got, err := table.Args.Read(g, g, i); got != want || err != nil {
			t.Errorf("argument %d is %d, %v, want %d", i, got, err, want)
		}
	}
}

type noSymbols struct{ symbols }

func (noSymbols) Glob(string) []kernel.Symbol { return nil }

func TestPartial(t *testing.T) {
	k, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	for part, known := range map[string]bool{"pid": true, "tid": true, "execname": true, "uid": true, "gid": false} {
		if why := k.(guestos.Partial).Unknown(part); (why == "") != known {
			t.Errorf("%s: %q", part, why)
		}
	}
	if k.(guestos.Enterer).Enters(1) {
		t.Error("the thread depends on the program counter")
	}
	k, err = open("inline uint64_t curthread = regs[R_RIP] < 0x1000 ? 0 : regs[R_GSBASE];")
	if err != nil {
		t.Fatal(err)
	}
	if !k.(guestos.Enterer).Enters(1) {
		t.Error("the thread does not depend on the program counter")
	}
}

func TestErrors(t *testing.T) {
	const thread = "inline uint64_t curthread = regs[R_GSBASE];\n"
	for text, want := range map[string]string{
		"":                                                   "my.d: it does not say what curthread is: inline struct TAG *curthread = ...;",
		"BEGIN { exit(0); }":                                 "my.d: line 1: it has a clause: such a file has declarations alone",
		thread + "inline int pid = arg0;":                    "my.d: pid asks for arg0, which is not known there",
		thread + "inline int pid = tid;":                     "my.d: pid asks for tid, which is not known there",
		thread + "inline int pid = rand();":                  "my.d: pid asks for rand(), which is not known there",
		thread + "inline int pid = self->x;":                 "self->x has not yet been declared or assigned",
		thread + "inline int execname = 1;":                  "my.d: execname is not a string: inline string execname = ...;",
		thread + "inline string pid = \"\";":                 "my.d: pid is not an integer or a pointer",
		thread + "inline int pid = `nosuch;":                 "failed to resolve `nosuch: Unknown symbol name",
		thread + "inline string syscall_table = \"nosuch\";": "my.d: syscall_table: the kernel has no symbol nosuch",
		thread + "inline string syscall_table = \"calls\";":  "my.d: syscall_table: the symbol calls has no size: where the table ends is not known",
		thread + "inline string switch_function = \"f\";":    "my.d: switch_function: the kernel has no function f",
		thread + "inline int pid = ;":                        "syntax error",
		"int x; " + thread + "inline int pid = x;":           "my.d: pid asks for a variable of D's, which is not known there",
	} {
		if _, err := open(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
