package patch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// owner is a provider for the probes of these tests.
type owner struct{ set *Set }

func (owner) Name() string                                 { return "test" }
func (owner) Provide(probes.Desc) ([]*probes.Probe, error) { return nil, nil }
func (o owner) Enable(p []*probes.Probe) error             { return o.set.Enable(p) }
func (o owner) Disable(p []*probes.Probe) error            { return o.set.Disable(p) }

// rig is a set over a target with the functions of testdata/functions.txt.
type rig struct {
	t      *testing.T
	target *probetest.Target
	funcs  probetest.Symbols
	set    *Set
	reg    *probes.Registry
	fired  []string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	text, err := os.ReadFile("testdata/functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	return newRigOf(t, arch.AMD64, string(text))
}

// newRigOf is a rig with these functions.
func newRigOf(t *testing.T, a *arch.Arch, text string) *rig {
	t.Helper()
	funcs, err := probetest.ParseFuncs(text)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, target: probetest.New(a), funcs: funcs, reg: probes.NewRegistry()}
	for _, f := range funcs {
		r.target.Map(f.Addr, f.Code)
	}
	sink := probes.SinkFunc(func(f *probes.Firing) {
		r.fired = append(r.fired, fmt.Sprintf("%d:%s+%s", f.Probe.ID(), f.Probe.Function(), f.Probe.Name()))
	})
	if r.set, err = New(r.target, r.funcs.File, sink); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) fn(name string) probetest.Func {
	i := slices.IndexFunc(r.funcs, func(f probetest.Func) bool { return f.Name == name })
	return r.funcs[i]
}

// probes makes a probe, under this name, on every instruction of a function.
func (r *rig) probes(function, name string) []*probes.Probe {
	r.t.Helper()
	f := r.fn(function)
	g := r.reg.Group(owner{r.set}, "m", name, f.Addr)
	fn := r.set.Func(f.Addr, len(f.Code))
	instrs, _ := fn.Instrs()
	var out []*probes.Probe
	for _, in := range instrs {
		r.set.Add(fn, in)
		out = append(out, g.Numbered(in.Off, f.Addr+uint64(in.Off)))
	}
	return out
}

func (r *rig) enable(p []*probes.Probe) {
	r.t.Helper()
	if err := r.reg.Enable(p); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) disable(p []*probes.Probe) {
	r.t.Helper()
	if err := r.reg.Disable(p); err != nil {
		r.t.Fatal(err)
	}
}

// want compares the breakpoints planted in a function: offset and length, g for the
// guest's own, "5+3 8+1g".
func (r *rig) want(function, want string) {
	r.t.Helper()
	f := r.fn(function)
	var got []string
	for _, b := range r.target.Breaks() {
		if off := b.Addr - f.Addr; off < uint64(len(f.Code)) {
			got = append(got, fmt.Sprintf("%d+%d%s", off, b.Len, map[bool]string{true: "g"}[b.Guest]))
		}
	}
	if s := strings.Join(got, " "); s != want {
		r.t.Errorf("breakpoints %q, want %q", s, want)
	}
	r.check()
}

// check compares the trampolines with those of the text as it is now.
func (r *rig) check() {
	r.t.Helper()
	for _, b := range r.target.Breaks() {
		code := make([]byte, b.Len)
		if b.Guest || r.target.ReadMem(b.Addr, code) != nil { // not mapped yet
			continue
		}
		plan := r.set.isa.Plan(code, b.Addr)
		if do := r.set.isa.Do(plan, code, b.Addr); do != b.Do {
			r.t.Errorf("for % x at %#x the machine does %v, want %v", code, b.Addr, b.Do, do)
		}
		if !plan.InSlot() {
			continue
		}
		want, err := r.set.isa.Encode(plan, code, b.Addr, b.Slot)
		if err != nil {
			r.t.Fatal(err)
		}
		for i := range want {
			if got := r.target.Code[b.Slot+uint64(i)]; got != want[i] {
				r.t.Errorf("the trampoline of %#x (% x) has %#x at %d, want % x", b.Addr, code, got, i, want)
			}
		}
	}
	if r.target.Err != nil {
		r.t.Error(r.target.Err)
	}
	if r.set.Err() != nil {
		r.t.Error(r.set.Err())
	}
}

