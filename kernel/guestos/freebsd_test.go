package guestos

import (
	"errors"
	"slices"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// A guest with one thread besides the first, as testdata/freebsd.c lays it out.
const (
	fbsdTD    = 0xfffffe0001234000
	fbsdProc  = 0xfffffe0001240000
	fbsdInit  = 0xfffffe0001250000
	fbsdCred  = 0xfffffe0001260000
	fbsdStats = 0xfffffe0001270000
	fbsdArgs  = 0xfffffe0001280000
	fbsdStack = 0xfffffe0002000000
	fbsdFrame = fbsdStack + 0x3e00
)

// area is where a CPU's own area is: on amd64 anywhere.
func fbsdArea(t testing.TB, img *kernel.Image) uint64 {
	if img.Arch() == arch.AMD64 {
		return 0xffffffff81a00000
	}
	return symbol(t, img, "__pcpu")
}

func fbsdMem(t testing.TB, img *kernel.Image) fakeMem {
	mem, area := fakeMem{}, fbsdArea(t, img)
	mem.stack(area, fbsdTD, area)
	putThread(mem, fbsdTD, fbsdProc, 100037, fbsdCred)
	mem[fbsdTD+32] = fbsdFrame
	putProc(mem, fbsdProc, 14, 0, fbsdInit, "sh")
	putProc(mem, fbsdInit, 1, 0, 0, "init")
	mem[fbsdProc+120] = fbsdArgs
	mem.put(fbsdArgs, append([]byte{1, 0, 0, 0, 5, 0, 0, 0}, "ls\x00/\x00"...))
	mem.stack(fbsdCred, 1|1001<<32, 1002|1003<<32)
	mem.stack(fbsdStats, 0, 0, 7, 250000)
	thread0 := symbol(t, img, "thread0_st")
	putThread(mem, thread0, 0, 100000, 0)
	return mem
}

func putThread(mem fakeMem, at, proc uint64, tid uint64, cred uint64) {
	mem.stack(at, 0, proc, tid, cred, 0)
}

func putProc(mem fakeMem, at uint64, pid, flag uint64, parent uint64, comm string) {
	mem.stack(at, fbsdCred, fbsdStats, flag|pid<<32, parent)
	for i := range uint64(8) {
		mem[at+32+8*i] = 0
	}
	mem.put(at+96, append([]byte(comm), make([]byte, 24-len(comm))...))
	mem[at+120] = 0
}

// kernelRegs are those of a CPU in the kernel.
func fbsdKernelRegs(t testing.TB, img *kernel.Image) fakeRegs {
	area := fbsdArea(t, img)
	return map[*arch.Arch]fakeRegs{
		arch.AMD64:   {arch.GSBase: area, arch.RIP: symbol(t, img, "leaf")},
		arch.ARM64:   {arch.ARM64TPIDR: area, arch.ARM64PSTATE: 5, arch.ARM64PC: symbol(t, img, "leaf")},
		arch.RISCV64: {arch.RISCV64TP: area, arch.RISCV64PRIV: 1, arch.RISCV64PC: symbol(t, img, "leaf")},
	}[img.Arch()]
}

var fbsdImages = []string{"testdata/freebsd-amd64.elf", "testdata/freebsd-arm64.elf", "testdata/freebsd-riscv64.elf"}

// eachFreeBSD runs a test on each architecture.
func eachFreeBSD(t *testing.T, test func(t *testing.T, img *kernel.Image, f *freebsd)) {
	for _, path := range fbsdImages {
		img := openImage(t, path)
		t.Run(img.Arch().Name, func(t *testing.T) { test(t, img, detect(t, img).(*freebsd)) })
	}
}

var fbsdSh = Thread{PID: 14, TID: 100037, PPID: 1, UID: 1001, GID: 1003, Execname: "sh", Addr: fbsdTD}

func TestFreeBSDThread(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		first := Thread{TID: 100000, Addr: symbol(t, img, "thread0_st")}
		area := fbsdArea(t, img)
		expectThread(t, "in the kernel", f, fbsdMem(t, img), fbsdKernelRegs(t, img), fbsdSh)
		expectThread(t, "before there is an area", f, fbsdMem(t, img), fakeRegs{}, first)
		first.TID = 0
		expectThread(t, "before memory is mapped", f, fakeMem{}, fakeRegs{}, first)
		switch img.Arch() {
		case arch.AMD64:
			expectThread(t, "before swapgs", f, fbsdMem(t, img), fakeRegs{arch.KernelGSBase: area, arch.GSBase: fbsdTD}, fbsdSh)
		case arch.ARM64:
			expectThread(t, "user", f, fbsdMem(t, img), fakeRegs{arch.ARM64TPIDR: area}, fbsdSh)
		case arch.RISCV64:
			mem, entry := fbsdMem(t, img), symbol(t, img, "cpu_exception_handler_user")
			mem[fbsdStack+0x3f00] = area
			expectThread(t, "user", f, mem, fakeRegs{arch.RISCV64TP: 0x4000, arch.RISCV64SSCRATCH: fbsdStack + 0x3f00}, fbsdSh)
			expectThread(t, "in the entry", f, mem, fakeRegs{
				arch.RISCV64PRIV: 1, arch.RISCV64PC: entry, arch.RISCV64TP: 0xffffffff00000000, arch.RISCV64SP: fbsdStack + 0x3f00,
			}, fbsdSh)
			expectThread(t, "in the entry, registers saved", f, mem, fakeRegs{
				arch.RISCV64PRIV: 1, arch.RISCV64PC: entry, arch.RISCV64TP: 0x4000, arch.RISCV64SP: fbsdStack + 0x3f00 - 272,
			}, fbsdSh)
		}
	})
}

