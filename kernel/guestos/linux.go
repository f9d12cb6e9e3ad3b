package guestos

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// linux is a Linux kernel. Where things lie in its structures comes from the BTF of the
// image, so any version and configuration will do.
type linux struct {
	frames
	isa *isa

	percpu   percpu
	initTask uint64 // link-time address of the first task_struct
	anchor   uint64 // that of isa.anchor, 0 if there is none
	types    func() types
	orc      func() *orcTable
	unsafe   func() *unsafeCode

	text  [][2]uint64 // link-time ranges of code
	entry [2]uint64   // that of the code that enters and leaves the kernel

	tables []moduleTable
	spared Parts
	task   []byte    // a task_struct; layout.parts of it are read
	regs   [128]byte // registers saved on a stack
	names  names
}

// percpu are per-CPU variables; 0 where the kernel has none of the name. Up to Linux 6.14 on amd64 the
// value of such a symbol is an offset from the CPU's base, then it is a link-time address, and the base
// is how far the CPU's copy lies from there.
type percpu struct {
	current uint64 // pointer to the CPU's task_struct
	self    uint64 // this_cpu_off, which holds the base that the offsets count from
	// entryTask is __entry_task, a task_struct, as a link-time address of CPU 0's.
	entryTask uint64
}

func newLinux(img *kernel.Image, cache string) (OS, error) {
	isa, err := isaFor(img.Arch())
	if err != nil {
		return nil, err
	}
	l := &linux{frames: newFrames(img), isa: isa, names: names{}}
	l.initTask = l.symbol("init_task") - img.Slide()
	if at := l.symbol(isa.anchor.symbol); at != 0 {
		l.anchor = at - img.Slide()
	}
	l.percpu = percpu{current: l.variable("current_task"), self: l.variable("this_cpu_off")}
	if entry := l.symbol("__entry_task"); entry != 0 {
		l.percpu.entryTask = entry - img.Slide()
	}
	l.entry[0], l.entry[1], _ = between(img, "__entry_text_start", "__entry_text_end")
	if l.percpu.current == 0 { // from 6.2 on; its first member
		l.percpu.current = l.variable("pcpu_hot")
	}
	for _, mark := range []string{"text", "inittext"} {
		if lo, hi, ok := between(img, "_s"+mark, "_e"+mark); ok {
			l.text = append(l.text, [2]uint64{lo, hi})
		}
	}
	l.types = sync.OnceValue(func() types { return readTypes(img, cache) })
	l.orc = sync.OnceValue(func() *orcTable { return newORC(img, orcFormatOf(l.types().orcEnd)) })
	l.unsafe = sync.OnceValue(func() *unsafeCode { return findUnsafe(img) })
	return l, nil
}

// variable is the value of a per-CPU variable's symbol, at link time.
func (l *linux) variable(name string) uint64 {
	v := l.symbol(name)
	if highHalf(v) {
		v -= l.img.Slide()
	}
	return v
}

// place is what is to be added to a CPU's base for a per-CPU variable of amd64. On a kernel for one CPU
// it is the variable's address.
func (l *linux) place(variable uint64) uint64 {
	if highHalf(variable) {
		variable += l.img.Slide()
	}
	return variable
}

// symbol is the value of the first symbol of that name, 0 if there is none.
func (l *linux) symbol(name string) uint64 {
	addr, _ := l.img.Symtab().Value(name)
	return addr
}

// System implements OS.
func (l *linux) System() *System { return Linux }

// Thread reads the current task_struct; before the boot CPU has got one, init_task.
// An idle CPU is in process 0, "swapper/0".
//
// The key mixes the address of the task_struct with its start time: addresses are used
// again, but not within the same nanosecond. A thread that is not its process's first
// and calls execve becomes the first, in ID and start time, and so gets a new key.
func (l *linux) Thread(mem Mem, regs arch.Regs) (Thread, error) {
	lay := l.types().layout
	if lay == nil {
		return Thread{}, l.types().err
	}
	task, err := l.isa.currentTask(l, mem, regs)
	if err != nil {
		return Thread{}, fmt.Errorf("reading the current task: %w", err)
	}
	if task == 0 {
		return l.firstThread(mem, lay), nil
	}
	return l.readThread(mem, lay, task)
}

// firstThread is init_task. The very first instructions of a kernel run before it is
// mapped where it belongs; there is only one answer anyway.
func (l *linux) firstThread(mem Mem, lay *layout) Thread {
	task := l.initTask + l.img.Slide()
	t, err := l.readThread(mem, lay, task)
	if err != nil {
		return Thread{Key: ThreadKey(task, 0), Execname: "swapper", Addr: task}
	}
	return t
}

