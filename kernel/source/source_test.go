package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel"
)

// tiny is the file of the embedded kernel.
func tiny(arch string) string {
	return filepath.Join("../../images/tiny", "tiny-"+arch+".elf")
}

func open(t *testing.T, path string) (*kernel.Image, *Info) {
	t.Helper()
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	info, err := Open(img)
	if err != nil {
		t.Fatal(err)
	}
	return img, info
}

// describe is a place in the form of addr2line -i -f -s: pairs of function and line, from
// the inside out.
func describe(function string, p Place) (all []string) {
	at := p.Line
	for i := len(p.Stack) - 1; i >= 0; i-- {
		all = append(all, p.Stack[i].Name, base(at))
		at = p.Stack[i].Call
	}
	return append(all, function, base(at))
}

func base(l Line) string { return fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line) }

// addr2line asks binutils about addresses.
func addr2line(t *testing.T, path string, addrs []uint64) map[uint64][]string {
	t.Helper()
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command("addr2line", "-a", "-i", "-f", "-s", "-e", path)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[uint64][]string{}
	var at uint64
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), " (discriminator")
		if strings.HasPrefix(text, "0x") {
			fmt.Sscanf(text, "0x%x", &at)
			continue
		}
		all[at] = append(all[at], text)
	}
	return all
}

// Every address of the C functions of the embedded kernels is where binutils says it is.
func TestAddr2line(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(arch, func(t *testing.T) {
			img, info := open(t, tiny(arch))
			have := map[uint64][]string{}
			var addrs []uint64
			inlined := 0
			for _, s := range img.Symtab().Funcs() {
				f, err := info.Function(s.Addr, s.Size)
				if err != nil {
					t.Fatal(err)
				}
				for a := s.Addr; a < s.Addr+s.Size; a += 2 {
					p := f.At(a)
					if !strings.HasSuffix(p.File, ".c") || strings.HasSuffix(s.Name, ".cold") {
						continue
					}
					inlined += len(p.Stack)
					have[a] = describe(s.Name, p)
					addrs = append(addrs, a)
				}
			}
			if len(addrs) < 5000 || inlined < 500 {
				t.Fatalf("only %d addresses, %d in inlined functions", len(addrs), inlined)
			}
			compare(t, have, addr2line(t, tiny(arch), addrs))
		})
	}
}

func compare(t *testing.T, have, want map[uint64][]string) {
	t.Helper()
	bad := 0
	for a, h := range have {
		w := want[a]
		if len(w) > 1 {
			w[len(w)-2] = h[len(h)-2] // symbols may have suffixes that the source has not
		}
		if strings.Join(h, " ") != strings.Join(w, " ") {
			if bad++; bad < 10 {
				t.Errorf("%#x: %v, addr2line says %v", a, h, w)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d differ", bad, len(have))
	}
}

// A kernel that has moved itself has the lines of where it was linked.
func TestSlide(t *testing.T) {
	img, info := open(t, tiny("amd64"))
	s := img.Symtab().Lookup("process_fork")[0]
	f, err := info.Function(s.Addr, s.Size)
	if err != nil {
		t.Fatal(err)
	}
	img.SetSlide(0x200000)
	moved, err := Open(img)
	if err != nil {
		t.Fatal(err)
	}
	g, err := moved.Function(s.Addr+0x200000, s.Size)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := f.At(s.Addr), g.At(s.Addr+0x200000); a.Line != b.Line || a.Line.File != "src/process.c" {
		t.Error(a, b)
	}
}

func TestNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stripped")
	if out, err := exec.Command("strip", "-o", file, tiny("amd64")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	img, err := kernel.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	if _, err := Open(img); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
