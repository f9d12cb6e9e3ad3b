//go:build linuximage

package debuginfo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/kernel"
)

// vmlinuxes are the kernels that the build fetches or makes.
var vmlinuxes = map[string]string{
	"amd64": "TRAPLINE_VMLINUX", "arm64": "TRAPLINE_VMLINUX_ARM64", "riscv64": "TRAPLINE_VMLINUX_RISCV64",
}

// TestLinuxInline: the copies of 200 functions are those that llvm-dwarfdump shows, and of
// some of them perf would put its probes where the index has the entries.
func TestLinuxInline(t *testing.T) {
	for arch, variable := range vmlinuxes {
		t.Run(arch, func(t *testing.T) {
			path := os.Getenv(variable)
			if path == "" {
				t.Fatal(variable, "does not name a vmlinux")
			}
			img, err := kernel.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			x, err := OpenIndex(img, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			compareDump(t, img, x, path, seeded(x, 200))
			comparePerf(t, img, x, path, 200)
		})
	}
}

// TestCompilersInline: the same of programs by both compilers in both formats, and of one
// whose common parts dwz has put into partial units.
func TestCompilersInline(t *testing.T) {
	for _, c := range []struct {
		cc    string
		flags []string
		dwz   bool
	}{
		{"gcc", []string{"-gdwarf-4"}, false}, {"gcc", []string{"-gdwarf-5"}, false},
		{"gcc", []string{"-gdwarf-5", "-flto"}, false}, {"gcc", []string{"-gdwarf-4"}, true}, {"gcc", []string{"-gdwarf-5"}, true},
		{"clang", []string{"-gdwarf-4"}, false}, {"clang", []string{"-gdwarf-5"}, false},
		{"clang", []string{"-gdwarf-5", "-Os", "-ffunction-sections"}, false},
		{"clang", []string{"-gdwarf-5", "-flto", "-fuse-ld=lld"}, false}, {"clang", []string{"-gdwarf-4", "-flto", "-fuse-ld=lld"}, false},
	} {
		t.Run(fmt.Sprint(c.cc, c.flags, c.dwz), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, compile(t, c.cc, c.flags...), 0o777); err != nil {
				t.Fatal(err)
			}
			if c.dwz {
				output(t, "dwz", "-l", "none", "-L", "none", path)
			}
			img, err := kernel.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			x, err := OpenIndex(img, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{"clamp", "add", "distance", "later"}
			if n := compareDump(t, img, x, path, names); n < 6 {
				t.Errorf("only %d copies", n)
			}
		})
	}
}

// seeded are n functions that are inlined somewhere, always the same.
func seeded(x *Index, n int) []string {
	names := inlinedOf(x, "")
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(n, len(names))]
}

// inlinedOf are the functions that match a pattern and have been inlined somewhere.
func inlinedOf(x *Index, pattern string) (names []string) {
	for _, name := range x.Glob(pattern) {
		if f, _ := x.Function(name); slices.ContainsFunc(f.Copies, func(c Copy) bool { return len(c.Ranges) > 0 }) {
			names = append(names, name)
		}
	}
	return names
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	text, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.500s", name, err, text)
	}
	return string(text)
}

// compareDump compares copies with what llvm-dwarfdump shows, and gives their number.
func compareDump(t *testing.T, img *kernel.Image, x *Index, path string, names []string) int {
	t.Helper()
	args := []string{path}
	var have []string
	for _, name := range names {
		args = append(args, "--name="+name)
		f, _ := x.Function(name)
		for _, c := range f.Copies {
			have = append(have, fmt.Sprintf("%s %s:%d %#x %#x", name, filepath.Base(c.CallFile), c.CallLine, c.Entry, c.Ranges))
		}
	}
	want := dumped(newSections(img), output(t, "llvm-dwarfdump", args...))
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" || len(have) < len(names)/2 {
		t.Errorf("%d copies (-llvm-dwarfdump +index)\n%.3000s", len(have), diff)
	}
	t.Logf("%d functions, %d copies as llvm-dwarfdump has them", len(names), len(have))
	return len(have)
}

var (
	dumpName  = regexp.MustCompile(`DW_AT_abstract_origin\t.*"(\w+)"`)
	dumpValue = regexp.MustCompile(`DW_AT_(low_pc|high_pc|entry_pc|call_line)\t\((\w+)\)`)
	dumpFile  = regexp.MustCompile(`DW_AT_call_file\t\("(.*)"\)`)
	dumpRange = regexp.MustCompile(`\[(0x\w+), (0x\w+)\)`)
)

// dumped has a line for each copy in a dump.
func dumped(d *sections, text string) []string {
	var lines []string
	for _, entry := range strings.Split(text, "\n\n") {
		if !strings.Contains(entry, ": DW_TAG_inlined_subroutine") {
			continue
		}
		values := map[string]uint64{}
		for _, m := range dumpValue.FindAllStringSubmatch(entry, -1) {
			values[m[1]], _ = strconv.ParseUint(m[2], 0, 64)
		}
		var ranges []Range
		for _, m := range dumpRange.FindAllStringSubmatch(entry, -1) {
			lo, _ := strconv.ParseUint(m[1], 0, 64)
			hi, _ := strconv.ParseUint(m[2], 0, 64)
			ranges = append(ranges, Range{lo, hi})
		}
		if values["high_pc"] != 0 {
			ranges = append(ranges, Range{values["low_pc"], values["high_pc"]})
		}
		ranges = slices.DeleteFunc(ranges, func(r Range) bool { return !d.isCode(r) })
		at := values["entry_pc"]
		if at == 0 && len(ranges) > 0 {
			at = ranges[0].Lo
		}
		name := dumpName.FindStringSubmatch(entry)
		file := dumpFile.FindStringSubmatch(entry)
		lines = append(lines, fmt.Sprintf("%s %s:%d %#x %#x", name[1], filepath.Base(file[1]), values["call_line"], at, ranges))
	}
	return lines
}