func expectThread(t *testing.T, what string, f OS, mem fakeMem, regs fakeRegs, want Thread) {
	t.Helper()
	got, err := f.Thread(mem, regs)
	if got.Key == 0 {
		t.Errorf("%s: the key is 0", what)
	}
	if got.Key = 0; err != nil || got != want {
		t.Errorf("%s: %+v, %v\nwant %+v", what, got, err, want)
	}
}

// TestFreeBSDKey: a structure and a number that are used again are those of another thread, but what a
// thread does changes nothing. Processes of the kernel keep their key when the clock is set.
func TestFreeBSDKey(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		mem, regs := fbsdMem(t, img), fbsdKernelRegs(t, img)
		key := func() uint64 {
			th, err := f.Thread(mem, regs)
			if err != nil {
				t.Fatal(err)
			}
			return th.Key
		}
		before := key()
		mem.put(fbsdProc+96, append([]byte("ls"), make([]byte, 22)...)) // execve
		if key() != before {
			t.Error("a thread has another key after execve")
		}
		mem[fbsdStats+24]++
		if key() == before {
			t.Error("a process that started a microsecond later has the same key")
		}
		mem[fbsdProc+16] |= freebsdSystemProcess
		before = key()
		mem[fbsdStats+16]++
		if key() != before {
			t.Error("the clock is set, and a process of the kernel has another key")
		}
		mem[fbsdTD+16]++
		if key() == before {
			t.Error("another thread has the same key")
		}
	})
}

// TestFreeBSDUnmapped: whatever is not mapped, Thread fails or returns the rest; it does not hang.
func TestFreeBSDUnmapped(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		whole, regs := fbsdMem(t, img), fbsdKernelRegs(t, img)
		for addr := range whole {
			mem := fbsdMem(t, img)
			delete(mem, addr)
			got, err := f.Thread(mem, regs)
			if got.Key = 0; err == nil && got != fbsdSh && got.Addr != f.thread0 {
				t.Errorf("without 0x%x: %+v", addr, got)
			}
		}
	})
}

// TestFreeBSDNoTypes: a kernel that does not tell where things are says so.
func TestFreeBSDNoTypes(t *testing.T) {
	img := rename(t, fbsdImages[0], ".debug_info", ".nodbg_info")
	_, err := detect(t, img).Thread(fakeMem{}, fakeRegs{})
	if want := "no thread information: kernel image vmlinux: struct pcpu is in neither BTF, CTF nor DWARF"; !errors.Is(err, ErrNoThread) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestFreeBSDProcess(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		mem, regs, a := fbsdMem(t, img), fbsdKernelRegs(t, img), img.Arch()
		if args, err := f.Arguments(mem, regs, 100); err != nil || string(args) != "ls\x00/\x00" {
			t.Errorf("arguments %q, %v", args, err)
		}
		var pids []int
		if err := f.Parents(mem, regs, func(pid int) bool { pids = append(pids, pid); return true }); err != nil || !slices.Equal(pids, []int{14, 1}) {
			t.Errorf("parents %v, %v", pids, err)
		}
		if _, ok := f.UserReg(mem, regs, a.PC); ok {
			t.Error("a thread has user registers that are not mapped")
		}
		saved := map[*arch.Arch]fakeRegs{
			arch.AMD64:   {arch.RIP: 0x401000, arch.CS: 0x43, arch.RSP: 0x7fff00, arch.RBP: 0x7fff80},
			arch.ARM64:   {arch.ARM64PC: 0x401000, arch.ARM64SP: 0x7fff00, arch.ARM64FP: 0x7fff80},
			arch.RISCV64: {arch.RISCV64PC: 0x401000, arch.RISCV64SP: 0x7fff00, arch.RISCV64S0: 0x7fff80},
		}[a]
		putFrame(f, mem, fbsdFrame, saved)
		for _, r := range []arch.Reg{a.PC, a.SP, a.FP} {
			if got, ok := f.UserReg(mem, regs, r); !ok || got != saved[r] {
				t.Errorf("%s is 0x%x, %t, want 0x%x", a.Regs[r].Name, got, ok, saved[r])
			}
		}
	})
}

