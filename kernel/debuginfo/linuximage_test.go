//go:build linuximage

package debuginfo

import (
	"os"
	"testing"
	"time"

	"trapline/kernel"
	"trapline/kernel/ctypes"
)

func openLinux(t *testing.T) *kernel.Image {
	t.Helper()
	path := os.Getenv("TRAPLINE_VMLINUX")
	if path == "" {
		t.Fatal("TRAPLINE_VMLINUX does not name a vmlinux")
	}
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

// TestLinuxBTFIsDWARF: both sources say the same of a sample of types: the largest, the
// most common, and those with bit-fields and unions.
func TestLinuxBTFIsDWARF(t *testing.T) {
	img := openLinux(t)
	fromBTF, fromDWARF := New(img, "", ""), New(img, "", "")
	fromBTF.open()
	fromDWARF.opened, fromDWARF.dwarf = true, newDWARF(img, fromDWARF)
	if fromBTF.compact == nil {
		t.Fatal("no BTF", fromBTF.Err())
	}
	for _, tag := range []string{
		"task_struct", "file", "inode", "cred", "mm_struct", "sk_buff", "page", "list_head", "sched_entity", "desc_struct",
		"super_block", "tcp_sock", "iphdr", "bpf_insn", "thread_struct",
	} {
		a, ok1 := fromBTF.Tagged(ctypes.Struct, tag)
		b, ok2 := fromDWARF.Tagged(ctypes.Struct, tag)
		if !ok1 || !ok2 {
			t.Errorf("struct %s: BTF %v, DWARF %v", tag, ok1, ok2)
			continue
		}
		sameLayout(t, tag, a, b, 0)
	}
	for _, name := range []string{"vfs_read", "do_sys_openat2", "kernel_clone", "schedule"} {
		a, _ := fromBTF.Function(name)
		b, _ := fromDWARF.Function(name)
		if a == nil || b == nil || a.String() != b.String() {
			t.Errorf("%s: BTF %v, DWARF %v", name, a, b)
		}
	}
	for _, name := range []string{"pid_t", "gfp_t", "atomic_t", "loff_t"} {
		a, _ := fromBTF.Typedef(name)
		b, _ := fromDWARF.Typedef(name)
		if a == nil || b == nil || !ctypes.Same(a, b) && a.Base().Name != "" {
			t.Errorf("%s: BTF %v, DWARF %v", name, a, b)
		}
	}
}

// sameLayout compares structures, and those inside them.
func sameLayout(t *testing.T, path string, a, b *ctypes.Type, depth int) {
	t.Helper()
	a, b = a.Base(), b.Base()
	if a.Kind != b.Kind || a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		t.Errorf("%s: BTF %s, %d bytes, %d fields; DWARF %s, %d, %d", path, a, a.Size, len(a.Fields), b, b.Size, len(b.Fields))
		return
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		in := path + "." + f.Name
		if f.Name != g.Name || f.Offset != g.Offset || f.BitOffset != g.BitOffset || f.Bits != g.Bits || f.Type.String() != g.Type.String() {
			t.Errorf("%s: BTF %s %s %d.%d:%d, DWARF %s %s %d.%d:%d", in, f.Type, f.Name, f.Offset, f.BitOffset, f.Bits,
				g.Type, g.Name, g.Offset, g.BitOffset, g.Bits)
			continue
		}
		if f.Type.IsStruct() && depth < 4 {
			sameLayout(t, in, f.Type, g.Type, depth+1)
		}
	}
}

// TestLinuxVariables: the index is made once and then costs nothing.
func TestLinuxVariables(t *testing.T) {
	img, cache := openLinux(t), t.TempDir()
	New(img, cache, "").Variable("jiffies")
	start := time.Now()
	types := New(img, cache, "task_struct")
	for name, want := range map[string]string{
		"jiffies": "unsigned long", "init_task": "struct task_struct", "system_wq": "struct workqueue_struct *",
		"console_printk": "int [4]", "init_uts_ns": "struct uts_namespace", "nr_cpu_ids": "unsigned int",
	} {
		if typ, ok := types.Variable(name); !ok || typ.String() != want {
			t.Errorf("%s: %v, want %s", name, typ, want)
		}
	}
	if f, ok := types.Thread().Member("comm"); !ok || f.Type.String() != "char [16]" {
		t.Errorf("task_struct.comm: %v, %v", f, ok)
	}
	if d := time.Since(start); d > 100*time.Millisecond {
		t.Errorf("with the index cached it took %v", d)
	}
	if types.Err() != nil {
		t.Error(types.Err())
	}
}
