package initramfs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// initProgram is as much of a static amd64 program as these tests need.
func initProgram(t testing.TB) []byte {
	t.Helper()
	p, err := os.ReadFile("../init/init-amd64")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An entry is a file of an archive as a reader written from the format's
// description, and not the library that writes it, finds it.
type entry struct {
	name                        string
	ino, mode, uid, gid, mtime  uint64
	rmajor, rminor, namesize, n uint64
	data                        []byte
}

func parse(t *testing.T, archive []byte) []entry {
	t.Helper()
	var entries []entry
	for pos := 0; ; {
		h := archive[pos:]
		if string(h[:6]) != "070701" {
			t.Fatalf("offset %d: magic %q", pos, h[:6])
		}
		field := func(i int) uint64 {
			v, err := strconv.ParseUint(string(h[6+8*i:14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		e := entry{ino: field(0), mode: field(1), uid: field(2), gid: field(3), mtime: field(5),
			n: field(6), rmajor: field(9), rminor: field(10), namesize: field(11)}
		e.name = string(h[110 : 110+e.namesize-1])
		data := (pos + 110 + int(e.namesize) + 3) &^ 3
		e.data = archive[data : data+int(e.n)]
		pos = (data + int(e.n) + 3) &^ 3
		if e.name == "TRAILER!!!" {
			return entries
		}
		entries = append(entries, e)
	}
}

func TestBuild(t *testing.T) {
	program := initProgram(t)
	b := Builder{Init: program, Busybox: append(bytes.Clone(program), "busybox"...)}
	archive, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if len(archive)%4 != 0 {
		t.Errorf("%d bytes", len(archive))
	}
	files := map[string]entry{".": {mode: 0o40755}}
	for i, e := range parse(t, archive) {
		if _, twice := files[e.name]; twice {
			t.Errorf("%s is there twice", e.name)
		}
		if parent := files[path.Dir(e.name)]; parent.mode&0o170000 != 0o40000 {
			t.Errorf("%s comes before its directory", e.name)
		}
		if e.ino != uint64(i)+1 || e.mtime != 0 || e.uid != 0 || e.gid != 0 {
			t.Errorf("%s: inode %d, time %d, owner %d:%d", e.name, e.ino, e.mtime, e.uid, e.gid)
		}
		files[e.name] = e
	}
	for _, want := range []entry{
		{name: "init", mode: 0o100755, data: b.Init},
		{name: "bin/busybox", mode: 0o100755, data: b.Busybox},
		{name: "bin/sh", mode: 0o120777, data: []byte("/bin/busybox")},
		{name: "usr/bin/[[", mode: 0o120777, data: []byte("/bin/busybox")},
		{name: "dev/console", mode: 0o20600, rmajor: 5, rminor: 1},
		{name: "dev/null", mode: 0o20666, rmajor: 1, rminor: 3},
		{name: "proc", mode: 0o40755},
		{name: "tmp", mode: 0o40755},
	} {
		got := files[want.name]
		if got.mode != want.mode || !bytes.Equal(got.data, want.data) || got.rmajor != want.rmajor || got.rminor != want.rminor {
			t.Errorf("%s: mode %o, device %d:%d, %d bytes", want.name, got.mode, got.rmajor, got.rminor, len(got.data))
		}
	}
	if !strings.HasPrefix(string(files["etc/passwd"].data), "root:x:0:0:") {
		t.Errorf("passwd: %q", files["etc/passwd"].data)
	}
	if again, _ := b.Build(); !bytes.Equal(again, archive) {
		t.Error("two builds differ")
	}
}

func TestApplets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range applets() {
		if name := path.Base(p); seen[name] {
			t.Errorf("%s is listed twice", name)
		} else {
			seen[name] = true
		}
	}
	if len(seen) != 267 {
		t.Errorf("%d applets", len(seen))
	}
}

func TestBuildErrors(t *testing.T) {
	program := initProgram(t)
	arm := bytes.Clone(program)
	binary.LittleEndian.PutUint16(arm[18:], 183) // e_machine
	dynamic := bytes.Clone(program)
	binary.LittleEndian.PutUint32(dynamic[64:], 3) // first p_type: PT_INTERP
	for _, tt := range []struct {
		b    Builder
		want string
	}{
		{Builder{}, "init is not an ELF file"},
		{Builder{Init: program}, "busybox is not an ELF file"},
		{Builder{Init: program, Busybox: program[:40]}, "busybox is not an ELF file"},
		{Builder{Init: program, Busybox: dynamic}, "busybox is not a static program"},
		{Builder{Init: program, Busybox: arm}, "init is for EM_X86_64, busybox for EM_AARCH64"},
	} {
		if _, err := tt.b.Build(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

func ExampleBuilder_Build() {
	program, err := os.ReadFile("../init/init-amd64")
	if err != nil {
		fmt.Println(err)
		return
	}
	archive, err := Builder{Init: program, Busybox: program}.Build()
	fmt.Printf("%s %v\n", archive[:6], err)
	// Output: 070701 <nil>
}
