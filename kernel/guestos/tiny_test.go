package guestos

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

func TestTinyThread(t *testing.T) {
	img := openImage(t, tinyImage)
	guest := detect(t, img)
	current, thread := symbol(t, img, "current"), uint64(0xffff800000001000)
	mem := fakeMem{current: thread}
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, struct {
		ID             uint64
		PID, TID, PPID int32
		UID, GID       uint32
		Name           [16]byte
	}{7, 3, 4, 1, 1000, 100, [16]byte{'s', 'h'}})
	mem.put(thread, b.Bytes())

	want := Thread{Key: 7, PID: 3, TID: 4, PPID: 1, UID: 1000, GID: 100, Execname: "sh", Addr: thread}
	if got, err := guest.Thread(mem, fakeRegs{}); err != nil || got != want {
		t.Errorf("Thread = %+v, %v; want %+v", got, err, want)
	}
	if n := testing.AllocsPerRun(100, func() { guest.Thread(mem, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	mem[current] = 0
	if got, err := guest.Thread(mem, fakeRegs{}); err != nil || got != (Thread{Key: noThread}) {
		t.Errorf("before the first thread: %+v, %v", got, err)
	}
	mem[current] = 0x1000
	if _, err := guest.Thread(mem, fakeRegs{}); err == nil {
		t.Error("a thread that is not mapped gave no error")
	}
	delete(mem, current)
	if _, err := guest.Thread(mem, fakeRegs{}); err == nil {
		t.Error("current is not mapped, and no error")
	}
}

// The stack is right at every instruction: late calls leaf, which calls plain.
// (objdump -d testdata/tiny-amd64.elf)
func TestTinyStack(t *testing.T) {
	const (
		text    = 0xffffffff81000000
		plain   = text
		inLeaf  = text + 0x1d // after its call
		inLate  = text + 0x46
		starter = text + 0x37 // some return address further up
		top     = 0xffff800000010000
	)
	img := openImage(t, tinyImage)
	guest := detect(t, img)
	for _, tt := range []struct {
		name   string
		pc     uint64
		sp, bp uint64
		cs     uint64
		words  []uint64 // from top up
		want   []uint64
	}{
		{"no frame needed", plain + 4, top, top + 8, 8,
			[]uint64{inLeaf, top + 24, inLate, 0, starter},
			[]uint64{plain + 4, inLeaf, inLate, starter}},
		{"first instruction", text + 0x10, top, top + 16, 8,
			[]uint64{inLate, 1, 0, starter}, []uint64{text + 0x10, inLate, starter}},
		{"at the push", text + 0x14, top, top + 16, 8,
			[]uint64{inLate, 1, 0, starter}, []uint64{text + 0x14, inLate, starter}},
		{"after the push", text + 0x15, top, top + 16, 8,
			[]uint64{top + 16, inLate, 0, starter}, []uint64{text + 0x15, inLate, starter}},
		{"framed", text + 0x18, top, top, 8,
			[]uint64{top + 16, inLate, 0, starter}, []uint64{text + 0x18, inLate, starter}},
		{"at the pop", text + 0x1d, top, top, 8,
			[]uint64{top + 16, inLate, 0, starter}, []uint64{text + 0x1d, inLate, starter}},
		{"after the pop", text + 0x1e, top, top + 16, 8,
			[]uint64{inLate, 1, 0, starter}, []uint64{text + 0x1e, inLate, starter}},
		{"at the ret", text + 0x20, top, top + 16, 8,
			[]uint64{inLate, 1, 0, starter}, []uint64{text + 0x20, inLate, starter}},
		{"push and mov apart", text + 0x3c, top, top + 16, 8,
			[]uint64{top + 16, starter, 0, starter}, []uint64{text + 0x3c, starter, starter}},
		{"path without a frame", text + 0x50, top, top + 16, 8,
			[]uint64{inLate, 1, 0, starter}, []uint64{text + 0x50, inLate, starter}},
		{"user mode", 0x400000, 0x7000, 0x7000, 0x33, nil, nil},
		{"down", text + 0x18, top + 8, top + 8, 8,
			[]uint64{0, top, inLate}, []uint64{text + 0x18, inLate}},
		{"round", text + 0x18, top, top, 8,
			[]uint64{top, inLate}, []uint64{text + 0x18, inLate}},
		{"odd", text + 0x18, top, top + 1, 8,
			[]uint64{top + 16, inLate}, []uint64{text + 0x18}},
		{"off the end", text + 0x18, top, top, 8,
			[]uint64{top + 16, inLate}, []uint64{text + 0x18, inLate}},
		{"into user space", text + 0x18, top, top, 8,
			[]uint64{top + 16, 0x400000}, []uint64{text + 0x18}},
		{"no code", 0xffff800000000000, top, top, 8,
			[]uint64{0, inLate}, []uint64{0xffff800000000000, inLate}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem := fakeMem{}.stack(top, tt.words...)
			regs := fakeRegs{arch.RIP: tt.pc, arch.RSP: tt.sp, arch.RBP: tt.bp, arch.CS: tt.cs}
			pcs := make([]uint64, 16)
			if n := guest.Stack(mem, regs, pcs); !slices.Equal(pcs[:n], tt.want) {
				t.Errorf("got  %#x\nwant %#x", pcs[:n], tt.want)
			}
			if n := guest.Stack(mem, regs, pcs[:2]); n > 2 || n != min(2, len(tt.want)) {
				t.Errorf("%d frames in room for two", n)
			}
		})
	}
}
