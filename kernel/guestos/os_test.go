package guestos

import (
	"errors"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

const (
	linuxImage = "testdata/linux-amd64.elf"
	tinyImage  = "testdata/tiny-amd64.elf"
)

func TestDetect(t *testing.T) {
	for path, want := range map[string]string{
		linuxImage:                     "linux",
		tinyImage:                      "tiny",
		"../testdata/kernel-amd64.elf": "bare", // a banner, but no init_task
	} {
		if got := detect(t, openImage(t, path)).System().Name; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestDetectTinyWithoutCurrent(t *testing.T) {
	_, err := Detect(rename(t, tinyImage, "\x00current\x00", "\x00durrent\x00"), "")
	if err == nil || err.Error() != "kernel image vmlinux: tiny without the symbol current" {
		t.Errorf("Detect = %v", err)
	}
}

func TestBare(t *testing.T) {
	guest := detect(t, openImage(t, "../testdata/kernel-amd64.elf"))
	regs := fakeRegs{arch.RIP: 0xffffffff81000010}
	if th, err := guest.Thread(fakeMem{}, regs); !errors.Is(err, ErrNoThread) {
		t.Errorf("Thread = %+v, %v", th, err)
	}
	if why := guest.(Partial).Unknown("stack"); why == "" {
		t.Error("a stack without frame pointers is not said to be one")
	}
	pcs := make([]uint64, 4)
	if n := guest.Stack(fakeMem{}, regs, pcs); !slices.Equal(pcs[:n], []uint64{0xffffffff81000010}) {
		t.Errorf("Stack = %#x", pcs[:n])
	}
	if guest.Stack(fakeMem{}, regs, nil) != 0 {
		t.Error("a stack without room has a frame")
	}
	if guest.Unsafe(0xffffffff81000010) != "" || Bare.PanicLine != nil {
		t.Error("a bare guest knows things")
	}
}

// TestBareFrames: functions that keep frame pointers are followed, whatever kernel they are of.
func TestBareFrames(t *testing.T) {
	const starter, top = 0xffffffff81000037, 0xffff800000010000
	guest, err := newBare(openImage(t, tinyImage), "")
	if err != nil {
		t.Fatal(err)
	}
	if why := guest.(Partial).Unknown("stack"); why != "" {
		t.Errorf("stack: %s", why)
	}
	mem := fakeMem{top: 0, top + 8: starter}
	regs := fakeRegs{arch.RIP: 0xffffffff8100001d, arch.RBP: top, arch.RSP: top - 16}
	pcs := make([]uint64, 4)
	if n := guest.Stack(mem, regs, pcs); n != 2 || pcs[1] != starter {
		t.Errorf("Stack = %#x", pcs[:n])
	}
	if n := guest.Stack(mem, fakeRegs{arch.CS: 3}, pcs); n != 0 {
		t.Errorf("in user mode %#x", pcs[:n])
	}
}

func TestPanicLine(t *testing.T) {
	linux, tiny := Linux, Tiny
	for _, tt := range []struct {
		guest *System
		line  string
		want  bool
	}{
		{linux, "Kernel panic - not syncing: VFS: Unable to mount root fs", true},
		{linux, "[    1.234567] Kernel panic - not syncing: Attempted to kill init!", true},
		{linux, "[    1.234567][    T1] Kernel panic - not syncing: hung_task", true},
		{linux, "<0>[    1.234567] Kernel panic - not syncing: x", true},
		{linux, "[    1.234567] ---[ end Kernel panic - not syncing: x ]---", false},
		{linux, "echo Kernel panic - not syncing", false},
		{linux, "[", false},
		{linux, "", false},
		{tiny, "tiny: panic: no memory", true},
		{tiny, "[    0.010000] tiny: panic: no memory", true},
		{tiny, "hello tiny: panic", false},
		{FreeBSD, "panic: vm_fault failed: 0xffffffff80698c70", true},
		{FreeBSD, "don't panic: it is a word", false},
	} {
		if got := tt.guest.PanicLine(tt.line); got != tt.want {
			t.Errorf("%s: %q: %v", tt.guest.Name, tt.line, got)
		}
	}
}

func TestNames(t *testing.T) {
	n := names{}
	a := []byte{'s', 'h', 15: 0}
	if got := n.get(a); got != "sh" {
		t.Errorf("got %q", got)
	}
	if got := testing.AllocsPerRun(10, func() { n.get(a) }); got != 0 {
		t.Errorf("%v allocations for a known name", got)
	}
	for i := range 5000 {
		n.get([]byte{byte(i), byte(i >> 8), 1})
	}
	if len(n) > maxNames {
		t.Errorf("%d names kept", len(n))
	}
	if got := n.get([]byte("0123456789abcdef")); got != "0123456789abcdef" {
		t.Errorf("a name without end: %q", got)
	}
}