const plainAll = "0+4 4+5 9+1 10+3 13+3 16+2 18+2 20+1 21+1"

func TestEnable(t *testing.T) {
	r := newRig(t)
	ps := r.probes("plain", "plain")
	r.want("plain", "")
	r.enable(ps)
	r.want("plain", plainAll)
	if got := r.set.Enabled(); len(got) != 9 || got[0] != r.fn("plain").Addr || !slices.IsSorted(got) {
		t.Errorf("enabled %#x", got)
	}
	r.disable(ps[2:4])
	r.want("plain", "0+4 4+5 13+3 16+2 18+2 20+1 21+1")
	r.disable(slices.Concat(ps[:2], ps[4:]))
	r.want("plain", "")
	for addr, b := range r.target.Code {
		if b != 0xcc {
			t.Fatalf("slot byte %#x is %#x after all probes were disabled", addr, b)
		}
	}
}

func TestHit(t *testing.T) {
	r := newRig(t)
	ps, again := r.probes("plain", "plain"), r.probes("plain", "alias")
	third := r.probes("plain", "third")
	r.enable(third[:1])
	r.enable(ps)
	r.enable(again[:2])
	r.want("plain", plainAll)
	at := r.fn("plain").Addr
	r.target.Run(at, at+4, at+9, at+1, at+0x4000)
	want := []string{"1:plain+0", "10:alias+0", "19:third+0", "2:plain+4", "11:alias+4", "3:plain+9"}
	if !slices.Equal(r.fired, want) {
		t.Errorf("fired %q, want %q", r.fired, want)
	}
	r.disable(ps)
	r.want("plain", "0+4 4+5")
	r.fired = nil
	r.target.Run(at, at+4)
	if want := []string{"10:alias+0", "19:third+0", "11:alias+4"}; !slices.Equal(r.fired, want) {
		t.Errorf("fired %q, want %q", r.fired, want)
	}
	if n := r.set.Hits(at); n != 2 {
		t.Errorf("%d hits of the first instruction, want 2", n)
	}
}