func (l *linux) readThread(mem Mem, lay *layout, task uint64) (Thread, error) {
	if l.task == nil {
		l.task = make([]byte, lay.parts[len(lay.parts)-1].end)
	}
	for _, p := range lay.parts {
		if err := mem.ReadMem(task+p.start, l.task[p.start:p.end]); err != nil {
			return Thread{}, fmt.Errorf("reading the current task: %w", err)
		}
	}
	t := Thread{
		Key:      ThreadKey(task, l.u64At(lay.startTime)),
		PID:      int(int32(l.u32At(lay.tgid))),
		TID:      int(int32(l.u32At(lay.pid))),
		Execname: l.names.get(l.task[lay.comm:][:16]),
		Addr:     task,
	}
	if l.spared&Parent == 0 {
		if err := l.readParent(mem, lay, &t); err != nil {
			return Thread{}, fmt.Errorf("reading the current task's parent: %w", err)
		}
	}
	if l.spared&Credentials == 0 {
		if err := l.readCred(mem, lay, &t); err != nil {
			return Thread{}, fmt.Errorf("reading the current task's credentials: %w", err)
		}
	}
	return t, nil
}

// Spare implements Sparing.
func (l *linux) Spare(p Parts) { l.spared = p }

func (l *linux) readParent(mem Mem, lay *layout, t *Thread) error {
	parent := l.u64At(lay.parent)
	if parent == 0 {
		return nil
	}
	ppid, err := l.u32(mem, parent+lay.tgid)
	t.PPID = int(int32(ppid))
	return err
}

func (l *linux) readCred(mem Mem, lay *layout, t *Thread) (err error) {
	cred := l.u64At(lay.cred)
	if cred == 0 {
		return nil
	}
	if t.UID, err = l.u32(mem, cred+lay.uid); err != nil {
		return err
	}
	t.GID, err = l.u32(mem, cred+lay.gid)
	return err
}

func (l *linux) u64At(off uint64) uint64 { return binary.LittleEndian.Uint64(l.task[off:]) }
func (l *linux) u32At(off uint64) uint32 { return binary.LittleEndian.Uint32(l.task[off:]) }

// ThreadKey makes a key of a Thread of the address of the kernel's structure and another number, which
// differs whenever the address is used again. It mixes both so that every bit counts (the finalizer of
// MurmurHash3, public domain), because each alone is equal for many threads.
func ThreadKey(task, start uint64) uint64 {
	k := task ^ start*0x9e3779b97f4a7c15
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return max(k^k>>33, 1)
}

// Stack follows the kernel's ORC tables, through exceptions and interrupts, up to the
// system call or the thread's start; or frame pointers, if it was built with them
// instead. Outside the kernel proper and the modules of Unwind (other modules, BPF
// programs) it ends.
func (l *linux) Stack(mem Mem, regs arch.Regs, pcs []uint64) int {
	if l.isa.userMode(regs) {
		return 0
	}
	if t := l.orc(); t != nil && l.isa.orc != nil {
		return l.isa.orc(l, t, mem, regs, pcs)
	}
	return l.isa.frames(&l.frames, mem, regs, pcs)
}

func (l *linux) Unsafe(addr uint64) string {
	return l.unsafe().reason(addr - l.img.Slide())
}

// linuxPanicLine reports whether a line is a panic's first, after the time stamp and the like that
// stand before a message in Linux's log.
func linuxPanicLine(line string) bool {
	return strings.HasPrefix(trimStamps(line), "Kernel panic - not syncing")
}

// inText reports whether a link-time address is in the kernel's own code.
func (l *linux) inText(link uint64) bool {
	for _, r := range l.text {
		if r[0] <= link && link < r[1] {
			return true
		}
	}
	return false
}

// inEntry reports whether an address is in the code that enters and leaves the kernel.
func (l *linux) inEntry(pc uint64) bool {
	link := pc - l.img.Slide()
	return l.entry[0] <= link && link < l.entry[1]
}

// Enters implements Enterer.
func (l *linux) Enters(addr uint64) bool {
	return l.inEntry(addr) || addr-l.img.Slide() == l.anchor
}

// SwitchFuncs implements Switcher: __switch_to is there on every architecture.
func (l *linux) SwitchFuncs() []string { return []string{"__switch_to"} }

// OneThread implements Switcher.
func (l *linux) OneThread() bool { return false }

// trimStamps takes "<0>", "[    1.234567] " and "[    T1] " off a line's beginning.
func trimStamps(line string) string {
	for {
		line = strings.TrimLeft(line, " ")
		end := strings.IndexAny(line, "]>")
		if end < 0 || line[0] != '[' && line[0] != '<' {
			return line
		}
		line = line[end+1:]
	}
}
