package guestos

import (
	"encoding/binary"
	"slices"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

const (
	textBase = 0xffffffff81000000
	stackTop = 0xffffc90000010000
)

// rule is an entry of a synthetic table: from textBase+at on.
type rule struct {
	at                 uint64
	spReg, bpReg       orcReg
	spOffset, bpOffset int16
	kind               uint16 // as in the format
	end                bool
}

// makeORC builds the tables as objtool would.
func makeORC(format orcFormat, rules ...rule) *orcTable {
	t := &orcTable{base: textBase + 0x100000, format: format}
	le := binary.LittleEndian
	for i, r := range rules {
		rel := textBase + r.at - t.base - uint64(4*i)
		t.ips = le.AppendUint32(t.ips, uint32(rel))
		fields := uint16(r.spReg) | uint16(r.bpReg)<<4 | r.kind<<8
		if r.end {
			fields |= 1 << 10
		}
		t.entries = le.AppendUint16(t.entries, uint16(r.spOffset))
		t.entries = le.AppendUint16(t.entries, uint16(r.bpOffset))
		t.entries = le.AppendUint16(t.entries, fields)
	}
	return t
}

// Types in the older format.
const (
	call    = 0
	regs    = 1
	partial = 2
)

// The functions of the tests below, each 0x100 bytes long.
var oldRules = []rule{
	{at: 0x000, spReg: orcSP, spOffset: 8},                                    // leaf
	{at: 0x100, spReg: orcSP, spOffset: 24},                                   // two words pushed
	{at: 0x200, spReg: orcBP, spOffset: 16, bpReg: orcPrevSP, bpOffset: -16},  // frame pointer
	{at: 0x300, spReg: orcSP, spOffset: 0, kind: regs},                        // exception entry, all saved
	{at: 0x400, spReg: orcSP, spOffset: 8, kind: partial},                     // with an error code
	{at: 0x500, end: true},                                                    // system call entry
	{at: 0x600},                                                               // no one knows
	{at: 0x700, spReg: orcSPIndirect, spOffset: 8},                            // on another stack
	{at: 0x800, spReg: orcR10},                                                // realigned, early
	{at: 0x900, spReg: orcBPIndirect, spOffset: -8, bpReg: orcBP},             // realigned
	{at: 0xa00, spReg: orcDX, spOffset: 8, kind: partial},                     // base in a register
	{at: 0xb00, spReg: orcR13},                                                //
	{at: 0xc00, spReg: orcDI},                                                 //
	{at: 0xd00, spReg: 15},                                                    // not defined
	{at: 0xe00, spReg: orcSP, spOffset: 8, bpReg: orcPrevSP, bpOffset: -4096}, // %rbp out of reach
	{at: 0xf00, spReg: orcSP, spOffset: 8, bpReg: 9},                          // not defined
	{at: 0x1000, spReg: orcSP, spOffset: 0},                                   // does not go up
	{at: 0x1100, spReg: orcSP, spOffset: 4},                                   // not aligned
	{at: 0x1200, spReg: orcSP, spOffset: 8, kind: 3},                          // a type for no one
}

func orcGuest(t testing.TB, table *orcTable) *linux {
	l := detect(t, openImage(t, linuxImage)).(*linux)
	l.orc = func() *orcTable { return table }
	l.text = [][2]uint64{{textBase, textBase + 0x2000}}
	return l
}

func at(off uint64) uint64 { return textBase + off }

// ptRegs are the words of a struct pt_regs.
func ptRegs(pc, cs, sp uint64, set map[int]uint64) []uint64 {
	w := make([]uint64, 21)
	for off, v := range set {
		w[off/8] = v
	}
	w[16], w[17], w[19] = pc, cs, sp
	return w
}

func TestORCStack(t *testing.T) {
	l := orcGuest(t, makeORC(orcOld, oldRules...))
	const s, other = stackTop, stackTop + 0x100000
	for _, tt := range []struct {
		name string
		pc   uint64
		regs fakeRegs // beside RIP and RSP = s
		mem  fakeMem
		want []uint64
	}{
		{"leaf", at(0x10), nil, fakeMem{}.stack(s, at(0x150), 0, 0, at(0x520)),
			[]uint64{at(0x10), at(0x150), at(0x520)}},
		{
			// The call is the last instruction of leaf: what follows it is another function.
			"call that does not return", at(0x10), nil, fakeMem{}.stack(s, at(0x100), at(0x520)),
			[]uint64{at(0x10), at(0x100), at(0x520)},
		},
		{"first instruction", at(0x100), nil, fakeMem{}.stack(s, 0, 0, at(0x520)),
			[]uint64{at(0x100), at(0x520)}},
		{"frame pointer", at(0x250), fakeRegs{arch.RBP: s + 32},
			fakeMem{}.stack(s, 0, 0, 0, 0, s+64, at(0x250), 0, 0, 0, at(0x520)),
			[]uint64{at(0x250), at(0x250), at(0x520)}},
		{
			// An interrupt of a leaf: its own entry counts, not the one of the byte before.
			"through an interrupt", at(0x310), nil,
			fakeMem{}.stack(s, ptRegs(at(0x000), 0x10, s+0x100, nil)...).stack(s+0x100, at(0x520)),
			[]uint64{at(0x310), at(0x000), at(0x520)},
		},
		{
			"registers of the interrupted", at(0x310), nil,
			fakeMem{}.stack(s, ptRegs(at(0x210), 0x10, s+0x100, map[int]uint64{regsBP: s + 0x200})...).
				stack(s+0x200, 0, at(0x520)),
			[]uint64{at(0x310), at(0x210), at(0x520)},
		},
		{
			"scratch register of the interrupted", at(0x310), nil,
			fakeMem{}.stack(s, ptRegs(at(0x810), 0x10, s+0x100, map[int]uint64{regsR10: s + 0x200})...).
				stack(s+0x1f8, at(0x520)),
			[]uint64{at(0x310), at(0x810), at(0x520)},
		},
		{"interrupt of user mode", at(0x310), nil,
			fakeMem{}.stack(s, ptRegs(0x400000, 0x33, 0x7ffe0000, nil)...), []uint64{at(0x310)}},
		{"exception entry", at(0x400), nil,
			fakeMem{}.stack(s, 2, at(0x110), 0x10, 0x202, s+0x100, 0x18).stack(s+0x100, 0, 0, at(0x520)),
			[]uint64{at(0x400), at(0x110), at(0x520)}},
		{"exception entry from user mode", at(0x400), nil,
			fakeMem{}.stack(s, 2, 0x400000, 0x33, 0x202, 0x7ffe0000, 0x2b), []uint64{at(0x400)}},
		{"base in a register", at(0xa10), fakeRegs{arch.RDX: other},
			fakeMem{}.stack(other, 7, at(0x010), 0x10, 0x202, s+0x100, 0x18).stack(s+0x100, at(0x520)),
			[]uint64{at(0xa10), at(0x010), at(0x520)}},
		{"another stack", at(0x710), nil,
			fakeMem{}.stack(s, other).stack(other, at(0x520)), []uint64{at(0x710), at(0x520)}},
		{"another stack below", at(0x710), nil,
			fakeMem{}.stack(s, s-0x1000).stack(s-0x1000, at(0x520)), []uint64{at(0x710), at(0x520)}},
		{"r10", at(0x810), fakeRegs{arch.R10: s + 16}, fakeMem{}.stack(s, 0, at(0x520)),
			[]uint64{at(0x810), at(0x520)}},
		{"r13", at(0xb10), fakeRegs{arch.R13: s + 16}, fakeMem{}.stack(s, 0, at(0x520)),
			[]uint64{at(0xb10), at(0x520)}},
		{"rdi", at(0xc10), fakeRegs{arch.RDI: s + 16}, fakeMem{}.stack(s, 0, at(0x520)),
			[]uint64{at(0xc10), at(0x520)}},
		{"r10 of a caller", at(0x10), fakeRegs{arch.R10: s + 16}, fakeMem{}.stack(s, at(0x810), at(0x520)),
			[]uint64{at(0x10), at(0x810)}},
		{"realigned", at(0x910), fakeRegs{arch.RBP: s + 16},
			fakeMem{}.stack(s, 0, s+64, s+128, 0, 0, 0, 0, at(0x250)).stack(s+128, 0, at(0x520)),
			[]uint64{at(0x910), at(0x250), at(0x520)}},

		// Where it must stop.
		{"system call entry", at(0x500), nil, nil, []uint64{at(0x500)}},
		{"unknown", at(0x610), nil, nil, []uint64{at(0x610)}},
		{"register not defined", at(0xd10), nil, fakeMem{}.stack(s, at(0x10)), []uint64{at(0xd10)}},
		{"frame pointer not mapped", at(0xe10), nil, fakeMem{}.stack(s, at(0x10)), []uint64{at(0xe10)}},
		{"frame pointer not defined", at(0xf10), nil, fakeMem{}.stack(s, at(0x10)), []uint64{at(0xf10)}},
		{"does not go up", at(0x1010), nil, fakeMem{}.stack(s-8, at(0x10)), []uint64{at(0x1010)}},
		{"not aligned", at(0x1110), nil, fakeMem{}.stack(s, at(0x10)), []uint64{at(0x1110)}},
		{"type not defined", at(0x1210), nil, fakeMem{}.stack(s, at(0x10)), []uint64{at(0x1210)}},
		{"stack not mapped", at(0x10), nil, nil, []uint64{at(0x10)}},
		{"user address", at(0x10), nil, fakeMem{}.stack(s, 0x400000), []uint64{at(0x10)}},
		{"module", at(0x10), nil, fakeMem{}.stack(s, 0xffffffffc0001234, at(0x10)),
			[]uint64{at(0x10), 0xffffffffc0001234}},
		{"in a module", 0xffffffffc0001234, nil, nil, []uint64{0xffffffffc0001234}},
		{"interrupt frame of itself", at(0x310), nil,
			fakeMem{}.stack(s, ptRegs(at(0x310), 0x10, s, nil)...), []uint64{at(0x310)}},
		{"registers not mapped", at(0x310), nil, nil, []uint64{at(0x310)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fakeRegs{arch.RIP: tt.pc, arch.RSP: s, arch.CS: 0x10}
			for reg, v := range tt.regs {
				r[reg] = v
			}
			pcs := make([]uint64, 16)
			if n := l.Stack(tt.mem, r, pcs); !slices.Equal(pcs[:n], tt.want) {
				t.Errorf("got  %#x\nwant %#x", pcs[:n], tt.want)
			}
			if n := l.Stack(tt.mem, r, pcs[:1]); n != 1 {
				t.Errorf("%d frames in room for one", n)
			}
			r[arch.CS] = 0x33
			if n := l.Stack(tt.mem, r, pcs); n != 0 {
				t.Errorf("%d frames in user mode", n)
			}
		})
	}
}

func TestORCStackSlid(t *testing.T) {
	const slide = 0x1c000000
	l := orcGuest(t, makeORC(orcOld, oldRules...))
	l.img.SetSlide(slide)
	mem := fakeMem{}.stack(stackTop, at(0x150)+slide, 0, 0, at(0x520)+slide)
	pcs := make([]uint64, 8)
	n := l.Stack(mem, fakeRegs{arch.RIP: at(0x10) + slide, arch.RSP: stackTop}, pcs)
	if want := []uint64{at(0x10) + slide, at(0x150) + slide, at(0x520) + slide}; !slices.Equal(pcs[:n], want) {
		t.Errorf("got %#x, want %#x", pcs[:n], want)
	}
}

func TestORCStackAllocs(t *testing.T) {
	l := orcGuest(t, makeORC(orcOld, oldRules...))
	mem := fakeMem{}.stack(stackTop, at(0x150), 0, 0, at(0x520))
	r, pcs := fakeRegs{arch.RIP: at(0x10), arch.RSP: stackTop}, make([]uint64, 8)
	if n := testing.AllocsPerRun(100, func() { l.Stack(mem, r, pcs) }); n != 0 {
		t.Errorf("%v allocations for a stack", n)
	}
}

func TestORCFormats(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format orcFormat
		rule   rule
		want   orcEntry
	}{
		{"6.1 call", orcOld, rule{spReg: orcSP, spOffset: 16, bpReg: orcPrevSP, bpOffset: -16},
			orcEntry{orcCall, orcSP, orcPrevSP, 16, -16}},
		{"6.1 regs", orcOld, rule{spReg: orcSP, kind: 1}, orcEntry{kind: orcRegs, spReg: orcSP}},
		{"6.1 partial", orcOld, rule{spReg: orcSP, kind: 2}, orcEntry{kind: orcRegsPartial, spReg: orcSP}},
		{"6.1 end", orcOld, rule{end: true}, orcEntry{kind: orcEnd}},
		{"6.12 undefined", orcNew, rule{}, orcEntry{kind: orcUndefined}},
		{"6.12 end", orcNew, rule{kind: 1}, orcEntry{kind: orcEnd}},
		{"6.12 call", orcNew, rule{spReg: orcSP, spOffset: 8, kind: 2}, orcEntry{orcCall, orcSP, orcNone, 8, 0}},
		{"6.12 regs", orcNew, rule{spReg: orcSP, kind: 3}, orcEntry{kind: orcRegs, spReg: orcSP}},
		{"6.12 partial", orcNew, rule{spReg: orcSP, kind: 4}, orcEntry{kind: orcRegsPartial, spReg: orcSP}},
		{"6.12 out of range", orcNew, rule{spReg: orcSP, kind: 7}, orcEntry{kind: orcUndefined, spReg: orcSP}},
	} {
		got, ok := makeORC(tt.format, tt.rule).find(textBase + 1)
		if !ok || got != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, ok, tt.want)
		}
	}
}

