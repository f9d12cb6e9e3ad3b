package guestos

import (
	"encoding/binary"
	"fmt"
	"strings"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// Tiny is what is known of the teaching kernel.
var Tiny = &System{
	Name: "tiny", Title: "tiny",
	Is:        func(tab *kernel.Symtab) bool { return tab.Lookup(tinyBanner) != nil },
	New:       newTiny,
	PanicLine: tinyPanicLine,
	Module:    ModuleName{"vmlinux", "kernel"},
	Banner:    tinyBanner,
	ThreadTag: "thread",
	Calls:     &Calls{Find: findTinyCalls},
}

const (
	tinyBanner = "tiny_banner"
	tinyCall   = "sys_"
)

// findTinyCalls: all take the caller's registers in memory.
func findTinyCalls(symbols Symbols, read Reader) CallTable {
	t := CallTable{Args: savedArgs, Prefixes: []string{tinyCall}}
	t.tabled(symbols, read, "calls", tinyCall)
	return t
}

// tiny is the teaching kernel of images/tiny. The global "current" points to the running
// thread, which begins with
//
//	 0  u64 id    unique, never used again, not 0
//	 8  s32 pid
//	12  s32 tid
//	16  s32 ppid
//	20  u32 uid
//	24  u32 gid
//	28  char name[16]
//
// It keeps frame pointers.
type tiny struct {
	frames
	isa     *isa
	current uint64 // link-time address of the pointer
	thread  [44]byte
	names   names
}

func newTiny(img *kernel.Image, _ string) (OS, error) {
	isa, err := isaFor(img.Arch())
	if err != nil {
		return nil, err
	}
	current := img.Symtab().Lookup("current")
	if len(current) == 0 {
		return nil, fmt.Errorf("kernel image %s: tiny without the symbol current", img.Name())
	}
	return &tiny{
		frames: newFrames(img), isa: isa, names: names{},
		current: current[0].Addr - img.Slide(),
	}, nil
}

// System implements OS.
func (t *tiny) System() *System { return Tiny }

// Thread reads the thread that current points to. Before there is one, the only thread
// has neither name nor number.
func (t *tiny) Thread(mem Mem, regs arch.Regs) (Thread, error) {
	p, err := t.u64(mem, t.current+t.img.Slide())
	if err != nil {
		return Thread{}, fmt.Errorf("reading current: %w", err)
	}
	if p == 0 {
		return Thread{Key: noThread}, nil
	}
	b := t.thread[:]
	if err := mem.ReadMem(p, b); err != nil {
		return Thread{}, fmt.Errorf("reading the current thread: %w", err)
	}
	le := binary.LittleEndian
	return Thread{
		Key:      le.Uint64(b),
		PID:      int(int32(le.Uint32(b[8:]))),
		TID:      int(int32(le.Uint32(b[12:]))),
		PPID:     int(int32(le.Uint32(b[16:]))),
		UID:      le.Uint32(b[20:]),
		GID:      le.Uint32(b[24:]),
		Execname: t.names.get(b[28:44]),
		Addr:     p,
	}, nil
}

func (t *tiny) Stack(mem Mem, regs arch.Regs, pcs []uint64) int {
	return t.isa.frames(&t.frames, mem, regs, pcs)
}

// Slide: the teaching kernel stays where it was linked.
func (t *tiny) Slide(arch.Regs) (uint64, bool) { return 0, true }

// Unsafe: the teaching kernel has no tracer of its own and so no such list.
func (t *tiny) Unsafe(uint64) string { return "" }

// SwitchFuncs implements Switcher. When switch_context is called, another thread is current already.
func (t *tiny) SwitchFuncs() []string { return []string{"schedule"} }

// OneThread implements Switcher: a second CPU works for the thread of the first.
func (t *tiny) OneThread() bool { return true }

// tinyPanicLine reports whether a line is a panic's first, after the time stamp.
func tinyPanicLine(line string) bool {
	return strings.HasPrefix(trimStamps(line), "tiny: panic")
}
