package listing

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/source"
	"trapline/probes"
	"trapline/trampoline"
)

// sample is a loop that ran: dec %rcx; jne; ret.
func sample(t *testing.T) *Listing {
	t.Helper()
	isa, err := trampoline.For(arch.AMD64)
	if err != nil {
		t.Fatal(err)
	}
	code := []byte{0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3}
	l, err := New(Config{
		Image: "an <image>", Function: kernel.Symbol{Name: "f", Addr: 0x1000, Size: 6}, Code: code, ISA: isa,
		Name:  func(uint64) (string, uint64) { return "", 0 },
		Files: &Files{FS: fstest.MapFS{"f.c": {Data: []byte("while (--n)\n\t;\nreturn;\n")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []uint64{8, 8, 1} {
		l.Rows[i].Counted, l.Rows[i].Hits = true, n
		l.Rows[i].Place.Line = source.Line{File: "f.c", Line: 1 + i/2*2}
	}
	l.Rows[1].Branch, l.Rows[1].Taken = true, 7
	l.Rows[0].Place.Stack = []source.Inlined{{Name: "g<>", Call: source.Line{File: "f.c", Line: 9}}}
	return l
}

const plainText = `f in an <image>: 3 of its 3 instructions ran, 17 executions

    INSTRS   SHARE  SOURCE LINE
        16   94.1%  f.c:1  while (--n)
         1    5.9%  f.c:3  return;

      HITS    TAKEN
f: 6 bytes at 0x1000
                            g<>, called at f.c:9
                              f.c:1  while (--n)
         8               0  48ffc9                          dec %rcx                                          copy
                            f.c:1  while (--n)
         8        7      3  75fb                            jne 0x1000                                        relocate
                            f.c:3  return;
         1               5  c3                              retq                                              copy
`

func TestText(t *testing.T) {
	var b strings.Builder
	if err := sample(t).Text(&b, Style{Counts: true}); err != nil || b.String() != plainText {
		t.Errorf("%v\n%s", err, &b)
	}
}

// Colours add nothing but their own codes.
func TestColor(t *testing.T) {
	var b strings.Builder
	if err := sample(t).Text(&b, Style{Counts: true, Color: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, code := range []string{plain, bold, faint, red, green, yellow} {
		want := "\x1b[" + code + "m"
		if code != plain && !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
		text = strings.ReplaceAll(text, want, "")
	}
	if text = strings.ReplaceAll(text, "\x1b[0m", ""); text != plainText {
		t.Errorf("%q", text)
	}
}

func TestHTML(t *testing.T) {
	ran, idle := sample(t), sample(t)
	for i := range idle.Rows {
		idle.Rows[i].Hits = 0
	}
	for _, c := range []struct {
		l      *Listing
		counts bool
		want   []string
	}{
		{ran, true, []string{
			"<title>&lt;f&gt;</title>", "an &lt;image&gt;: 3 of its 3 instructions", "     HITS   TAKEN OFFSET",
			"<details open><summary>g&lt;&gt;, called at f.c:9: 8 executions</summary>",
			`<p class="h9 k-relocate" data-t="relocate">        8       7      3 `,
		}},
		{idle, true, []string{"<details><summary>g&lt;&gt;, called at f.c:9: did not run</summary>"}},
		{ran, false, []string{
			"an &lt;image&gt;: 3 instructions, 6 bytes at 0x1000", "<p class=head>OFFSET ",
			"<details open><summary>g&lt;&gt;, called at f.c:9</summary>", `<p class="any k-relocate" data-t="relocate">     3 `,
		}},
	} {
		var b strings.Builder
		if err := HTML(&b, "<f>", []*Listing{c.l}, c.counts); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("no %s in\n%s", want, page)
			}
		}
		if strings.Count(page, "<details") != strings.Count(page, "</details") {
			t.Error("details that are not closed")
		}
	}
}

// A trampoline ends with the jump back and one byte of filling on amd64, with the second
// breakpoint on the others.
func TestTrampoline(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		slot string
		want string
	}{
		{arch.AMD64, "31c0 e9f9ffffff cccccccccc", "31c0 xor %eax,%eax; e9f9ffffff jmpq 0x1000; cc int3; "},
		{arch.ARM64, "e00301aa 00003ed4", "e00301aa mov x0, x1; 00003ed4 brk #0xf000; "},
		{arch.AMD64, "", ""},
	} {
		isa, err := trampoline.For(c.a)
		if err != nil {
			t.Fatal(err)
		}
		slot, err := hex.DecodeString(strings.ReplaceAll(c.slot, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		have := ""
		for _, i := range (&Listing{isa: isa}).trampoline(slot, 0x1000) {
			have += fmt.Sprintf("%x %s; ", i.Code, i.Text)
		}
		if have != c.want {
			t.Errorf("%s: %q, want %q", c.slot, have, c.want)
		}
	}
}

// A row whose instruction branches on a condition counts how often it did: the jumps that look at
// RCX or, with the prefix 67, at ECX (SDM vol. 2, Jcc, LOOP) among them.
func TestBranches(t *testing.T) {
	const cf, zf, high = 1, 1 << 6, 1 << 32
	for _, c := range []struct {
		a             *arch.Arch
		code          string
		regs          registers
		branch, taken bool
	}{
		{arch.AMD64, "7210", registers{arch.RFLAGS: cf}, true, true},
		{arch.AMD64, "7310", registers{arch.RFLAGS: cf}, true, false},
		{arch.AMD64, "0f8510000000", registers{}, true, true},
		{arch.AMD64, "2e7510", registers{arch.RFLAGS: zf}, true, false},
		{arch.AMD64, "e010", registers{arch.RCX: 2}, true, true},
		{arch.AMD64, "e010", registers{arch.RCX: 2, arch.RFLAGS: zf}, true, false},
		{arch.AMD64, "e110", registers{arch.RCX: 2, arch.RFLAGS: zf}, true, true},
		{arch.AMD64, "e210", registers{arch.RCX: 1}, true, false},
		{arch.AMD64, "e210", registers{}, true, true},
		{arch.AMD64, "e310", registers{}, true, true},
		{arch.AMD64, "e310", registers{arch.RCX: high}, true, false},
		{arch.AMD64, "67e310", registers{arch.RCX: high}, true, true},
		{arch.AMD64, "67e310", registers{arch.RCX: 1}, true, false},
		{arch.AMD64, "2e67e310", registers{arch.RCX: high}, true, true},
		{arch.AMD64, "67e210", registers{arch.RCX: high + 1}, true, false},
		{arch.AMD64, "67e010", registers{arch.RCX: high}, true, true},
		{arch.AMD64, "67e110", registers{arch.RCX: high + 1, arch.RFLAGS: zf}, true, false},
		{arch.AMD64, "6748e310", registers{arch.RCX: high}, true, true},
		{arch.AMD64, "4889c0", registers{}, false, false},
		{arch.AMD64, "eb10", registers{}, false, false},
		{arch.ARM64, "000200b4", registers{}, true, true},
		{arch.ARM64, "000200b4", registers{arch.ARM64X0: 1}, true, false},
		{arch.ARM64, "00040014", registers{}, false, false},
		{arch.RISCV64, "6308b500", registers{}, true, true},
		{arch.RISCV64, "6308b500", registers{arch.RISCV64X0 + 10: 1}, true, false},
		{arch.RISCV64, "41c1", registers{}, true, true},
	} {
		l := listingOf(t, c.a, c.code)
		c.regs[c.a.PC] = l.Addr
		count := NewCounter([]*Listing{l})
		count.Planted(probes.Break{Addr: l.Addr}, nil)
		reg := probes.NewRegistry()
		probe := reg.Group(profile{}, "", "", 0).Named("x", l.Addr)
		count.Fire(&probes.Firing{Probe: probe, CPU: c.regs})
		r := l.Rows[0]
		if r.Hits != 1 || r.Branch != c.branch || (r.Taken == 1) != c.taken {
			t.Errorf("%s %s with %v: %d hits, branch %t, %d taken", c.a.Name, c.code, c.regs, r.Hits, r.Branch, r.Taken)
		}
	}
}

// listingOf is the listing of one instruction.
func listingOf(t *testing.T, a *arch.Arch, code string) *Listing {
	t.Helper()
	isa, err := trampoline.For(a)
	if err != nil {
		t.Fatal(err)
	}
	text, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Config{
		Function: kernel.Symbol{Name: "f", Addr: 0x1000, Size: uint64(len(text))}, Code: text, ISA: isa,
		Name: func(uint64) (string, uint64) { return "", 0 },
	})
	if err != nil || len(l.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", code, len(l.Rows), err)
	}
	return l
}

// profile is a provider of the probes of a test.
type profile struct{ probes.Provider }

type registers map[arch.Reg]uint64

func (r registers) Reg(x arch.Reg) uint64 { return r[x] }
func (registers) SetReg(arch.Reg, uint64) {}
func (registers) ID() int                 { return 0 }