func TestORCFind(t *testing.T) {
	// Of two entries for one address the last counts: the first only ends a section.
	table := makeORC(orcOld, rule{at: 0x10, spOffset: 1}, rule{at: 0x20, spOffset: 2}, rule{at: 0x20, spOffset: 3})
	for off, want := range map[uint64]int64{0x10: 1, 0x1f: 1, 0x20: 3, 0x1000: 3} {
		if got, ok := table.find(textBase + off); !ok || got.spOffset != want {
			t.Errorf("+%#x: %+v, %v", off, got, ok)
		}
	}
	if _, ok := table.find(textBase); ok {
		t.Error("found an entry before the first")
	}
}

// The tables and the format come from the image.
func TestNewORC(t *testing.T) {
	l := detect(t, openImage(t, linuxImage)).(*linux)
	table := l.orc()
	if table == nil || !l.types().orcEnd {
		t.Fatalf("table %v, end %v", table, l.types().orcEnd)
	}
	e, ok := table.find(symbol(t, l.img, "forbidden"))
	if want := (orcEntry{orcCall, orcSP, orcNone, 8, 0}); !ok || e != want {
		t.Errorf("%+v, %v; want %+v", e, ok, want)
	}
	none := detect(t, rename(t, linuxImage, "\x00.orc_unwind\x00", "\x00.orc_xxxxxx\x00")).(*linux)
	if none.orc() != nil {
		t.Error("half the tables are a table")
	}
}

