//go:build linuximage

package guestos

import (
	"bufio"
	"debug/dwarf"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"trapline/kernel"
)

func linuxGuest(t *testing.T) *linux {
	t.Helper()
	path := os.Getenv("TRAPLINE_VMLINUX")
	if path == "" {
		t.Fatal("TRAPLINE_VMLINUX does not name a vmlinux")
	}
	return detect(t, openImage(t, path)).(*linux)
}

// The types of a whole kernel cost little time and memory.
func TestLinuxTypesCost(t *testing.T) {
	l := linuxGuest(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	types := readTypes(l.img, "")
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if types.err != nil {
		t.Fatal(types.err)
	}
	allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
	t.Logf("types: %v, %d MB allocated: %+v, old ORC %v", took, allocated, *types.layout, types.orcEnd)
	if allocated > 60 {
		t.Errorf("%d MB allocated", allocated)
	}
	start = time.Now()
	table := l.orc()
	t.Logf("ORC table: %v, %d entries", time.Since(start), len(table.ips)/4)
	start = time.Now()
	u := l.unsafe()
	t.Logf("unsafe code: %v, %d areas, %d functions", time.Since(start), len(u.areas), len(u.blacklist))
}

// The offsets from BTF are those of the debug information, which the compiler wrote.
func TestLinuxLayoutAgainstDWARF(t *testing.T) {
	l := linuxGuest(t)
	lay := l.types().layout
	if lay == nil {
		t.Fatal(l.types().err)
	}
	want := map[string]map[string]uint64{
		"task_struct": {"pid": lay.pid, "tgid": lay.tgid, "comm": lay.comm, "cred": lay.cred,
			"real_parent": lay.parent, "start_time": lay.startTime},
		"cred": {"uid": lay.uid, "gid": lay.gid},
	}
	d := debugInfo(t, l.img)
	for r := d.Reader(); len(want) > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			t.Fatalf("debug information: %v; still looking for %v", err, want)
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if members := want[name]; e.Tag == dwarf.TagStructType && members != nil && e.Children {
			compareMembers(t, d, e, members)
			delete(want, name)
		}
	}
}

func compareMembers(t *testing.T, d *dwarf.Data, e *dwarf.Entry, want map[string]uint64) {
	typ, err := d.Type(e.Offset)
	if err != nil {
		t.Fatal(err)
	}
	s := typ.(*dwarf.StructType)
	found := 0
	for _, f := range s.Field {
		if off, ok := want[f.Name]; ok {
			found++
			if uint64(f.ByteOffset) != off {
				t.Errorf("%s.%s at %d, DWARF says %d", s.StructName, f.Name, off, f.ByteOffset)
			}
		}
	}
	if found != len(want) {
		t.Errorf("DWARF has %d of %d members of %s", found, len(want), s.StructName)
	}
}

// debugInfo reads the sections where they are mapped: copies would take 300 MB.
func debugInfo(t *testing.T, img *kernel.Image) *dwarf.Data {
	sec := func(name string) []byte {
		b, _, _ := img.Section(name)
		return b
	}
	d, err := dwarf.New(sec(".debug_abbrev"), nil, nil, sec(".debug_info"), sec(".debug_line"),
		nil, nil, sec(".debug_str"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".debug_line_str", ".debug_rnglists", ".debug_loclists"} {
		if err := d.AddSection(name, sec(name)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// ORC says what the compiler's own unwind information (.debug_frame) says about the stack
// pointer and frame pointer, at every address where that has a row.
func TestLinuxORCAgainstDebugFrame(t *testing.T) {
	l := linuxGuest(t)
	table := l.orc()
	cmd := exec.Command("readelf", "--debug-dump=frames-interp", "--wide", l.img.Name())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows, differ := 0, 0
	var columns []string
	for in := bufio.NewScanner(out); in.Scan(); {
		f := strings.Fields(in.Text())
		if len(f) > 2 && f[0] == "LOC" {
			columns = f
			continue
		}
		link, err := strconv.ParseUint(first(f), 16, 64)
		if err != nil || len(f) != len(columns) || !l.inText(link) {
			continue
		}
		e, ok := table.find(link)
		if want, known := cfiEntry(columns, f); known {
			rows++
			if got := (orcEntry{e.kind, e.spReg, e.bpReg, e.spOffset, e.bpOffset}); !ok || got != want {
				if differ++; differ <= 10 {
					t.Logf("%#x: ORC %+v, .debug_frame %+v", link, got, want)
				}
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows compared, %d differ", rows, differ)
	if rows < 200000 || differ > rows/500 {
		t.Errorf("%d of %d rows differ", differ, rows)
	}
}

func first(f []string) string {
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// cfiEntry is a row of readelf's table as ORC would have it: "rsp+16", and where %rbp
// is: "u" (untouched) or "c-16" (saved below the caller's stack pointer).
func cfiEntry(columns, row []string) (orcEntry, bool) {
	e := orcEntry{kind: orcCall}
	for i, col := range columns {
		v := row[i]
		switch {
		case col == "CFA" && strings.HasPrefix(v, "rsp+"):
			e.spReg = orcSP
			fmt.Sscanf(v, "rsp+%d", &e.spOffset)
		case col == "CFA" && strings.HasPrefix(v, "rbp+"):
			e.spReg = orcBP
			fmt.Sscanf(v, "rbp+%d", &e.spOffset)
		case col == "CFA":
			return e, false // an expression
		case col == "rbp" && strings.HasPrefix(v, "c-"):
			e.bpReg = orcPrevSP
			fmt.Sscanf(v, "c%d", &e.bpOffset)
		case col == "rbp" && v != "u":
			return e, false
		}
	}
	return e, e.spReg != orcNone
}

// What Linux itself says must not be probed, by name.
func TestLinuxImageUnsafe(t *testing.T) {
	l := linuxGuest(t)
	for name, want := range map[string]string{
		"vfs_read": "", "do_syscall_64": ".noinstr.text", "entry_SYSCALL_64": ".entry.text",
		"asm_exc_page_fault": ".entry.text", "exc_int3": ".noinstr.text", "do_int3": "blacklist",
		"vfs_write": "", "kprobe_int3_handler": "blacklist", "__schedule": "",
	} {
		got := l.Unsafe(symbol(t, l.img, name))
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
