package session

import (
	"errors"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes/d/check/checktest"
	"trapline/probes/probetest"
)

// TestKinstArgs: at an instruction, arguments are the registers of a function's integer
// arguments. if/else counts as one clause.
func TestKinstArgs(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(func(g *probetest.Target) {
		c := &g.CPU
		for i, reg := range []arch.Reg{arch.RDI, arch.RSI, arch.RDX, arch.RCX, arch.R8, arch.R9} {
			c.SetReg(reg, uint64(i+1))
		}
		g.Run(vfsRead)
	}, spec(`kinst::vfs_read:0 { if (arg0 == 1) printf("%d%d%d%d%d%d %d", arg0, arg1, arg2, arg3, arg4, arg5, arg6); else printf("no"); }`))
	if err != nil || r.out.String() != "123456 0\n" {
		t.Errorf("%v: %q", err, r.out.String())
	}
	if r.matched.counts[0] != 1 {
		t.Errorf("%d probes matched, want 1", r.matched.counts[0])
	}
}

// damaged is an image whose types cannot be read.
type damaged struct{ *checktest.Types }

func (damaged) Err() error { return errors.New("BTF: cut off") }

// TestTypesTrouble: what is wrong with the image's types is reported, and what the program
// needs of them is there or an error.
func TestTypesTrouble(t *testing.T) {
	r := newRig(t, "quiet")
	r.Types = damaged{checktest.New()}
	if err := r.trace(nil, spec(`BEGIN { trace(sizeof (struct inode)) }`)); err != nil {
		t.Error(err)
	}
	if r.out.String() != "16\n" || r.errOut.String() != "dtrace: types of the kernel: BTF: cut off\n" {
		t.Errorf("%q, %q", r.out.String(), r.errOut.String())
	}
}

// TestTypedefOfAnotherSource: a type that one source defines is known to those after it.
func TestTypedefOfAnotherSource(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(nil, script("typedef uint16_t half_t; struct s { half_t h; };"), spec("BEGIN { trace((half_t)-1); trace(sizeof (struct s)); }"))
	if err != nil || r.out.String() != "655352\n" {
		t.Errorf("%v: %q", err, r.out.String())
	}
}

// TestFaultInIf: after a fault in one block the others of the clause do not run; other
// clauses and later firings do.
func TestFaultInIf(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(readTwice, script(`
		kinst::vfs_read:0 { if (n++ == 0) { trace(*(int *)16); } else { printf("else "); } printf("after "); }
		kinst::vfs_read:0 { printf("next "); }`))
	if err != nil || r.out.String() != "next else after next \n" {
		t.Errorf("%v: %q", err, r.out.String())
	}
	if want := "invalid address (0x10) in action #1 at DIF offset 1\n"; !strings.HasSuffix(r.errOut.String(), want) {
		t.Errorf("%q", r.errOut.String())
	}
}
