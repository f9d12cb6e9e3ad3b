package debuginfo

import (
	"bytes"
	stddwarf "debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/images/tiny"
	"trapline/kernel"
)

// TestIndexIsStandard: of tiny, and of programs in both formats, the index has the
// functions and copies that the standard library's reader finds.
func TestIndexIsStandard(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(arch, func(t *testing.T) {
			data, err := tiny.Kernel(arch)
			if err != nil {
				t.Fatal(err)
			}
			compareIndex(t, data, "")
		})
	}
	for name, flags := range map[string][]string{
		"DWARF 4": {"-gdwarf-4"}, "DWARF 5": {"-gdwarf-5"},
		"LTO 4": {"-gdwarf-4", "-flto"}, "LTO 5": {"-gdwarf-5", "-flto"},
		"strict": {"-gdwarf-5", "-gstrict-dwarf"}, "Os": {"-gdwarf-4", "-Os"},
	} {
		t.Run(name, func(t *testing.T) { compareIndex(t, compile(t, "gcc", flags...), "clamp") })
	}
}

// compile makes a program of testdata/inline.
func compile(t testing.TB, cc string, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "a.out")
	args := append([]string{"-O2", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-Wl,--build-id", "-o", out}, flags...)
	cmd := exec.Command(cc, append(args, "first.c", "second.c")...)
	cmd.Dir = "testdata/inline"
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func openIndex(t testing.TB, data []byte, cache string) *Index {
	t.Helper()
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "test")
	if err != nil {
		t.Fatal(err)
	}
	x, err := OpenIndex(img, cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// compareIndex compares all of an index; inlined is a function that must have copies.
func compareIndex(t *testing.T, data []byte, inlined string) {
	t.Helper()
	have, want := describe(openIndex(t, data, "")), standard(t, data)
	if len(want) < 10 || !strings.Contains(strings.Join(want, "\n"), inlined+" in ") {
		t.Fatalf("only %d functions and copies, or none of %s", len(want), inlined)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error("(-standard library +index)\n" + diff)
	}
}

// describe has a line for each definition and copy.
func describe(x *Index) []string {
	var lines []string
	for _, name := range x.Glob("") {
		f, _ := x.Function(name)
		for _, d := range f.Regular {
			lines = append(lines, fmt.Sprintf("%s: %#x %#x line %d", name, d.Entry, d.Ranges, d.Line))
		}
		for _, c := range f.Copies {
			lines = append(lines, fmt.Sprintf("%s in %s %v: %#x %#x called %s:%d", name, c.Caller, c.Chain, c.Entry, c.Ranges, filepath.Base(c.CallFile), c.CallLine))
		}
	}
	slices.Sort(lines)
	return lines
}

// oracle reads a program with the standard library.
type oracle struct {
	t     *testing.T
	d     *stddwarf.Data
	lines []string
	files []*stddwarf.LineFile
}

func standard(t *testing.T, data []byte) []string {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{t: t}
	if o.d, err = f.DWARF(); err != nil {
		t.Fatal(err)
	}
	r := o.d.Reader()
	for e, err := r.Next(); e != nil && err == nil; e, err = r.Next() {
		lines, err := o.d.LineReader(e)
		if err != nil {
			t.Fatal(err)
		}
		o.files = nil
		if lines != nil {
			o.files = lines.Files()
		}
		o.children(r, e, "", nil)
	}
	slices.Sort(o.lines)
	return o.lines
}

// children notes what is below an entry.
func (o *oracle) children(r *stddwarf.Reader, e *stddwarf.Entry, caller string, chain []string) {
	for e.Children {
		child, err := r.Next()
		if err != nil {
			o.t.Fatal(err)
		}
		switch child.Tag {
		case 0:
			return
		case stddwarf.TagSubprogram:
			o.children(r, child, o.definition(child), nil)
		case stddwarf.TagInlinedSubroutine:
			o.copy(child, caller, chain)
			name, _, _ := o.name(child)
			o.children(r, child, caller, append(chain[:len(chain):len(chain)], name))
		default:
			o.children(r, child, caller, chain)
		}
	}
}

// definition notes a function if it has code, and gives its name then.
func (o *oracle) definition(e *stddwarf.Entry) string {
	ranges := o.ranges(e)
	if len(ranges) == 0 {
		return ""
	}
	name, line, _ := o.name(e)
	o.lines = append(o.lines, fmt.Sprintf("%s: %#x %#x line %d", name, o.entry(e, ranges), ranges, line))
	return name
}

func (o *oracle) copy(e *stddwarf.Entry, caller string, chain []string) {
	name, _, ok := o.name(e)
	if !ok || caller == "" {
		return
	}
	file := "."
	if i, ok := e.Val(stddwarf.AttrCallFile).(int64); ok {
		file = filepath.Base(o.files[i].Name)
	}
	line, _ := e.Val(stddwarf.AttrCallLine).(int64)
	ranges := o.ranges(e)
	o.lines = append(o.lines, fmt.Sprintf("%s in %s %v: %#x %#x called %s:%d", name, caller, chain, o.entry(e, ranges), ranges, file, line))
}

func (o *oracle) ranges(e *stddwarf.Entry) []Range {
	all, err := o.d.Ranges(e)
	if err != nil {
		o.t.Fatal(err)
	}
	var ranges []Range
	for _, r := range all {
		if r[0] < r[1] {
			ranges = append(ranges, Range{r[0], r[1]})
		}
	}
	return ranges
}

func (o *oracle) entry(e *stddwarf.Entry, ranges []Range) uint64 {
	switch pc := e.Val(stddwarf.AttrEntrypc).(type) {
	case uint64:
		return pc
	case int64:
		if low, ok := e.Val(stddwarf.AttrLowpc).(uint64); ok {
			return low + uint64(pc)
		}
		return ranges[0].Lo + uint64(pc)
	}
	if len(ranges) == 0 {
		return 0
	}
	return ranges[0].Lo
}

// name is that of a function, and the line of its declaration, here or where it refers to.
func (o *oracle) name(e *stddwarf.Entry) (name string, line int64, ok bool) {
	for e != nil {
		if l, ok := e.Val(stddwarf.AttrDeclLine).(int64); ok && line == 0 {
			line = l
		}
		if name, ok := e.Val(stddwarf.AttrName).(string); ok {
			return name, line, true
		}
		off, ok := e.Val(stddwarf.AttrAbstractOrigin).(stddwarf.Offset)
		if !ok {
			if off, ok = e.Val(stddwarf.AttrSpecification).(stddwarf.Offset); !ok {
				return "", 0, false
			}
		}
		r := o.d.Reader()
		r.Seek(off)
		e, _ = r.Next()
	}
	return "", 0, false
}

// TestIndexFile: an index is kept, taken from there, and made anew if that is damaged.
func TestIndexFile(t *testing.T) {
	data, cache := compile(t, "gcc", "-gdwarf-5"), t.TempDir()
	want := describe(openIndex(t, data, cache))
	files, _ := filepath.Glob(filepath.Join(cache, "functions", "*"))
	if len(files) != 1 {
		t.Fatalf("files of the cache: %v", files)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"as it is": good, "empty": nil, "cut": good[:len(good)-1], "header only": good[:indexHeader],
		"other version": append([]byte("tl-func\x00"), good[8:]...),
		"changed":       append(append([]byte{}, good[:100]...), append([]byte{^good[100]}, good[101:]...)...),
	} {
		if err := os.WriteFile(files[0], bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, describe(openIndex(t, data, cache))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if now, _ := os.ReadFile(files[0]); !bytes.Equal(now, good) {
			t.Errorf("%s: the file is not as it was", name)
		}
	}
}

// TestIndexKept: with a file of the cache the debug information is not needed.
func TestIndexKept(t *testing.T) {
	data, cache := compile(t, "gcc", "-gdwarf-5"), t.TempDir()
	want := describe(openIndex(t, data, cache))
	path := filepath.Join(t.TempDir(), "a.out")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("objcopy", "--strip-debug", path).CombinedOutput(); err != nil {
		t.Fatal(err, string(text))
	}
	stripped, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, describe(openIndex(t, stripped, cache))); diff != "" {
		t.Error(diff)
	}
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(cache, "functions", "*"))
	if len(files) != 1 || os.Chmod(files[0], 0o620) != nil {
		t.Fatalf("%d files", len(files))
	}
	if _, err := OpenIndex(img, cache, nil); !errors.Is(err, ErrNoDebugInfo) {
		t.Errorf("with a file that others could have written: error %v, want ErrNoDebugInfo", err)
	}
	defer img.Close()
	if _, err := OpenIndex(img, "", nil); !errors.Is(err, ErrNoDebugInfo) {
		t.Errorf("without cache: %v", err)
	}
}

func TestIndexNames(t *testing.T) {
	x := openIndex(t, compile(t, "gcc", "-gdwarf-5"), "")
	if have := x.Glob("[ac]*"); !slices.Equal(have, []string{"add", "add_all", "clamp"}) {
		t.Errorf("[ac]*: %v", have)
	}
	if have := x.Nearest("calmp", 1); !slices.Equal(have, []string{"clamp"}) {
		t.Errorf("calmp: %v", have)
	}
	if _, ok := x.Function("calmp"); ok {
		t.Error("calmp is there")
	}
	f, _ := x.Function("distance")
	if len(f.Regular) != 1 || len(f.Copies) == 0 {
		t.Errorf("distance: %+v", f)
	}
	for _, c := range f.Copies {
		if c.CallFile != "first.c" || c.Depth != len(c.Chain)+1 {
			t.Errorf("distance: %+v", c)
		}
	}
}

// FuzzIndex: damage costs functions, not the program.
func FuzzIndex(f *testing.F) {
	data, err := tiny.Kernel("amd64")
	if err != nil {
		f.Fatal(err)
	}
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "tiny")
	if err != nil {
		f.Fatal(err)
	}
	good := newSections(img)
	f.Add(uint32(0), uint32(1), byte(0), byte(0))
	f.Add(uint32(100), uint32(70), byte(0x23), byte(0xff))
	f.Fuzz(func(t *testing.T, at, step uint32, section, xor byte) {
		d := *good
		parts := []*[]byte{&d.info, &d.abbrev, &d.line, &d.rnglists, &d.ranges, &d.strOffsets}
		p := parts[int(section)%len(parts)]
		*p = slices.Clone(*p)
		for i := uint64(at); i < uint64(len(*p)); i += uint64(step) + 16 {
			(*p)[i] ^= xor
		}
		tab, err := d.index(nil)
		if err != nil {
			return // and there is no index
		}
		describe(&Index{tab})
	})
}
