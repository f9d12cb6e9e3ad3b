package copies

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/debuginfo"
)

// builds are the ways in which testdata/copies.c is compiled.
var builds = []struct{ cc, flags string }{
	{"gcc", "-O2 -gdwarf-5"}, {"gcc", "-O2 -gdwarf-4"}, {"gcc", "-Os -gdwarf-5"}, {"gcc", "-O3 -gdwarf-5 -fno-omit-frame-pointer"},
	{"clang", "-O2 -gdwarf-5"}, {"clang", "-O2 -gdwarf-4"}, {"clang", "-Os -gdwarf-5"},
}

// each runs a test with each build.
func each(t *testing.T, test func(t *testing.T, p program)) {
	for _, b := range builds {
		t.Run(b.cc+" "+b.flags, func(t *testing.T) {
			test(t, compile(t, b.cc, strings.Fields(b.flags)...))
		})
	}
}

// A program is testdata/copies.c, compiled.
type program struct {
	path  string
	elf   *elf.File
	img   *kernel.Image
	index *debuginfo.Index
	find  *Finder
}

func compile(t *testing.T, cc string, flags ...string) (p program) {
	t.Helper()
	p.path = filepath.Join(t.TempDir(), "copies")
	args := append([]string{"-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-fcf-protection=none", "-o", p.path}, flags...)
	cmd := exec.Command(cc, append(args, "testdata/copies.c")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	data, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if p.elf, err = elf.NewFile(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if p.img, err = kernel.New(bytes.NewReader(data), int64(len(data)), "copies"); err != nil {
		t.Fatal(err)
	}
	if p.index, err = debuginfo.OpenIndex(p.img, "", nil); err != nil {
		t.Fatal(err)
	}
	if p.find, err = New(p.img); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEntries: the entries are where DWARF says, and begin instructions as objdump has them.
func TestEntries(t *testing.T) {
	each(t, func(t *testing.T, p program) {
		boundaries := objdump(t, p.path)
		for _, name := range []string{"clamp", "find", "nested", "checked", "grow"} {
			f, _ := p.index.Function(name)
			var got []uint64
			for _, c := range f.Copies {
				s := p.find.Find(c)
				if s.Entry == nil || len(s.Returns) == 0 {
					t.Fatalf("%s: a copy in %s has the sites %+v", name, c.Caller, s)
				}
				got = append(got, s.Entry.Addr)
				for _, site := range append(s.Returns, *s.Entry) {
					checkSite(t, p, site, boundaries)
				}
			}
			slices.Sort(got)
			if want := entries(t, p, name); !slices.Equal(got, want) || len(got) == 0 && name != "grow" { // -Os leaves grow as it is
				t.Errorf("%s: entries at %#x, DWARF says %#x", name, got, want)
			}
		}
	})
}

func checkSite(t *testing.T, p program, s Site, boundaries map[uint64]bool) {
	t.Helper()
	if !boundaries[s.Addr] {
		t.Errorf("%+v: no instruction begins there", s)
	}
	syms := p.img.Symtab().Lookup(s.Symbol)
	if len(syms) != 1 || syms[0].Addr+s.Offset != s.Addr {
		t.Errorf("%+v: the symbol is %+v", s, syms)
	}
}

// entries are where the standard library finds copies of a function to begin.
func entries(t *testing.T, p program, name string) (out []uint64) {
	d, err := p.elf.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	names := map[dwarf.Offset]string{}
	var copies []*dwarf.Entry
	r := d.Reader()
	for e, err := r.Next(); e != nil; e, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && e.Tag == dwarf.TagSubprogram {
			names[e.Offset] = s
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			copies = append(copies, e)
		}
	}
	for _, e := range copies {
		origin, _ := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		ranges, err := d.Ranges(e)
		if names[origin] != name || err != nil || len(ranges) == 0 {
			continue
		}
		entry := ranges[0][0]
		switch v := e.Val(dwarf.AttrEntrypc).(type) {
		case uint64:
			entry = v
		case int64: // an offset
			entry += uint64(v)
		}
		out = append(out, entry)
	}
	slices.Sort(out)
	return out
}

// objdump lists where instructions begin.
func objdump(t *testing.T, path string) map[uint64]bool {
	t.Helper()
	text, err := exec.Command("objdump", "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64]bool{}
	for line := range strings.Lines(string(text)) {
		var addr uint64
		if n, _ := fmt.Sscanf(line, " %x:\t", &addr); n == 1 {
			out[addr] = true
		}
	}
	return out
}

// TestCalls steps through the program: the copies and the definition of a function have as
// many entries, and as many returns, as it has counted calls; fewer where a note says so.
func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, p program) {
		w := newWatch(t, p, "clamp", "find", "nested", "checked", "grow", "plain")
		counters := w.run(t)
		for name, n := range w.count {
			want := int(counters[name])
			if w.otherWay(name) && n.entries < want {
				want = n.entries
			}
			if want < 2 || n.entries != want || n.returns != want {
				t.Errorf("%s: %d calls, %d entries, %d returns", name, want, n.entries, n.returns)
			}
		}
		if t.Failed() {
			t.Log(strings.Join(slices.Sorted(maps.Keys(w.notes)), "\n"))
		}
	})
}