func TestRewrite(t *testing.T) {
	type store struct {
		off  int
		code string
		want string
	}
	tests := []struct {
		name     string
		function string
		stores   []store
	}{
		{"same length", "plain", []store{{4, "\xe8\x00\x00\x00\x00", plainAll}}},
		{"one long instruction becomes short ones", "plain", []store{
			{4, "\x90\x90\x0f\x1f\x00", "0+4 4+1 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{4, "\x0f\x1f\x44\x00\x00", plainAll},
		}},
		{"short ones become a long one", "plain", []store{
			{16, "\x0f\x1f\x40\x00", "0+4 4+5 9+1 10+3 13+3 16+4 20+1 21+1"},
			{16, "\x74\x02\x31\xc0", plainAll},
		}},
		{"text_poke", "plain", []store{ // INT3, tail, first byte
			{4, "\xcc", "0+4 4+1g 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{5, "\x12\x34\x56\x78", "0+4 4+1g 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{4, "\xe8", plainAll},
		}},
		{"INT3 on an instruction the image does not have", "plain", []store{
			{4, "\x66\x90\x0f\x1f\x00", "0+4 4+2 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{6, "\xcc", "0+4 4+2 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{7, "\xff", "0+4 4+2 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
			{6, "\xcc\x90\x90", "0+4 4+2 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
		}},
		// As a jump to a return thunk becomes a return and padding. The byte at 8 begins no
		// instruction, though it would decode as one that ends where the file has a boundary.
		{"padded with INT3", "plain", []store{
			{4, "\xb8\x00\x00\x00\xa8", plainAll},
			{4, "\xc3\xcc\xcc\xcc\xcc", "0+4 4+1 9+1 10+3 13+3 16+2 18+2 20+1 21+1"},
		}},
		{"crossing a page, at its end", "crossing", []store{
			{8, "\xaa", "0+1 1+3 4+10 14+1 15+1"},
			{4, "\x48\xc7\xc0\x01\x00\x00\x00\x0f\x1f\x00", "0+1 1+3 4+7 14+1 15+1"},
			{4, "\x48\xb8", "0+1 1+3 4+10 14+1 15+1"},
		}},
		{"becomes what cannot be displaced, and back", "plain", []store{
			{16, "\xcd\x80", "0+4 4+5 9+1 10+3 13+3 18+2 20+1 21+1"},
			{16, "\x74\x02", plainAll},
		}},
		{"undecodable", "plain", []store{
			{9, "\x06", "0+4 4+5"},
			{9, "\x55", plainAll},
		}},
		{"a kprobe in the image's own INT3's place", "ownint3", []store{
			{0, "\xcc", "0+1g 1+1g 2+1 3+1"},
			{0, "\x50", "0+1 1+1g 2+1 3+1"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.enable(r.probes(tt.function, tt.function))
			addr := r.fn(tt.function).Addr
			for _, s := range tt.stores {
				r.target.Rewrite(addr+uint64(s.off), []byte(s.code))
				r.want(tt.function, s.want)
			}
		})
	}
}

// Text that changes while no breakpoint is near is looked at again by Enable.
func TestEnableLooksAgain(t *testing.T) {
	r := newRig(t)
	ps := r.probes("plain", "plain")
	r.target.Rewrite(r.fn("plain").Addr+16, []byte("\x0f\x1f\x40\x00"))
	r.enable(ps)
	r.want("plain", "0+4 4+5 9+1 10+3 13+3 16+4 20+1 21+1")
	if now, times := r.set.Suspended(); now != 1 || times != 1 {
		t.Errorf("suspended %d now, %d times", now, times)
	}
	want := []string{"test:m:plain:18 is suspended: the guest rewrote its text, and no instruction begins there"}
	if got := r.set.Report(); !slices.Equal(got, want) {
		t.Errorf("report %q", got)
	}
	r.disable(ps)
	r.want("plain", "")
}

// A point that is suspended stays so when its probe goes and comes again, until its instruction
// is one that can be had.
func TestSuspendedComesAgain(t *testing.T) {
	for code, want := range map[string]string{
		"\x0f\x1f\x40\x00": "0+4 4+5 9+1 10+3 13+3 16+4 20+1 21+1",
		"\xcd\x80":         "0+4 4+5 9+1 10+3 13+3 18+2 20+1 21+1",
	} {
		r := newRig(t)
		ps := r.probes("plain", "plain")
		r.enable(ps)
		r.target.Rewrite(r.fn("plain").Addr+16, []byte(code))
		r.disable(ps)
		r.enable(ps)
		r.want("plain", want)
		r.target.Rewrite(r.fn("plain").Addr+16, []byte("\x74\x02\x31\xc0"))
		r.want("plain", plainAll)
	}
}

func TestNotMapped(t *testing.T) {
	r := newRig(t)
	text, _ := os.ReadFile("testdata/functions.txt")
	r.funcs, _ = probetest.ParseFuncs(string(text) + "\nlate ffffffff82000000 90|55|c3\nlost ffffffff83000000 90\n")
	r.set.file = r.funcs.File
	defer r.check()
	r.enable(r.probes("late", "late"))
	r.want("late", "0+1 1+1 2+1")
	r.target.Rewrite(r.fn("late").Addr, []byte("\x90\x55\xc3"))
	r.want("late", "0+1 1+1 2+1")

	r.set.file = func(uint64, []byte) error { return os.ErrNotExist }
	if _, err := r.set.Func(r.fn("lost").Addr, 1).Instrs(); err == nil {
		t.Error("decoded what is neither in memory nor in the file")
	}
}

// smallTarget has room for one page of trampolines.
type smallTarget struct{ *probetest.Target }

func (smallTarget) Slots() (base, size uint64) { return probetest.SlotBase, 4096 }

func TestNoRoom(t *testing.T) {
	r := newRig(t)
	set, err := New(smallTarget{r.target}, r.funcs.File, r.set.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.set = set
	nops := probetest.Func{Name: "nops", Addr: 0xffffffff81003000, Code: []byte(strings.Repeat("\x90", 129))}
	r.funcs = append(r.funcs, nops)
	r.target.Map(nops.Addr, nops.Code)
	ps := r.probes("nops", "nops")
	if err := r.reg.Enable(ps); err == nil || !strings.Contains(err.Error(), "make room for a trampoline") {
		t.Errorf("error %v", err)
	}
	r.want("nops", "")
	r.enable(ps[1:])
	if n := len(r.target.Breaks()); n != 128 {
		t.Errorf("%d breakpoints, want 128", n)
	}
}

func TestUndecodable(t *testing.T) {
	r := newRig(t)
	f := r.fn("bad")
	instrs, err := r.set.Func(f.Addr, len(f.Code)).Instrs()
	if len(instrs) != 1 || err == nil || !strings.Contains(err.Error(), "at offset 1") {
		t.Errorf("%d instructions, error %v", len(instrs), err)
	}
}

// Whatever the guest writes, the breakpoints are those of a fresh look at the text.
func TestRewriteRandom(t *testing.T) {
	pieces := []string{"\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00", "\x55", "\x5d", "\xc3", "\x31\xc0", "\xe8\x10\x20\x30\xff"}
	rnd := rand.New(rand.NewPCG(1, 2))
	r := newRig(t)
	f := r.fn("plain")
	ps := r.probes("plain", "plain")
	r.enable(ps)
	for range 2000 {
		at := f.Offsets[rnd.IntN(len(f.Offsets))]
		code := pieces[rnd.IntN(len(pieces))]
		code = code[:min(len(code), len(f.Code)-at)]
		r.target.Rewrite(f.Addr+uint64(at), []byte(code))
		some := slices.DeleteFunc(slices.Clone(ps), func(*probes.Probe) bool { return rnd.IntN(4) > 0 })
		r.disable(some)
		r.enable(some)
		want := map[int]bool{}
		text := make([]byte, len(f.Code))
		if err := r.target.ReadMem(f.Addr, text); err != nil {
			t.Fatal(err)
		}
		for off := 0; off < len(text); {
			n, err := r.set.isa.Length(text[off:])
			if err != nil {
				break
			}
			p, pc := r.set.isa.Plan(text[off:], f.Addr+uint64(off)), f.Addr+uint64(off)
			_, err = r.set.isa.Encode(p, text[off:], pc, probetest.SlotBase) // fails when out of reach
			want[off] = slices.Contains(f.Offsets, off) && err == nil
			off += n
		}
		r.check()
		if t.Failed() {
			t.FailNow()
		}
		for _, b := range r.target.Breaks() {
			off := int(b.Addr - f.Addr)
			if !want[off] {
				t.Fatalf("text % x: a breakpoint at %d", text, off)
			}
			delete(want, off)
		}
		for off, missing := range want {
			if missing {
				t.Fatalf("text % x: no breakpoint at %d", text, off)
			}
		}
	}
}

// FuzzRewrite lets the guest write anything, its own breakpoints too, anywhere. data is a
// list of stores: offset, length, bytes.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte{4, 1, 0xcc, 5, 4, 1, 2, 3, 4, 4, 1, 0xe8})
	f.Add([]byte{16, 4, 0x0f, 0x1f, 0x40, 0x00, 16, 1, 0xcc})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRig(t)
		fn := r.fn("plain")
		ps := r.probes("plain", "plain")
		r.enable(ps)
		for len(data) > 2 {
			off := int(data[0]) % len(fn.Code)
			n := min(int(data[1])%8+1, len(data)-2, len(fn.Code)-off)
			r.target.Rewrite(fn.Addr+uint64(off), data[2:2+n])
			data = data[2+n:]
			r.check()
		}
		r.target.Rewrite(fn.Addr, fn.Code)
		r.want("plain", plainAll)
		r.disable(ps)
		r.want("plain", "")
	})
}
