package probes

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseDesc(t *testing.T) {
	tests := []struct {
		in   string
		last Part
		want string // parts, or the error's end
	}{
		{"BEGIN", NamePart, ":::BEGIN"},
		{"f:n", NamePart, "::f:n"},
		{"m:f:n", NamePart, ":m:f:n"},
		{"kinst:vmlinux:vfs_read:3", NamePart, "kinst:vmlinux:vfs_read:3"},
		{"kinst::vfs_*:", NamePart, "kinst::vfs_*:"},
		{"", NamePart, ":::"},
		{":::", NamePart, ":::"},
		{" kinst : : f : ", NamePart, "kinst::f:"},
		{"vfs_read", FunctionPart, "::vfs_read:"},
		{"kinst::vfs_read", FunctionPart, "kinst::vfs_read:"},
		{"vmlinux", ModulePart, ":vmlinux::"},
		{"kinst", ProviderPart, "kinst:::"},
		{"kinst::core::fmt::write:3", NamePart, "kinst::core::fmt::write:3"},
		{"kinst::core::fmt::write:", NamePart, "kinst::core::fmt::write:"},
		{"kinst::core::fmt::*", NamePart, "kinst::core::fmt::*:"},
		{"fbt:vmlinux:a::b:entry", NamePart, "fbt:vmlinux:a::b:entry"},
		{"fbt::a::b", NamePart, "fbt::a::b:"},
		{"a:b:c:d:e", NamePart, "has 5 parts: at most 4 end in a name"},
		{"a:b", ProviderPart, "has 2 parts: at most 1 end in a provider"},
		{"a b:c", NamePart, `"a b" holds a blank or control character`},
		{"f:\x00", NamePart, `"\x00" holds a blank or control character`},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			d, err := ParseDescTo(tt.in, tt.last)
			if err != nil {
				if !strings.HasSuffix(err.Error(), tt.want) {
					t.Errorf("error %q, want an end of %q", err, tt.want)
				}
			} else if d.String() != tt.want {
				t.Errorf("got %q, want %q", d, tt.want)
			}
		})
	}
}

func TestDescMatch(t *testing.T) {
	p := Desc{"kinst", "vmlinux", "vfs_read", "3"}
	for in, want := range map[string]bool{
		":::": true, "kinst:::": true, "fbt:::": false, "vfs_*:": true, "vfs_*:3": true, "4": false, "::vfs_rea:": false, "k*:v*:*read:?": true,
	} {
		d, err := ParseDesc(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Match(p); got != want {
			t.Errorf("%q matches %q: %v", in, p, got)
		}
	}
}

func FuzzParseDesc(f *testing.F) {
	for _, s := range []string{"", "a:b:c:d", ":::BEGIN", "f:n", "a:b:c:d:e", "[x:*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDesc(s)
		if err != nil {
			return
		}
		again, err := ParseDesc(d.String())
		if err != nil || again != d {
			t.Errorf("%q is %q, read again %q, %v", s, d, again, err)
		}
	})
}

func ExampleParseDesc() {
	d, _ := ParseDesc("vfs_*:0")
	fmt.Println(d)
	fmt.Println(d.Match(Desc{"kinst", "vmlinux", "vfs_read", "0"}))
	// Output:
	// ::vfs_*:0
	// true
}
