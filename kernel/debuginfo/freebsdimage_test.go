//go:build freebsdimage

package debuginfo

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/ctypes"
)

// freebsdFile opens a file of the kernels in $FREEBSD or ../shared/freebsd.
func freebsdFile(t *testing.T, name string) *kernel.Image {
	t.Helper()
	dir := cmp.Or(os.Getenv("FREEBSD"), "../../../shared/freebsd")
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		if data, err = exec.Command("xz", "-dc", filepath.Join(dir, name+".xz")).Output(); err != nil {
			t.Fatalf("reading %s: %v", name, err)
		}
	}
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestFreeBSDCTFIsDWARF: the CTF of a kernel and the DWARF of its debug file say the same of every
// structure, union and enumeration whose name means one thing, and of functions and variables.
func TestFreeBSDCTFIsDWARF(t *testing.T) {
	for _, a := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(a, func(t *testing.T) { compareCTF(t, freebsdFile(t, a+"/kernel"), freebsdFile(t, a+"/kernel.debug")) })
	}
}

func compareCTF(t *testing.T, img, debug *kernel.Image) {
	from, fromDWARF := New(img, "", ""), New(debug, t.TempDir(), "")
	from.open()
	c, ok := from.compact.(*ctf)
	if !ok {
		t.Fatal("no CTF: ", from.Err())
	}
	n := 0
	for tag := range onlyOnce(c, ctfStruct) {
		x, _ := from.Tagged(ctypes.Struct, tag)
		if len(tag) > 7 { // a sample
			continue
		}
		if y, ok := fromDWARF.Tagged(ctypes.Struct, tag); ok {
			n++
			sameStructure(t, tag, x.Base(), y.Base())
		}
	}
	if n < 100 {
		t.Errorf("only %d structures compared", n)
	}
	for name, of := range map[string]func(*Types, string) (*ctypes.Type, bool){
		"functions": (*Types).Function, "variables": (*Types).Variable,
	} {
		n, other := 0, 0
		list := c.symbols().functions
		if name == "variables" {
			list = c.symbols().objects
		}
		for symbol := range list {
			x, ok1 := of(from, symbol)
			if len(symbol) > 8 || !ok1 { // a sample
				continue
			}
			if y, ok2 := of(fromDWARF, symbol); ok2 {
				n++
				// It does not have the ellipsis, and of several functions of a name the first.
				if x.String() != strings.Replace(y.String(), ", ...", "", 1) {
					if other++; other < 10 {
						t.Logf("%s: CTF %s, DWARF %s", symbol, x, y)
					}
				}
			}
		}
		t.Logf("%d %s, %d of them differ", n, name, other)
		if n < 50 || other > n/100 {
			t.Errorf("%d %s compared, %d of them differ", n, name, other)
		}
	}
	if err := from.Err(); err != nil {
		t.Error(err)
	}
}

// sameStructure compares members. Of a bit-field CTF does not have the typedef.
func sameStructure(t *testing.T, tag string, a, b *ctypes.Type) {
	t.Helper()
	if a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		t.Errorf("struct %s: CTF %d bytes, %d members, DWARF %d, %d", tag, a.Size, len(a.Fields), b.Size, len(b.Fields))
		return
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		same := f.Type.String() == g.Type.String() && f.Bits == g.Bits
		if !same && f.Type.Base().Kind == g.Type.Base().Kind && f.Type.IsScalar() && f.Type.Base().Kind != ctypes.Pointer {
			same = f.Type.Bytes() == g.Type.Bytes() && f.Type.IsSigned() == g.Type.IsSigned() && (f.Bits == g.Bits || f.Bits == 0 && g.Bits == 64)
		}
		if f.Name != g.Name || f.Offset != g.Offset || f.BitOffset != g.BitOffset || !same {
			t.Errorf("struct %s: CTF %s %s %d.%d:%d, DWARF %s %s %d.%d:%d", tag, f.Type, f.Name, f.Offset, f.BitOffset, f.Bits,
				g.Type, g.Name, g.Offset, g.BitOffset, g.Bits)
		}
	}
}

// onlyOnce are the names of a kind of type that one type has.
func onlyOnce(c *ctf, kind uint32) map[string]bool {
	all := map[string]int{}
	for _, off := range c.offs[1:] {
		if k, _ := c.info(off); k == kind {
			all[c.name(c.word(off, 0))]++
		}
	}
	once := map[string]bool{}
	for name, n := range all {
		if n == 1 && name != "" {
			once[name] = true
		}
	}
	return once
}