// putFrame stores registers as the kernel saves them.
func putFrame(f *freebsd, mem fakeMem, at uint64, saved fakeRegs) {
	l := f.types().layout
	for off := 0; off < l.trap.size; off += 8 {
		mem[at+uint64(off)] = 0
	}
	for r, v := range saved {
		mem[at+uint64(l.trap.at(r))] = v
	}
}

// TestFreeBSDStack: leaf, called by mi_startup, is interrupted; then trap, called by the entry, has
// called mi_startup.
func TestFreeBSDStack(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		a, at := img.Arch(), func(name string, off uint64) uint64 { return symbol(t, img, name) + off }
		entry, frameEnd := "calltrap", uint64(0)
		mem := fakeMem{}
		in := fakeRegs{a.PC: at("leaf", 0), a.SP: fbsdStack + 0x1000, a.FP: fbsdStack + 0x1100}
		outer := uint64(fbsdStack + 0x1100) // the record of mi_startup's caller
		frame := uint64(fbsdStack + 0x800)
		regs := fakeRegs{a.PC: at("leaf", 0), a.SP: fbsdStack + 0x500, a.FP: fbsdStack + 0x600}
		switch a {
		case arch.AMD64:
			in[arch.CS] = 0x20
			mem.stack(fbsdStack+0x1000, at("mi_startup", 1))
			mem.stack(outer, 0, at("fast_syscall_common", 5))
			mem.stack(regs[a.SP], at("mi_startup", 1))
			mem.stack(frame-16, in[a.FP], at(entry, 8))
			regs[a.FP] = frame - 16
		case arch.ARM64:
			entry = "handle_el1h_sync"
			in[arch.ARM64LR], in[arch.ARM64PSTATE], regs[arch.ARM64LR], regs[arch.ARM64PSTATE] = at("mi_startup", 4), 5, at("mi_startup", 4), 5
			mem.stack(outer, 0, at("trap", 8))
			frameEnd = frame + uint64(f.types().layout.trap.size)
			mem.stack(regs[a.FP], frameEnd, at(entry, 12))
			mem.stack(frameEnd, 0x1234, 0x5678)
		case arch.RISCV64:
			entry = "cpu_exception_handler_supervisor"
			in[arch.RISCV64RA], regs[arch.RISCV64RA], regs[arch.RISCV64PRIV] = at("mi_startup", 4), at("mi_startup", 4), 1
			mem.stack(outer-16, 0, at("trap", 8))
			mem.stack(frame-16, in[a.FP], at(entry, 6))
			regs[a.FP] = frame
		}
		putFrame(f, mem, frame, in)
		pcs := make([]uint64, 16)
		n := f.Stack(mem, regs, pcs)
		var names []string
		for _, pc := range pcs[:n] {
			s, _ := img.Symtab().At(pc)
			names = append(names, s.Name)
		}
		last := "trap"
		if a == arch.AMD64 {
			last = "fast_syscall_common"
		}
		if expect := []string{"leaf", "mi_startup", entry, "leaf", "mi_startup", last}; !slices.Equal(names, expect) {
			t.Errorf("stack %v, want %v", names, expect)
		}
	})
}

// TestFreeBSDSignal: a signal is in both sets, and the thread is to look there; a process of the kernel
// gets none.
func TestFreeBSDSignal(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		if err := f.CanSignal(); err != nil || f.StopSignal() != 17 {
			t.Fatalf("%v, stop %d", err, f.StopSignal())
		}
		for n, want := range map[int]uint64{1: 1, 17: 1 << 16, 33: 1 << 32, 64: 1 << 63} {
			mem, regs := fbsdMem(t, img), fbsdKernelRegs(t, img)
			mem.stack(fbsdTD+40, 0, 0, 0, 0, 0)
			if err := f.Signal(mem, regs, n); err != nil {
				t.Fatal(err)
			}
			signals, _ := f.u64(mem, fbsdTD+44)
			kill, _ := f.u64(mem, fbsdTD+60)
			ast, _ := f.u32(mem, fbsdTD+40)
			if signals != want || kill != want || ast != 1<<15 {
				t.Errorf("signal %d: 0x%x, 0x%x, 0x%x", n, signals, kill, ast)
			}
		}
		mem, regs := fbsdMem(t, img), fbsdKernelRegs(t, img)
		mem.stack(fbsdTD+40, 0, 0, 0, 0, 0)
		mem[fbsdProc+16] |= freebsdSystemProcess
		if err := f.Signal(mem, regs, 9); err != nil || mem[fbsdTD+40] != 0 {
			t.Errorf("a process of the kernel: %v, 0x%x", err, mem[fbsdTD+40])
		}
		for _, n := range []int{-1, 0, LastSignal + 1} {
			if f.Signal(mem, regs, n) == nil {
				t.Errorf("signal %d is sent", n)
			}
		}
	})
}
