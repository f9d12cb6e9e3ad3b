package guestos

import (
	"reflect"
	"slices"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// lacks are the fields of a System that one may have left empty: it has none of what they are about.
var lacks = map[*System][]string{
	Tiny:    {"Start", "Debug", "Formats", "Modules", "Tracepoints", "Libraries"},
	FreeBSD: {"Formats"},
}

// TestSystemsComplete: a row says everything, or it is known that there is nothing to say.
func TestSystemsComplete(t *testing.T) {
	for _, s := range Systems {
		v := reflect.ValueOf(*s)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if lacking := slices.Contains(lacks[s], name); v.Field(i).IsZero() != lacking {
				t.Errorf("%s: field %s: empty %t, want %t", s.Name, name, !lacking, lacking)
			}
		}
	}
}

// TestRow: a system is found by what its row says once it has one.
func TestRow(t *testing.T) {
	stub := &System{
		Name: "stub", Formats: []string{"stubfile"}, Modules: []string{".mod"}, Libraries: []Library{{Name: "stub.d"}},
		Is: func(tab *kernel.Symtab) bool { return tab.Lookup("tiny_banner") != nil },
	}
	img := openImage(t, tinyImage)
	if Of(img.Symtab()) != Tiny || Named("stub") != nil || InFormat("stubfile") != nil {
		t.Fatal("the stub is known without a row")
	}
	before := Systems
	defer func() { Systems = before }()
	Systems = append([]*System{stub}, Systems...)
	if Of(img.Symtab()) != stub || Named("stub") != stub || InFormat("stubfile") != stub || InFormat("bzImage") != Linux {
		t.Error("the stub is not found by its row")
	}
	if name, ok := ModuleFile("net.mod"); name != "net" || !ok {
		t.Errorf("net.mod is module %s, %t", name, ok)
	}
	if !slices.Contains(LibraryNames(), "stub.d") {
		t.Error("its library is not known")
	}
}

func TestModuleFile(t *testing.T) {
	for file, want := range map[string]string{"ext4.ko": "ext4", "snd-dummy.ko.xz": "snd-dummy", "a.ko.zst": "a"} {
		if name, ok := ModuleFile(file); name != want || !ok {
			t.Errorf("%s is module %s, %t", file, name, ok)
		}
	}
	for _, file := range []string{"vmlinux", "a.ko.bz2", "ko", ""} {
		if _, ok := ModuleFile(file); ok {
			t.Errorf("%s is a module", file)
		}
	}
}

func TestModuleName(t *testing.T) {
	m := ModuleName{"vmlinux", "kernel"}
	for _, test := range []struct {
		pattern, module string
		want            bool
	}{
		{"", "vmlinux", true}, {"vmlinux", "vmlinux", true}, {"kernel", "vmlinux", true}, {"k*", "vmlinux", true},
		{"kernel", "ext4", false}, {"ext*", "ext4", true}, {"vmlinux", "ext4", false}, {"ext4", "vmlinux", false},
	} {
		if got := m.Means(test.pattern, test.module); got != test.want {
			t.Errorf("%q means %q: %t", test.pattern, test.module, got)
		}
	}
}

// TestCallArgs: where the registers with the arguments of a system call are saved: the offsets of
// struct pt_regs, as compilers lay it out.
func TestCallArgs(t *testing.T) {
	for a, want := range map[*arch.Arch][]uint64{
		arch.AMD64:   {112, 104, 96, 56, 72, 64},
		arch.ARM64:   {0, 8, 16, 24, 32, 40},
		arch.RISCV64: {80, 88, 96, 104, 112, 120},
	} {
		for i, off := range want {
			if got, ok := savedArgs.Offset(a, i); !ok || got != off {
				t.Errorf("%s: argument %d is at %d, %t, want %d", a, i, got, ok, off)
			}
		}
		if _, ok := savedArgs.Offset(a, len(want)); ok {
			t.Errorf("%s: there is an argument %d", a, len(want))
		}
	}
}
