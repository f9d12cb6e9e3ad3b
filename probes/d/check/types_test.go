package check

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"trapline/kernel/ctypes"
	"trapline/probes/d/check/checktest"
	"trapline/probes/d/syntax"
	"trapline/probes/d/syntax/chunktest"
)

func typedEnv() Env {
	types := checktest.New()
	env := testEnv
	env.Types, env.Symbol, env.Args = types, checktest.Symbol, types.Args
	args := env.Args
	env.Args = func(desc string) []*ctypes.Type {
		if desc == "fbt::vfs_write:entry" {
			return []*ctypes.Type{ctypes.IntType}
		}
		return args(desc)
	}
	return env
}

func TestTypeErrors(t *testing.T) {
	for _, file := range []string{"testdata/types.d", "testdata/order.d"} {
		testTypeErrors(t, file)
	}
}

func testTypeErrors(t *testing.T, file string) {
	chunktest.Run(t, file, func(src []byte) error {
		err := checkSource(string(src), typedEnv())
		var e *syntax.Error
		if errors.As(err, &e) {
			return fmt.Errorf("line %d: %s %s", e.Pos.Line, e.Tag, e.Msg)
		}
		return err
	})
}

// TestInlineBomb: inlines that use one another twice double with each, and are refused
// before they fill the memory.
func TestInlineBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("inline int x0 = pid;\n")
	for i := range 60 {
		fmt.Fprintf(&b, "inline int x%d = x%d + x%d;\n", i+1, i, i)
	}
	b.WriteString("BEGIN { trace(x60); }")
	err := checkSource(b.String(), Env{})
	if err == nil || !strings.Contains(err.Error(), "too complex") {
		t.Error(err)
	}
}

// TestLongString: a string has a largest size.
func TestLongString(t *testing.T) {
	for n, want := range map[int]string{1<<20 - 1: "<nil>", 1 << 20: "line 1: string literal of 1048576 bytes is too long"} {
		err := checkSource("BEGIN { trace(\""+strings.Repeat("a", n)+"\"); }", Env{})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
}

// TestDeepPrograms: whatever is nested within the parser's limits is checked.
func TestDeepPrograms(t *testing.T) {
	for _, src := range []string{
		"BEGIN { x = " + strings.Repeat("(", 4000) + "1" + strings.Repeat(")", 4000) + "; }",
		"BEGIN { x = " + strings.Repeat("stringof(", 3000) + "execname" + strings.Repeat(")", 3000) + "; }",
		"BEGIN { x = 1" + strings.Repeat("+1", 4000) + "; }",
		"int " + strings.Repeat("*", 4000) + "p; BEGIN { trace(" + strings.Repeat("*", 3999) + "p); }",
		strings.Repeat("struct { ", 3000) + "int x; " + strings.Repeat("} x;", 3000),
	} {
		if err := checkSource(src, Env{}); err != nil {
			t.Errorf("%.40s: %v", src, err)
		}
	}
	for _, src := range []string{
		"BEGIN { x = " + strings.Repeat("(", 40000) + "1; }",
		"BEGIN { " + strings.Repeat("if (1) ", 40000) + "x = 1; }",
		strings.Repeat("struct { ", 40000),
		"int " + strings.Repeat("(", 40000) + "x;",
		"int x" + strings.Repeat("[1]", 40000) + ";",
		"int (*x)" + strings.Repeat("(int (*)", 40000) + ";",
	} {
		if err := checkSource(src, Env{}); err == nil {
			t.Errorf("%.40s: no error", src)
		}
	}
}
