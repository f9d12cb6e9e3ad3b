package guestos

import (
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// WriteMem stores bytes where something is mapped.
func (m fakeMem) WriteMem(addr uint64, p []byte) error {
	if err := m.ReadMem(addr, make([]byte, len(p))); err != nil {
		return err
	}
	for i, b := range p {
		at := addr + uint64(i)
		shift := 8 * (at & 7)
		m[at&^7] = m[at&^7]&^(0xff<<shift) | uint64(b)<<shift
	}
	return nil
}

// signalLinux is a Linux whose types are known, with one thread.
func signalLinux(t *testing.T) (*linux, fakeMem) {
	img := openImage(t, linuxImage)
	l := detect(t, img).(*linux)
	known := l.types()
	known.noSignals = nil
	known.signals = signals{pending: 0x208, flags: 0x200}
	known.process.mm = 0x210
	l.types = func() types { return known }
	mem := fakeLinux(t, img)
	mem.stack(taskAddr+0x200, 0x80, 1<<63, 0x1000)
	return l, mem
}

func TestSignal(t *testing.T) {
	l, mem := signalLinux(t)
	regs := fakeRegs{arch.GSBase: area}
	for n, want := range map[int]uint64{1: 1 << 63, linuxStop: 1<<63 | 1<<18, LastSignal: 1 << 63} {
		mem[taskAddr+0x208] = 1 << 63
		mem[taskAddr+0x200] = 0x80
		if n == 1 {
			want |= 1
		}
		if err := l.Signal(mem, regs, n); err != nil || mem[taskAddr+0x208] != want || mem[taskAddr+0x200] != 0x84 {
			t.Errorf("signal %d: %v, pending %#x, flags %#x", n, err, mem[taskAddr+0x208], mem[taskAddr+0x200])
		}
	}
	for _, n := range []int{-1, 0, LastSignal + 1} {
		if err := l.Signal(mem, regs, n); err == nil {
			t.Errorf("signal %d is taken", n)
		}
	}
}

// A thread of the kernel takes no signal, and what is not mapped is an error.
func TestSignalNowhere(t *testing.T) {
	l, mem := signalLinux(t)
	regs := fakeRegs{arch.GSBase: area}
	mem[taskAddr+0x210] = 0
	if err := l.Signal(mem, regs, 9); err != nil || mem[taskAddr+0x208] != 1<<63 {
		t.Errorf("%v, pending %#x", err, mem[taskAddr+0x208])
	}
	delete(mem, taskAddr+0x210)
	if err := l.Signal(mem, regs, 9); err == nil {
		t.Error("a task that is not mapped has taken a signal")
	}
}

// An image without the types, and one of a version that is not known, say so.
func TestCanSignal(t *testing.T) {
	l := detect(t, openImage(t, linuxImage)).(*linux)
	if err := l.CanSignal(); err == nil || err.Error() != "struct task_struct has no member pending" {
		t.Error(err)
	}
	l = detect(t, rename(t, linuxImage, "version 6.1.0-test", "version 6.13.0-tes")).(*linux)
	if err := l.CanSignal(); err == nil || !strings.HasPrefix(err.Error(), "how Linux after 6.12 marks") {
		t.Error(err)
	}
}
