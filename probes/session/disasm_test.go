package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trapline/probes/front"
)

func compiled(t *testing.T, r *rig, src ...front.Source) *rig {
	t.Helper()
	if err := r.Compile(src, front.Macros{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDisasm(t *testing.T) {
	r := compiled(t, newRig(t), script("kinst::vfs_read:0\n/pid == 1/\n{ @r[execname] = quantize(arg0, 2); printf(\"%d\", arg1 + 1); clear(@r); }"))
	var b strings.Builder
	if err := r.Disasm(&b); err != nil {
		t.Fatal(err)
	}
	const want = `clause 1: kinst::vfs_read:0 (line 1)
  predicate: int, stack of 2
     0  builtin pid                  i
     1  push 1                       ii
     2  eq                           i
  action 1: aggregate @r
    value 1: string, stack of 1
     0  builtin execname             s
    value 2: int64_t, stack of 1
     0  arg 0                        i
    increment: int, stack of 1
     0  push 2                       i
  action 2: printf "%d"
    value 1: int64_t, stack of 2
     0  arg 1                        i
     1  push 1                       ii
     2  add                          i
  action 3: clear @r
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

func TestDesugared(t *testing.T) {
	r := compiled(t, newRig(t), script("BEGIN { if (1) trace(1); else trace(2); }"))
	var b strings.Builder
	if err := r.Desugared(&b); err != nil || strings.Contains(b.String(), "if") || strings.Count(b.String(), "BEGIN") < 3 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestStability(t *testing.T) {
	r := compiled(t, newRig(t), script("BEGIN { trace(1); }"), spec("kinst::vfs_read:0 { trace(regs[R_RAX]); }"), spec("tick-1s { trace(curthread); }"))
	var b strings.Builder
	if err := r.Stability(&b); err != nil {
		t.Fatal(err)
	}
	const want = `
Stability attributes for script 'x.d':

	Minimum Probe Description Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common

	Minimum Statement Attributes
		Identifier Names: Stable
		Data Semantics:   Stable
		Dependency Class: Common


Stability attributes for description 'kinst::vfs_read:0 ':

	Minimum Probe Description Attributes
		Identifier Names: Private
		Data Semantics:   Private
		Dependency Class: ISA

	Minimum Statement Attributes
		Identifier Names: Private
		Data Semantics:   Private
		Dependency Class: ISA


Stability attributes for description 'tick-1s ':

	Minimum Probe Description Attributes
		Identifier Names: Unstable
		Data Semantics:   Unstable
		Dependency Class: Common

	Minimum Statement Attributes
		Identifier Names: Stable
		Data Semantics:   Private
		Dependency Class: Common

`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

func TestCpp(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "value.h"), "#define VALUE 7\n")
	r := newRig(t, "quiet", "cpp", "define=TEXT=\"hello\"", "undef=__SUNW_D", "incdir="+dir)
	err := r.trace(nil, script(`#!/usr/sbin/dtrace -Cs
		#include "value.h"
		#ifdef __SUNW_D
		nonsense
		#endif
		BEGIN { printf("%s %d", TEXT, VALUE); }`))
	if err != nil || r.out.String() != "hello 7\n" {
		t.Errorf("%q %v", r.out.String(), err)
	}
	r = newRig(t, "cpp")
	if err := r.trace(nil, script("BEGIN {}\n#include \"nosuch.h\"\n")); err == nil || !strings.HasPrefix(err.Error(), "failed to compile script x.d: the preprocessor failed: ") {
		t.Error(err)
	}
	r = newRig(t, "cpp", "define=X=1")
	if err := r.trace(nil, script("#define A \\\n 1\nBEGIN { trace(A); }\nBEGIN { x; }")); err == nil || !strings.HasPrefix(err.Error(), "failed to compile script x.d: line 4: ") {
		t.Error(err)
	}
}

func TestLibraries(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.d"), "#pragma D depends_on library b.d\ninline int A = B + 1;\n")
	write(t, filepath.Join(dir, "b.d"), "inline int B = 1;\n")
	r := newRig(t, "libdir="+dir)
	if err := r.trace(nil, script(`#pragma D option quiet
		BEGIN { printf("%d %d", A, B); }`)); err != nil || r.out.String() != "2 1\n" {
		t.Errorf("%q %v", r.out.String(), err)
	}
	if err := newRig(t, "libdir="+dir, "nolibs").trace(nil, script("BEGIN { trace(A); }")); err == nil {
		t.Error("nolibs: the library was read")
	}
	write(t, filepath.Join(dir, "b.d"), "#pragma D depends_on library a.d\n")
	if err := newRig(t, "libdir="+dir).trace(nil, script("BEGIN {}")); err == nil || !strings.HasSuffix(err.Error(), "in a circle") {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "b.d"), "#pragma D depends_on library c.d\n")
	if err := newRig(t, "libdir="+dir).trace(nil, script("BEGIN {}")); err == nil || !strings.HasSuffix(err.Error(), "c.d, which is not there") {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
