package kernel

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

const base = 0xffffffff81000000

// show is a symbol in one line: offset from the base, size, flags.
func show(s Symbol) string {
	flags := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{s.Func, "F"}, {s.Global, "G"}, {s.Weak, "W"}, {s.Init, "I"}, {s.Label, "L"}} {
		if f.set {
			flags += f.name
		}
	}
	return fmt.Sprintf("%s %#x+%d %s", s.Name, s.Addr-base, s.Size, flags)
}

func showAll(syms []Symbol) []string {
	var s []string
	for _, sym := range syms {
		s = append(s, show(sym))
	}
	return s
}

func TestFuncs(t *testing.T) {
	want := []string{
		"entry 0x10+5 FG",
		"sizeless 0x20+2 FGL",
		"last 0x22+1 FGL",
		"twin 0x23+4 F",
		"one 0x27+6 FG",
		"copy_bytes 0x2d+17 FG",
		"twin 0x3e+4 F",
		"other 0x42+9 FG",
		"setup 0x2008+11 FGI",
	}
	if got := showAll(open(t).Symtab().Funcs()); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLookup(t *testing.T) {
	tab := open(t).Symtab()
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"one", []string{"one 0x27+6 FG"}},
		{"twin", []string{"twin 0x23+4 F", "twin 0x3e+4 F"}},
		{"copy", []string{"copy 0x2d+17 FW"}},
		{"copy_local", []string{"copy_local 0x2d+17 F"}},
		{"entry_inner", []string{"entry_inner 0x12+1 FGL"}},
		{"entry_more", []string{"entry_more 0x13+2 FL"}}, // to the end of entry, not of the padding
		{"_stext", []string{"_stext 0x0+16 GL"}},
		{"table", []string{"table 0x1000+16 G"}},
		{"__per_cpu_load", []string{"__per_cpu_load 0x2000+0 G"}},
		{"nothing", nil},
		{"", nil},
	} {
		if got := showAll(tab.Lookup(tt.name)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestValue(t *testing.T) {
	tab := open(t).Symtab()
	for _, tt := range []struct {
		name string
		want uint64
	}{{"twin", base + 0x23}, {"entry_more", base + 0x13}, {"_stext", base}, {"absolute", 0x1234}} {
		if got, ok := tab.Value(tt.name); got != tt.want || !ok {
			t.Errorf("%s: %#x, %v; want %#x", tt.name, got, ok, tt.want)
		}
	}
	if got, ok := tab.Value("nothing"); ok {
		t.Errorf("nothing: %#x", got)
	}
}

func TestSpan(t *testing.T) {
	img := open(t)
	img.SetSlide(0x200000)
	funcs := img.Symtab().Funcs()
	first, last := funcs[0], funcs[len(funcs)-1]
	if lo, hi := img.Symtab().Span(); lo > first.Addr || hi != last.Addr+last.Size {
		t.Errorf("%#x to %#x, functions from %#x to %#x", lo, hi, first.Addr, last.Addr+last.Size)
	}
}

func TestAt(t *testing.T) {
	tab := open(t).Symtab()
	for _, tt := range []struct {
		off  uint64
		want string
	}{
		{0x10, "entry"},
		{0x12, "entry"}, // not the label inside
		{0x14, "entry"},
		{0x15, ""}, // padding
		{0x20, "sizeless"},
		{0x21, "sizeless"},
		{0x22, "last"},
		{0x26, "twin"},
		{0x2d, "copy_bytes"},
		{0x3d, "copy_bytes"},
		{0x4b, ""},
		{0x60, "linux_banner"},
		{0x1020 + 255, "zeroes"},
		{0x1020 + 256, ""},
		{^uint64(base) + 1, ""}, // 0: a per-CPU offset is no address
	} {
		got, ok := tab.At(base + tt.off)
		if got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("At(%#x) = %v, %v; want %q", tt.off, got, ok, tt.want)
		}
	}
}

func TestAliases(t *testing.T) {
	want := []string{"copy_bytes 0x2d+17 FG", "copy_local 0x2d+17 F", "copy 0x2d+17 FW"}
	tab := open(t).Symtab()
	if got := showAll(tab.Aliases(base + 0x2d)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tab.Aliases(base + 0x2e); got != nil {
		t.Errorf("inside a function: %v", got)
	}
}

// Which of the ways to find symbols is the first does not matter.
func TestConcurrentReaders(t *testing.T) {
	tab := open(t).Symtab()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if got := tab.Lookup("entry_inner"); len(got) != 1 || got[0].Size != 1 {
				t.Errorf("entry_inner: %v", got)
			}
		})
		all.Go(func() {
			if s, ok := tab.At(base + 0x2d); !ok || s.Name != "copy_bytes" {
				t.Errorf("At: %v", s)
			}
		})
	}
	all.Wait()
}

// Addresses slide; per-CPU offsets and absolute values do not.
func TestSlide(t *testing.T) {
	const slide = 0x22400000
	img := open(t)
	tab := img.Symtab()
	before := tab.Funcs()
	img.SetSlide(slide)
	if got := tab.Funcs(); got[0].Addr != before[0].Addr+slide || before[0].Addr != base+0x10 {
		t.Errorf("first function at %#x, before at %#x", got[0].Addr, before[0].Addr)
	}
	for name, want := range map[string]uint64{
		"one": base + 0x27 + slide, "current_task": 0, "absolute": 0x1234, "__per_cpu_load": base + 0x2000 + slide,
	} {
		if got := tab.Lookup(name); len(got) != 1 || got[0].Addr != want {
			t.Errorf("%s: %+v, want %#x", name, got, want)
		}
	}
	if s, ok := tab.At(base + slide + 0x28); !ok || s.Name != "one" || s.Addr != base+slide+0x27 {
		t.Errorf("At = %+v, %v", s, ok)
	}
	if s, ok := tab.At(base + 0x28); ok {
		t.Errorf("At the link-time address: %+v", s)
	}
	if got := tab.Aliases(base + slide + 0x2d); len(got) != 3 || got[2].Addr != base+slide+0x2d {
		t.Errorf("Aliases = %+v", got)
	}
	if got := tab.Glob("on?"); len(got) != 1 || got[0].Addr != base+slide+0x27 {
		t.Errorf("Glob = %+v", got)
	}
}

func TestGlobSymbols(t *testing.T) {
	tab := open(t).Symtab()
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{"twin", []string{"twin 0x23+4 F", "twin 0x3e+4 F"}},
		{"copy*", []string{"copy_bytes 0x2d+17 FG"}},
		{"copy_[a-l]*l", []string{"copy_local 0x2d+17 F"}},
		{"entry*", []string{"entry 0x10+5 FG"}},
		{"entry_*", []string{"entry_inner 0x12+1 FGL", "entry_more 0x13+2 FL"}},
		{"_*text*", nil},
		{"table", nil},
	} {
		if got := showAll(tab.Glob(tt.pattern)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.pattern, got, tt.want)
		}
	}
	if got := len(tab.Glob("*")); got != len(tab.Funcs()) {
		t.Errorf("* matches %d of %d functions", got, len(tab.Funcs()))
	}
}

func TestNearest(t *testing.T) {
	tab := open(t).Symtab()
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"tiwn", []string{"twin"}},
		{"copybytes", []string{"copy_bytes"}},
		{"setp", []string{"setup"}},
		{"sizeless_thing", []string{"sizeless"}},
		{"zzzzzz", nil},
	} {
		if got := tab.Nearest(tt.name, 3); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
