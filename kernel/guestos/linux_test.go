package guestos

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// A guest with one CPU whose per-CPU area is at area, as testdata/linux.c lays it out.
const (
	area     = 0xffff888003c00000
	taskAddr = 0xffff888001234000
	parent   = 0xffff888001230000
	credAddr = 0xffff888002000000
)

// fakeLinux has one running thread.
func fakeLinux(t testing.TB, img *kernel.Image) fakeMem {
	mem := fakeMem{}
	mem[area+symbol(t, img, "this_cpu_off")] = area
	mem[area+symbol(t, img, "current_task")] = taskAddr
	putTask(mem, taskAddr, 42, 41, parent, 1e9, "bash")
	putTask(mem, parent, 1, 1, 0, 5, "init")
	mem.stack(credAddr, 1, 1000|100<<32) // usage, uid, gid
	return mem
}

func putTask(mem fakeMem, at uint64, pid, tgid uint64, parent uint64, start uint64, comm string) {
	mem.stack(at, 0, pid|tgid<<32, parent, 0, 0, 0, 0, start, credAddr)
	mem.put(at+72, append([]byte(comm), make([]byte, 16-len(comm))...))
}

func TestLinuxThread(t *testing.T) {
	img := openImage(t, linuxImage)
	guest := detect(t, img)
	bash := Thread{PID: 41, TID: 42, PPID: 1, UID: 1000, GID: 100, Execname: "bash", Addr: taskAddr}
	for _, tt := range []struct {
		name string
		regs fakeRegs
		edit func(fakeMem)
		want Thread
		err  string
	}{
		{name: "in the kernel", regs: fakeRegs{arch.GSBase: area, arch.KernelGSBase: 0x7f0000001000}, want: bash},
		{name: "before swapgs", regs: fakeRegs{arch.GSBase: 0x7f0000001000, arch.KernelGSBase: area}, want: bash},
		{name: "user base of zero", regs: fakeRegs{arch.KernelGSBase: area}, want: bash},
		{
			name: "user base in the kernel's half",
			regs: fakeRegs{arch.GSBase: taskAddr, arch.KernelGSBase: area}, want: bash,
			edit: func(m fakeMem) { m[taskAddr+symbol(t, img, "this_cpu_off")] = 99 },
		},
		{
			name: "user base not mapped",
			regs: fakeRegs{arch.GSBase: 0xffffc00000000000, arch.KernelGSBase: area}, want: bash,
		},
		{
			name: "before there is an area",
			edit: func(m fakeMem) { putTask(m, symbol(t, img, "init_task"), 0, 0, parent, 0, "swapper") },
			want: Thread{PPID: 1, UID: 1000, GID: 100, Execname: "swapper", Addr: symbol(t, img, "init_task")},
		},
		{name: "before init_task is mapped", want: Thread{Execname: "swapper", Addr: symbol(t, img, "init_task")}},
		{
			name: "area not mapped", regs: fakeRegs{arch.KernelGSBase: 0xffffc00000000000},
			err: "reading the current task: invalid address (0xffffc00000000020)",
		},
		{
			name: "task not mapped", regs: fakeRegs{arch.GSBase: area},
			edit: func(m fakeMem) { delete(m, taskAddr+72) },
			err:  "reading the current task: invalid address (0xffff888001234048)",
		},
		{
			name: "parent not mapped", regs: fakeRegs{arch.GSBase: area},
			edit: func(m fakeMem) { delete(m, parent+8) },
			err:  "reading the current task's parent: invalid address (0xffff88800123000c)",
		},
		{
			name: "credentials not mapped", regs: fakeRegs{arch.GSBase: area},
			edit: func(m fakeMem) { delete(m, credAddr+8) },
			err:  "reading the current task's credentials: invalid address (0xffff888002000008)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := fakeLinux(t, img)
			if tt.edit != nil {
				tt.edit(mem)
			}
			got, err := guest.Thread(mem, tt.regs)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if got.Key == 0 {
				t.Error("the key is 0")
			}
			got.Key = 0
			if err != nil || got != tt.want {
				t.Errorf("Thread = %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

// The kernel's own variables slide, per-CPU offsets do not.
func TestLinuxThreadSlid(t *testing.T) {
	const slide = 0x12000000
	img := openImage(t, linuxImage)
	mem := fakeLinux(t, img)
	putTask(mem, symbol(t, img, "init_task")+slide, 0, 0, 0, 0, "swapper/0")
	guest := detect(t, img)
	img.SetSlide(slide)
	if got, err := guest.Thread(mem, fakeRegs{arch.GSBase: area}); err != nil || got.TID != 42 {
		t.Errorf("Thread = %+v, %v", got, err)
	}
	if got, err := guest.Thread(mem, fakeRegs{}); err != nil || got.Execname != "swapper/0" {
		t.Errorf("Thread = %+v, %v", got, err)
	}
}

// From Linux 6.15 on per-CPU variables have link-time addresses, and the base is how far a CPU's copy is
// from there; a kernel for one CPU has ordinary variables, and no this_cpu_off. Both slide.
func TestLinuxThreadLinked(t *testing.T) {
	const variable, own, slide = 0xffffffff83cdc018, 0xffffffff83cdc030, 0x12000000
	img := openImage(t, linuxImage)
	mem := fakeLinux(t, img)
	mem[area] = taskAddr
	base := uint64(area)
	base -= variable + slide
	mem[base+own+slide] = base
	mem[variable+slide] = taskAddr
	guest := detect(t, img).(*linux)
	img.SetSlide(slide)
	for _, tt := range []struct {
		name string
		vars percpu
		regs fakeRegs
	}{
		{"several CPUs", percpu{current: variable, self: own}, fakeRegs{arch.GSBase: base}},
		{"before swapgs", percpu{current: variable, self: own}, fakeRegs{arch.KernelGSBase: base}},
		{"one CPU", percpu{current: variable}, fakeRegs{arch.GSBase: 0x7f0000001000}},
	} {
		guest.percpu = tt.vars
		if got, err := guest.Thread(mem, tt.regs); err != nil || got.TID != 42 {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
}

// The attributes of a module's sections are an array, or, from Linux 6.15 on, behind pointers.
func TestSectionAttrs(t *testing.T) {
	const list, array = 0x1000, 0x2000
	l := detect(t, openImage(t, linuxImage)).(*linux)
	mem := fakeMem{}.stack(list, 3).stack(list+40, array).stack(array, 0x3000, 0x4000, 0)
	for _, tt := range []struct {
		name  string
		attrs sectionAttrs
		want  []uint64
	}{
		{"counted", sectionAttrs{count: 0, first: 8, size: 72}, []uint64{list + 8, list + 80, list + 152}},
		{"pointers", sectionAttrs{pointers: 40}, []uint64{0x3000, 0x4000}},
	} {
		l.types = func() types { return types{modules: modules{attrs: tt.attrs}} }
		var got []uint64
		err := l.eachAttr(mem, list, func(attr uint64) error { got = append(got, attr); return nil })
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %#x, %v, want %#x", tt.name, got, err, tt.want)
		}
	}
}

// What is spared is not read, so it cannot fail.
func TestLinuxThreadSpare(t *testing.T) {
	img := openImage(t, linuxImage)
	guest, mem, regs := detect(t, img), fakeLinux(t, img), fakeRegs{arch.GSBase: area}
	all, err := guest.Thread(mem, regs)
	if err != nil {
		t.Fatal(err)
	}
	delete(mem, parent+8)
	delete(mem, credAddr+8)
	for _, tt := range []struct {
		spared Parts
		want   Thread
		err    string
	}{
		{0, Thread{}, "parent"},
		{Parent, Thread{}, "credentials"},
		{Credentials, Thread{}, "parent"},
		{Parent | Credentials, Thread{Key: all.Key, PID: all.PID, TID: all.TID, Execname: all.Execname, Addr: all.Addr}, ""},
	} {
		guest.(Sparing).Spare(tt.spared)
		got, err := guest.Thread(mem, regs)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("spared %d: %+v, %v, want %+v, %q", tt.spared, got, err, tt.want, tt.err)
		}
	}
}

func TestLinuxThreadAllocs(t *testing.T) {
	img := openImage(t, linuxImage)
	guest, mem, regs := detect(t, img), fakeLinux(t, img), fakeRegs{arch.GSBase: area}
	guest.Thread(mem, regs)
	if n := testing.AllocsPerRun(100, func() { guest.Thread(mem, regs) }); n != 0 {
		t.Errorf("%v allocations for a Thread", n)
	}
}

// A task_struct that is used again is another thread.
func TestLinuxThreadKey(t *testing.T) {
	img := openImage(t, linuxImage)
	guest, mem, regs := detect(t, img), fakeLinux(t, img), fakeRegs{arch.GSBase: area}
	first, err1 := guest.Thread(mem, regs)
	again, err2 := guest.Thread(mem, regs)
	putTask(mem, taskAddr, 42, 41, parent, 1e9, "renamed")
	renamed, err3 := guest.Thread(mem, regs)
	putTask(mem, taskAddr, 42, 41, parent, 1e9+1, "bash")
	reused, err4 := guest.Thread(mem, regs)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if first.Key != again.Key || first.Key != renamed.Key || first.Key == reused.Key {
		t.Errorf("keys %x %x %x %x", first.Key, again.Key, renamed.Key, reused.Key)
	}
	seen := map[uint64]bool{}
	for task := range uint64(100) {
		for start := range uint64(100) {
			seen[ThreadKey(taskAddr+64*task, start)] = true
		}
	}
	if len(seen) != 100*100 || seen[0] || ThreadKey(0, 0) == 0 {
		t.Errorf("%d keys for 10000 threads", len(seen))
	}
}

func TestLinuxNoThread(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{"\x00.BTF\x00", "\x00.xTF\x00", "no thread information: kernel image vmlinux: struct task_struct is in neither BTF, CTF nor DWARF"},
		{"\x00task_struct\x00", "\x00xask_struct\x00", "no thread information: kernel image vmlinux: struct task_struct is in neither BTF, CTF nor DWARF"},
		{"\x00tgid\x00", "\x00xgid\x00", "no thread information: kernel image vmlinux: struct task_struct has no member tgid"},
		{"\x00gid\x00", "\x00xid\x00", "no thread information: kernel image vmlinux: struct cred has no member gid"},
	} {
		guest := detect(t, rename(t, linuxImage, tt.from, tt.to))
		_, err := guest.Thread(fakeMem{}, fakeRegs{})
		if !errors.Is(err, ErrNoThread) || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.from, err, tt.want)
		}
	}
}

func TestLinuxUnsafe(t *testing.T) {
	img := openImage(t, linuxImage)
	guest := detect(t, img)
	for _, slide := range []uint64{0, 0x3000000} {
		img.SetSlide(slide)
		for name, want := range map[string]string{
			"normal":    "",
			"forbidden": "on Linux's kprobe blacklist (NOKPROBE_SYMBOL)",
			"noinstr":   "in .noinstr.text: runs where Linux cannot take a breakpoint",
			"entry":     "in .entry.text: runs while the CPU enters or leaves the kernel",
		} {
			addr := symbol(t, img, name)
			if got := guest.Unsafe(addr); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			if got := guest.Unsafe(addr + 3); got != want {
				t.Errorf("%s+3: %q, want %q", name, got, want)
			}
		}
	}
}
