package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trapline/probes/front"
)

// TestOptionEffects: what each option changes. The guest reads twice; $0 is x.d, $1 is 7.
// DIR stands for a directory with the library lib.d and the file value.h.
func TestOptionEffects(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "lib.d"), "inline int LIB = 3;\n")
	write(t, filepath.Join(dir, "value.h"), "#define VALUE 5\n")
	write(t, filepath.Join(dir, "cpp"), "#!/bin/sh\nsed s/HERE/6/\n")
	if err := os.Chmod(filepath.Join(dir, "cpp"), 0o777); err != nil {
		t.Fatal(err)
	}
	const unused = "failed to compile script x.d: extraneous argument '7' ($1 is not referenced)"
	for _, tt := range []struct{ opts, prog, want string }{
		{"", "BEGIN { trace($1); }", "7\n"},
		{"", "BEGIN {}", unused},
		{"argref", "BEGIN {}", "\n"},
		{"defaultargs", "BEGIN { trace($1 + $2); trace($$3); }", "7\n"},
		{"defaultargs", "BEGIN { trace($2); }", unused},
		{"empty argref", "", "\n"},
		{"argref", "", "failed to compile script x.d: empty D program translation unit"},
		{"errtags", "BEGIN {}", "failed to compile script x.d: [D_MACRO_UNUSED] extraneous argument '7' ($1 is not referenced)"},
		{"argref zdefs", "nosuch {}", "\n"},
		{"argref", "nosuch {}", "failed to compile script x.d: line 1: probe description :::nosuch does not match any probes"},
		{"argref libdir=DIR", "BEGIN { trace(LIB); }", "3\n"},
		{"argref syslibdir=DIR", "BEGIN { trace(LIB); }", "3\n"},
		{"argref libdir=DIR nolibs", "BEGIN { trace(LIB); }", "failed to compile script x.d: line 1: failed to resolve LIB: Unknown variable name"},
		{"argref cpp incdir=DIR", "#include \"value.h\"\nBEGIN { trace(VALUE); }", "5\n"},
		{"argref cpp cpphdrs incdir=DIR", "#include \"value.h\"\nBEGIN { trace(VALUE); }", "5\n|. DIR/value.h"},
		{"argref cpp cpppath=DIR/cpp", "BEGIN { trace(HERE); }", "6\n"},
		{"argref cpp define=X=4", "BEGIN { trace(X); }", "4\n"},
		{"argref cpp undef=__SUNW_D", "#ifndef __SUNW_D\nBEGIN { trace(1); }\n#endif", "1\n"},
		{"argref cpp stdc=a", "BEGIN { trace(__STDC__); }", "1\n"},
		{"argref cpp stdc=c", "BEGIN { trace(__STDC__); }", "1\n"},
		{"argref cpp stdc=t", "BEGIN { trace(__STDC__); }", "1\n"},
		{"argref cpp stdc=s", "#ifndef __STDC__\nBEGIN { trace(2); }\n#endif", "2\n"},
		{"argref version=1.0", "BEGIN {}", "\n"},
		{"argref bufsize=24 bufpolicy=fill", "kinst::vfs_read:0 { trace(timestamp); }", "0\n"},
		{"argref bufsize=8k", "kinst::vfs_read:0 { trace(timestamp); }", "00\n"},
		{"argref aggrate=1ms cleanrate=10hz statusrate=1s bufresize=manual temporal engine=trap tramp=probe", "kinst::vfs_read:0 { @ = count(); }", "\n                2\n"},
		{"argref kinstpolicy=all patch=split crosscheck", "kinst::vfs_read:0 { trace(1); }", "11\n"},
		{"argref crosscheck=off", "kinst::vfs_read:0 { trace(1); }", "11\n"},
		{"argref verbose", "kinst::vfs_write:, kinst::vfs_read:0 {}", "\n|dtrace: kinst: skipped vfs_write+1: "},
	} {
		r := newRig(t, strings.Fields("quiet "+strings.ReplaceAll(tt.opts, "DIR", dir))...)
		err := r.traceArgs(tt.prog, "x.d", "7")
		got := r.out.String()
		if err != nil {
			got = err.Error()
		}
		want, message, _ := strings.Cut(strings.ReplaceAll(tt.want, "DIR", dir), "|")
		if got != want || !strings.HasPrefix(r.errOut.String(), message) || message == "" && r.errOut.Len() > 0 {
			t.Errorf("%s: %s: got %q, %q", tt.opts, tt.prog, got, r.errOut.String())
		}
	}
}

// traceArgs traces a script with macro arguments.
func (r *rig) traceArgs(prog string, args ...string) error {
	if err := r.Compile([]front.Source{script(prog)}, front.Macros{Args: args}); err != nil {
		return err
	}
	if err := r.Start(); err != nil {
		return err
	}
	readTwice(r.target)
	return r.Finish()
}
