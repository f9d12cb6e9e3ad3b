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

// The conditions of Jcc by their names (SDM vol. 2, Jcc), and the jumps that look at RCX.
func TestAMD64Condition(t *testing.T) {
	const cf, pf, zf, sf, of = 1, 1 << 2, 1 << 6, 1 << 7, 1 << 11
	for _, c := range []struct {
		code          []byte
		flags, rcx    uint64
		branch, taken bool
	}{
		{[]byte{0x70, 0}, of, 0, true, true},
		{[]byte{0x72, 0}, cf, 0, true, true},
		{[]byte{0x73, 0}, cf, 0, true, false},
		{[]byte{0x74, 0}, zf, 0, true, true},
		{[]byte{0x76, 0}, zf, 0, true, true},
		{[]byte{0x77, 0}, 0, 0, true, true},
		{[]byte{0x78, 0}, sf, 0, true, true},
		{[]byte{0x7a, 0}, pf, 0, true, true},
		{[]byte{0x7c, 0}, sf, 0, true, true},
		{[]byte{0x7c, 0}, sf | of, 0, true, false},
		{[]byte{0x7d, 0}, sf | of, 0, true, true},
		{[]byte{0x7e, 0}, zf, 0, true, true},
		{[]byte{0x7f, 0}, zf, 0, true, false},
		{[]byte{0x0f, 0x85, 0, 0, 0, 0}, 0, 0, true, true},
		{[]byte{0x2e, 0x75, 0}, zf, 0, true, false},
		{[]byte{0xe0, 0}, 0, 2, true, true},
		{[]byte{0xe0, 0}, zf, 2, true, false},
		{[]byte{0xe1, 0}, zf, 2, true, true},
		{[]byte{0xe2, 0}, 0, 1, true, false},
		{[]byte{0xe2, 0}, 0, 0, true, true},
		{[]byte{0xe3, 0}, 0, 0, true, true},
		{[]byte{0x48, 0x89, 0xc0}, 0, 0, false, false},
		{[]byte{0xeb, 0}, 0, 0, false, false},
		{[]byte{0x40}, 0, 0, false, false},
	} {
		branch, taken := amd64Condition(c.code, registers{arch.RFLAGS: c.flags, arch.RCX: c.rcx})
		if branch != c.branch || taken != c.taken {
			t.Errorf("% x with flags %#x, rcx %d: %t, %t", c.code, c.flags, c.rcx, branch, taken)
		}
	}
}

type registers map[arch.Reg]uint64

func (r registers) Reg(x arch.Reg) uint64 { return r[x] }
func (registers) SetReg(arch.Reg, uint64) {}