// Without BTF, the version decides the format.
func TestBefore6_4(t *testing.T) {
	for version, want := range map[string]bool{
		"Linux version 6.1.0": true, "Linux version 6.3.9": true, "Linux version 6.4.0": false,
		"Linux version 5.9.0": true, "Linux version 7.0.0": false,
	} {
		img := rename(t, linuxImage, "Linux version 6.1.0", version)
		if got := before6_4(img); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

// A kernel built with frame pointers is followed by them.
func TestLinuxFrames(t *testing.T) {
	l := orcGuest(t, nil)
	mem := fakeMem{}.stack(stackTop, stackTop+16, at(0x150), 0, at(0x520))
	pcs := make([]uint64, 8)
	n := l.Stack(mem, fakeRegs{arch.RIP: at(0x1000), arch.RSP: stackTop, arch.RBP: stackTop}, pcs)
	if want := []uint64{at(0x1000), at(0x150), at(0x520)}; !slices.Equal(pcs[:n], want) {
		t.Errorf("got %#x, want %#x", pcs[:n], want)
	}
}

func FuzzORCStack(f *testing.F) {
	f.Add(uint64(0x10), uint64(stackTop), uint64(stackTop), []byte{0, 1, 2, 3})
	f.Add(uint64(0x310), uint64(stackTop), uint64(stackTop), make([]byte, 200))
	img, err := kernel.Open(linuxImage)
	if err != nil {
		f.Fatal(err)
	}
	defer img.Close()
	f.Fuzz(func(t *testing.T, pc, sp, bp uint64, stack []byte) {
		guest, err := Detect(img, "")
		if err != nil {
			t.Fatal(err)
		}
		l := guest.(*linux)
		table := makeORC(orcOld, oldRules...)
		l.orc = func() *orcTable { return table }
		l.text = [][2]uint64{{textBase, textBase + 0x2000}}
		mem := fakeMem{}
		mem.put(stackTop, stack)
		pcs := make([]uint64, 64)
		r := fakeRegs{arch.RIP: textBase + pc%0x1300, arch.RSP: sp, arch.RBP: bp}
		if n := l.Stack(mem, r, pcs); n < 1 || pcs[0] != r[arch.RIP] {
			t.Errorf("%d frames", n)
		}
	})
}

// The commonest rule, that of a function's beginning, shows how a table numbers registers.
func TestORCNumbers(t *testing.T) {
	first := func(sp orcReg) []rule {
		return []rule{{at: 0, spReg: sp, spOffset: 8, kind: 2}, {at: 1, spReg: 4, spOffset: 16, bpReg: 8, bpOffset: -16, kind: 2},
			{at: 2, spReg: sp, spOffset: 8, kind: 2}, {at: 3, spReg: 9, spOffset: 8, kind: 2}}
	}
	for _, tt := range []struct {
		name string
		sp   orcReg // as the table numbers it
		want []orcEntry
	}{
		{"6.12", 5, []orcEntry{{orcCall, orcSP, orcNone, 8, 0}, {orcCall, orcBP, orcBPIndirect, 16, -16}, {orcCall, orcSPIndirect, orcNone, 8, 0}}},
		{"7.2", 3, []orcEntry{{orcCall, orcSP, orcNone, 8, 0}, {orcCall, orcBP, orcPrevSP, 16, -16}, {orcCall, orcSPIndirect, orcNone, 8, 0}}},
		{"of another", 12, nil},
	} {
		table := makeORC(orcNew, first(tt.sp)...)
		if got := table.number(); got != (tt.want != nil) {
			t.Errorf("%s: %v", tt.name, got)
		}
		for i, at := range []uint64{0, 1, 3}[:len(tt.want)] {
			if got, ok := table.find(textBase + at); !ok || got != tt.want[i] {
				t.Errorf("%s: at %d %+v, want %+v", tt.name, at, got, tt.want[i])
			}
		}
	}
}
