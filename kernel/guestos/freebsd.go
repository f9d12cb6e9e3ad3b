package guestos

import (
	"cmp"
	"fmt"
	"sync"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// freebsd is a FreeBSD kernel. A CPU's own area is a struct pcpu, which points to the current
// thread. Where things lie in structures comes from the image's debug information, so any version
// and configuration will do. It keeps frame pointers.
type freebsd struct {
	frames
	isa   *isa
	cpu   *freebsdCPU
	types func() freebsdTypes

	thread0 uint64    // the first struct thread, which the kernel has from its first instruction on
	pcpus   [2]uint64 // the array of areas, where there is one
	entries []kernel.Symbol

	spared Parts
	thread members // those of freebsdLayout in a struct thread
	proc   members // in a struct proc
	start  [16]byte
	names  names
}

// A freebsdCPU is what FreeBSD does differently on each architecture.
type freebsdCPU struct {
	// pcpu finds the CPU's own area; 0: there is none yet.
	pcpu func(f *freebsd, mem Mem, regs arch.Regs) uint64
	// entries are code in which it depends on the program counter how that is done.
	entries []string
	// saved names the member of struct trapframe that keeps a register, and the element of an
	// array; "" is none.
	saved func(r arch.Reg) (member string, element int)
	// frames has the stack end, or go on in what was interrupted, at the kernel's entries.
	frames func(f *freebsd)
}

// freebsdCPUs has how FreeBSD finds a CPU's own area and saves registers on each architecture.
var freebsdCPUs arch.Table[*freebsdCPU]

func newFreeBSD(img *kernel.Image, cache string) (OS, error) {
	isa, err := isaFor(img.Arch())
	if err != nil {
		return nil, err
	}
	cpu, ok := freebsdCPUs.Of(img.Arch())
	if !ok {
		return nil, fmt.Errorf("no knowledge of FreeBSD on %s", img.Arch())
	}
	f := &freebsd{frames: newFrames(img), isa: isa, cpu: cpu, names: names{}}
	f.types = sync.OnceValue(func() freebsdTypes { return readFreeBSD(img, cache) })
	if s := img.Symtab().Lookup(freebsdThread0); len(s) > 0 {
		f.thread0 = s[0].Addr
	}
	if s := img.Symtab().Lookup("__pcpu"); len(s) > 0 {
		f.pcpus = [2]uint64{s[0].Addr, s[0].Addr + s[0].Size}
	}
	for _, name := range cpu.entries {
		f.entries = append(f.entries, img.Symtab().Lookup(name)...)
	}
	cpu.frames(f)
	return f, nil
}

// System implements OS.
func (f *freebsd) System() *System { return FreeBSD }

// Thread reads the current struct thread and its process; before the boot CPU has an area, the
// first thread's. An idle CPU is in process 11, "idle".
//
// The key mixes the address of the struct thread with the thread's number and the time at which its
// process started: both structures and numbers are used again, but numbers are handed out in a circle
// of a hundred thousand. The processes of the kernel itself do not end, but the time at which they
// started changes when the kernel has set its clock.
func (f *freebsd) Thread(mem Mem, regs arch.Regs) (Thread, error) {
	l := f.types().layout
	if l == nil {
		return Thread{}, f.types().err
	}
	td, err := f.current(mem, regs)
	if err != nil {
		return Thread{}, fmt.Errorf("reading the current thread: %w", err)
	}
	t, err := f.readThread(mem, l, td)
	if err != nil && td == f.thread0 { // the kernel is not mapped where it belongs
		return Thread{Key: ThreadKey(td, 0), Addr: td}, nil
	}
	return t, err
}

// current is the address of the current struct thread.
func (f *freebsd) current(mem Mem, regs arch.Regs) (uint64, error) {
	l := f.types().layout
	if l == nil {
		return 0, f.types().err
	}
	pcpu := f.cpu.pcpu(f, mem, regs)
	if pcpu == 0 {
		return f.thread0, nil
	}
	td, err := f.u64(mem, pcpu+l.curthread)
	return cmp.Or(td, f.thread0), err
}

func (f *freebsd) readThread(mem Mem, l *freebsdLayout, td uint64) (Thread, error) {
	if err := f.thread.read(mem, td, l.inThread); err != nil {
		return Thread{}, fmt.Errorf("reading the current thread: %w", err)
	}
	t := Thread{TID: int(f.thread.s32(l.tid)), Addr: td, Key: ThreadKey(td, 0)}
	if l.keepsErrno {
		t.Errno = f.thread.s32(l.errno)
	}
	proc := f.thread.u64(l.proc)
	if proc == 0 { // the first one, at the beginning
		return t, nil
	}
	if err := f.proc.read(mem, proc, l.inProc); err != nil {
		return Thread{}, fmt.Errorf("reading the current process: %w", err)
	}
	t.PID = int(f.proc.s32(l.pid))
	t.Execname = f.names.get(f.proc.b[l.comm:][:l.commSize])
	err := f.key(mem, l, &t)
	if err == nil && f.spared&Parent == 0 {
		err = f.readParent(mem, l, &t)
	}
	if err == nil && f.spared&Credentials == 0 {
		err = f.readCred(mem, l, &t)
	}
	return t, err
}

// freebsdSystemProcess is the flag of processes of the kernel itself (P_SYSTEM).
const freebsdSystemProcess = 0x200

func (f *freebsd) key(mem Mem, l *freebsdLayout, t *Thread) error {
	if t.Addr == f.thread0 {
		return nil
	}
	start, stats := uint64(0), f.proc.u64(l.stats)
	if stats != 0 && f.proc.s32(l.flag)&freebsdSystemProcess == 0 {
		if err := mem.ReadMem(stats+l.start, f.start[:]); err != nil {
			return fmt.Errorf("reading the start of the current process: %w", err)
		}
		const second = 1e6 // struct timeval
		start = le.Uint64(f.start[:])*second + le.Uint64(f.start[8:])
	}
	t.Key = ThreadKey(ThreadKey(t.Addr, uint64(t.TID)), start)
	return nil
}

// Spare implements Sparing.
func (f *freebsd) Spare(p Parts) { f.spared = p }

func (f *freebsd) readParent(mem Mem, l *freebsdLayout, t *Thread) error {
	parent := f.proc.u64(l.parent)
	if parent == 0 {
		return nil
	}
	ppid, err := f.u32(mem, parent+l.pid)
	if err != nil {
		return fmt.Errorf("reading the current process's parent: %w", err)
	}
	t.PPID = int(int32(ppid))
	return nil
}

// readCred reads the effective user and group, which dtrace's uid and gid are there.
func (f *freebsd) readCred(mem Mem, l *freebsdLayout, t *Thread) (err error) {
	cred := f.thread.u64(l.ucred)
	if cred == 0 {
		return nil
	}
	gid := cred + l.gid
	if l.groups {
		gid, err = f.u64(mem, gid)
	}
	if err == nil {
		t.UID, err = f.u32(mem, cred+l.uid)
	}
	if err == nil {
		t.GID, err = f.u32(mem, gid)
	}
	if err != nil {
		return fmt.Errorf("reading the current thread's credentials: %w", err)
	}
	return nil
}

// Stack follows frame pointers, through exceptions and interrupts, up to the system call or the
// thread's start.
func (f *freebsd) Stack(mem Mem, regs arch.Regs, pcs []uint64) int {
	return f.isa.frames(&f.frames, mem, regs, pcs)
}

// Slide: these kernels run where they were linked, wherever they lie in memory.
func (f *freebsd) Slide(arch.Regs) (uint64, bool) { return 0, true }

// Unsafe: the kernel keeps no list of code that must not be traced; FreeBSDPolicy does.
func (f *freebsd) Unsafe(uint64) string { return "" }

// Enters implements Enterer.
func (f *freebsd) Enters(addr uint64) bool {
	for _, s := range f.entries {
		if addr-s.Addr < s.Size {
			return true
		}
	}
	return false
}

// SwitchFuncs implements Switcher: cpu_throw leaves a thread that has ended.
func (f *freebsd) SwitchFuncs() []string { return []string{"cpu_switch", "cpu_throw"} }

// OneThread implements Switcher.
func (f *freebsd) OneThread() bool { return false }

// isArea reports whether there can be a CPU's own area at an address.
func (f *freebsd) isArea(at uint64) bool {
	if f.pcpus[1]-f.pcpus[0] > 8 { // an array of areas; else a pointer to one
		return f.pcpus[0] <= at && at < f.pcpus[1] && at%8 == 0
	}
	return highHalf(at) && at%8 == 0
}
