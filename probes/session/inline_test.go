package session

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/debuginfo"
	"trapline/probes/copies"
	"trapline/probes/front"
	"trapline/probes/modules"
	"trapline/probes/probetest"
)

// newCompiledRig is a session on a program that is compiled for it.
func newCompiledRig(t *testing.T, path string) *rig {
	t.Helper()
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	r := &rig{target: probetest.New(arch.AMD64)}
	r.Session, err = New(Config{
		Target: r.target, Symbols: img.Symtab(), Text: img.Text, OS: fakeOS{}, Stdout: &r.out, Stderr: &r.errOut,
		Debug: modules.Debug{At: img, Functions: func() (*modules.Functions, error) {
			x, err := debuginfo.OpenIndex(img, "", nil)
			if err != nil {
				return nil, err
			}
			f, err := copies.New(img)
			return &modules.Functions{Index: x, Finder: f}, err
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compileCopies(t *testing.T, cc string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copies")
	args := append([]string{"-O2", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fcf-protection=none", "-o", path}, flags...)
	cmd := exec.Command(cc, append(args, "../copies/testdata/copies.c")...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	return path
}

// TestInline: what kinst::f:entry becomes, and the shape in which -d shows it, in the three
// situations that the original tells apart.
func TestInline(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		t.Run(cc, func(t *testing.T) {
			path := compileCopies(t, cc, "-g")
			for _, c := range []struct {
				function string
				least    int      // copies
				also     []string // what follows them
			}{
				{"clamp", 5, nil},                                // copies in several callers
				{"grow", 1, []string{"fbt::grow:entry"}},         // and a definition of its own
				{"plain", 0, []string{"fbt::plain:entry"}},       // no copies
				{"complain", 0, []string{"fbt::complain:entry"}}, // nor here
			} {
				want := entriesOf(t, path, c.function)
				if len(want) < c.least {
					t.Fatalf("%s has copies at %v", c.function, want)
				}
				want = append(want, c.also...)
				r := newCompiledRig(t, path)
				src := spec("kinst::" + c.function + `:entry /pid == 42/ { printf("\t%d\t%s", pid, execname); }`)
				if err := r.Compile([]front.Source{src}, front.Macros{}); err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				if err := r.Desugared(&b); err != nil {
					t.Fatal(err)
				}
				text := strings.Join(want, ",\n") + "\n/pid == 42/\n{\n\tprintf(\"\\t%d\\t%s\", pid, execname);\n}\n"
				if b.String() != text {
					t.Errorf("%s becomes\n%s\nwant\n%s", c.function, &b, text)
				}
				if n := r.Registry().Len() - 3; n != len(want) {
					t.Errorf("%s: %d probes, want %d", c.function, n, len(want))
				}
			}
		})
	}
}

// entriesOf is the descriptions of the copies of a function, as the standard library and the
// symbol table have them, by address.
func entriesOf(t *testing.T, path, name string) (out []string) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	var addrs []uint64
	var origin dwarf.Offset
	for pass := range 2 { // a copy may come before its origin
		r := d.Reader()
		for e, _ := r.Next(); e != nil; e, _ = r.Next() {
			switch {
			case pass == 0 && e.Tag == dwarf.TagSubprogram && e.Val(dwarf.AttrName) == name:
				origin = e.Offset
			case pass == 1 && e.Tag == dwarf.TagInlinedSubroutine && e.Val(dwarf.AttrAbstractOrigin) == origin:
				addrs = append(addrs, entryOf(t, d, e))
			}
		}
	}
	slices.Sort(addrs)
	syms, _ := f.Symbols()
	for _, addr := range addrs {
		i := slices.IndexFunc(syms, func(s elf.Symbol) bool {
			return elf.ST_TYPE(s.Info) == elf.STT_FUNC && addr-s.Value < s.Size
		})
		out = append(out, fmt.Sprintf("kinst::%s:%d", syms[i].Name, addr-syms[i].Value))
	}
	return out
}

func entryOf(t *testing.T, d *dwarf.Data, e *dwarf.Entry) uint64 {
	ranges, err := d.Ranges(e)
	if err != nil || len(ranges) == 0 {
		t.Fatalf("a copy at %v: %v", e.Offset, err)
	}
	switch v := e.Val(dwarf.AttrEntrypc).(type) {
	case uint64:
		return v
	case int64:
		return ranges[0][0] + uint64(v)
	}
	return ranges[0][0]
}

// What else may be in a clause and what cannot be had.
func TestInlineErrors(t *testing.T) {
	path := compileCopies(t, "gcc", "-g")
	plain := compileCopies(t, "gcc")
	for _, c := range []struct {
		path, spec string
		want       string // the error, or -d
	}{
		{path, "kinst::clmap:entry", "invalid probe specifier kinst::clmap:entry: no function \"clmap\" in vmlinux (nearest: clamp"},
		{path, "kinst:ext4:clamp:entry", `invalid probe specifier kinst:ext4:clamp:entry: no module "ext4": name its file with --module (the kernel itself is "vmlinux")`},
		{path, "kinst::nosuch*:entry", "invalid probe specifier kinst::nosuch*:entry: no function \"nosuch*\" in vmlinux"},
		{plain, "kinst::clamp:entry", "invalid probe specifier kinst::clamp:entry: clamp:entry is about inlined copies: "},
		{plain, "kinst::plain:0", "kinst::plain:0\n;\n"}, // no debug information is needed for that
		{path, "BEGIN, kinst::pla*:return, tick-1s", "BEGIN,\nfbt::plain:return,\ntick-1s\n;\n"},
		{path, "kinst:vmlinux:plain:entry", "fbt:vmlinux:plain:entry\n;\n"},
	} {
		r := newCompiledRig(t, c.path)
		err := r.Compile([]front.Source{spec(c.spec)}, front.Macros{})
		got := ""
		if err == nil {
			var b strings.Builder
			err = errors.Join(r.Desugared(&b))
			got = b.String()
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != strings.Count(c.want, "\n") {
			t.Errorf("%s: got  %s\nwant %s", c.spec, got, c.want)
		}
	}
}
