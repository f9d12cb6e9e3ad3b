package syntax

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"trapline/probes/d/syntax/chunktest"
)

func TestErrors(t *testing.T) {
	chunktest.Run(t, "testdata/errors.d", func(src []byte) error {
		if _, err := Parse("errors.d", src, Options{}); err != nil {
			e := err.(*Error)
			return fmt.Errorf("line %d: %s %w", e.Pos.Line, e.Tag, err)
		}
		return nil
	})
}

// parenthesized writes an expression with all its parentheses.
func parenthesized(x Expr) string {
	list := func(xs []Expr) string {
		s := make([]string, len(xs))
		for i, x := range xs {
			s[i] = parenthesized(x)
		}
		return strings.Join(s, " ")
	}
	switch x := x.(type) {
	case *Binary:
		return fmt.Sprintf("(%s %s %s)", x.Op, parenthesized(x.X), parenthesized(x.Y))
	case *Unary:
		return fmt.Sprintf("(%s %s)", x.Op, parenthesized(x.X))
	case *Postfix:
		return fmt.Sprintf("(post%s %s)", x.Op, parenthesized(x.X))
	case *Cond:
		return fmt.Sprintf("(? %s)", list([]Expr{x.C, x.X, x.Y}))
	case *Cast:
		return fmt.Sprintf("(cast <%s> %s)", x.To, parenthesized(x.X))
	case *Index:
		return fmt.Sprintf("(index %s %s)", parenthesized(x.X), list(x.Args))
	case *Member:
		return fmt.Sprintf("(%v %s %s)", x.Arrow, parenthesized(x.X), x.Name)
	case *Call:
		return fmt.Sprintf("(call %s)", list(append([]Expr{x.Fun}, x.Args...)))
	}
	return ExprString(x)
}

func parseExpr(t *testing.T, src string) Expr {
	t.Helper()
	prog, err := Parse("", []byte("BEGIN { "+src+"; }"), Options{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return prog.Items[0].(*Clause).Body[0].(*ExprStmt).X
}

func TestExpr(t *testing.T) {
	for src, want := range map[string]string{
		"a + b * c":                   "(+ a (* b c))",
		"a - b - c":                   "(- (- a b) c)",
		"a = b = c":                   "(= a (= b c))",
		"a += b, c":                   "(, (+= a b) c)",
		"a ? b : c ? d : e":           "(? a b (? c d e))",
		"a || b ^^ c && d":            "(|| a (^^ b (&& c d)))",
		"a | b ^ c & d == e":          "(| a (^ b (& c (== d e))))",
		"a < b << c + d":              "(< a (<< b (+ c d)))",
		"-a++":                        "(- (post++ a))",
		"- -a":                        "(- (- a))",
		"!~*&a":                       "(! (~ (* (& a))))",
		"(a + b)[c]":                  "(index (+ a b) c)",
		"a[b, c].d->if":               "(true (false (index a b c) d) if)",
		"*(int *)arg0":                "(* (cast <int *> arg0))",
		"((char *)arg0)[3]":           "(index (cast <char *> arg0) 3)",
		"(uint64_t)-1":                "(cast <uint64_t> (- 1))",
		"(x)-1":                       "(- x 1)",
		"(foo)x":                      "(cast <foo> x)",
		"(foo *)-x":                   "(cast <foo *> (- x))",
		"(struct a **)x":              "(cast <struct a **> x)",
		"(string)arg0":                "(cast <string> arg0)",
		"sizeof (int)":                "sizeof (int)",
		"sizeof x + 1":                "(+ (sizeof x) 1)",
		"sizeof (x)":                  "(sizeof x)",
		"stringof(arg0) == \"a\"":     `(== (stringof arg0) "a")`,
		"offsetof(struct a, b)":       "offsetof(struct a, b)",
		"@":                           "@",
		"@[a, b] = quantize(c)":       "(= @[a, b] (call quantize c))",
		"@x.y":                        "(false @x y)",
		"self->x = this->y":           "(= self->x this->y)",
		"`a + m`b":                    "(+ `a m`b)",
		"f() + g(1, 2)":               "(+ (call f) (call g 1 2))",
		"$1 + $$2 + $pid":             "(+ (+ $1 $$2) $pid)",
		"a + b = c":                   "(= (+ a b) c)",
		"0x1F + 017 + 5UL + '\\n'":    "(+ (+ (+ 0x1F 017) 5UL) '\\n')",
		"a /* x */ + // y\n b":        "(+ a b)",
		"(unsigned long long)a":       "(cast <unsigned long long> a)",
		"(int (*)[3])a":               "(cast <int (*)[3]> a)",
		"a == 1 ? b = 2 : (c = 3)":    "(? (== a 1) (= b 2) (= c 3))",
		"a & 1 << 2 || !b && c != -1": "(|| (& a (<< 1 2)) (&& (! b) (!= c (- 1))))",
	} {
		if got := parenthesized(parseExpr(t, src)); got != want {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}

func TestLiterals(t *testing.T) {
	for src, want := range map[string]uint64{
		"0": 0, "10": 10, "010": 8, "0x10": 16, "0XfF": 255, "1u": 1, "1ULL": 1, "0xcL": 12,
		"18446744073709551615": 1<<64 - 1,
		"'a'":                  'a', `'\n'`: 10, `'\\'`: '\\', `'\''`: '\\'<<8 | '\'', `'\?'`: '\\'<<8 | '?', `'\"'`: '"', `'\0'`: 0, `'\377'`: 255, `'\x41'`: 'A',
		"'ab'": 'a'<<8 | 'b', `'\a\b\t\n\v\f\r'`: 0x0708090a0b0c0d,
	} {
		if got := parseExpr(t, src).(*IntLit).Value; got != want {
			t.Errorf("%s: %d, want %d", src, got, want)
		}
	}
	for src, want := range map[string]string{
		`""`: "", `"a\tb"`: "a\tb", `"\101\x42\q\?\""`: `AB\q\?"`, "\"a\\\nb\"": "ab", `"\0"`: "\x00",
	} {
		if got := parseExpr(t, src).(*StringLit).Value; got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

const script = `#!/usr/sbin/dtrace -s
#pragma D option quiet
#pragma ident "someone else's"
uint64_t total, *p;
self int depth;
string name[int, string];
char (*matrix)[4];

/* a clause */
kinst::vfs_*:3,
BEGIN , tick-1sec
/ pid == $target / 2 && *p /
{
	@[probefunc, pid] = count();
	if (x) y = 1; else { z = 2 }
	trace(self->depth++)
}
END;
foo:bar.isra.0::[a-z]?!x
/x/
;
`

func TestScript(t *testing.T) {
	prog, err := Parse("x.d", []byte(script), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Print(&out, prog); err != nil {
		t.Fatal(err)
	}
	const want = `#pragma D option quiet
uint64_t total, *p;
self int depth;
string name[int, string];
char (*matrix)[4];

kinst::vfs_*:3,
BEGIN,
tick-1sec
/pid == $target / 2 && *p/
{
	@[probefunc, pid] = count();
	if (x) {
		y = 1;
	} else {
		z = 2;
	}
	trace(self->depth++);
}

END
;

foo:bar.isra.0::[a-z]?!x
/x/
;
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	c := prog.Items[5].(*Clause)
	if c.Pos != (Pos{10, 1}) || c.Pred.Position().Line != 12 {
		t.Errorf("positions %v, %v", c.Pos, c.Pred.Position())
	}
}

func TestLineMarkers(t *testing.T) {
	src := "# 40 \"other.d\"\nBEGIN {\n#line 7\n}"
	_, err := Parse("x.d", []byte(src+"\nBEGIN { ( }"), Options{})
	var e *Error
	if !errors.As(err, &e) || e.Pos.Line != 8 {
		t.Errorf("error %v, want one on line 8", err)
	}
}

func TestParseSpec(t *testing.T) {
	for _, test := range []struct {
		kind SpecKind
		src  string
		want string // description, or error
	}{
		{ByName, "BEGIN", "BEGIN"},
		{ByName, "kinst::f:3 { trace(1); }", "kinst::f:3"},
		{ByFunc, "vfs_read", "vfs_read:"},
		{ByFunc, "fbt:vmlinux:vfs_*/pid/{ exit(0) }", "fbt:vmlinux:vfs_*:"},
		{ByModule, "kinst:vmlinux", "kinst:vmlinux::"},
		{ByProvider, "kinst", "kinst:::"},
		{ByID, "12", "12"},
		{ByID, "a", `in probe description: invalid probe description "a": too many parts, or not a number`},
		{ByProvider, "a:b", `in probe description: invalid probe description "a:b": too many parts, or not a number`},
		{ByName, "", "in probe description: syntax error near end of input"},
		{ByName, "BEGIN {", "in action list: syntax error near end of input"},
		{ByName, "BEGIN /", "in predicate: syntax error near end of input"},
	} {
		prog, err := ParseSpec(test.kind, test.src, Options{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = prog.Items[0].(*Clause).Probes[0].Text
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.src, got, test.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse("x.d", []byte("\nBEGIN { 08 }"), Options{})
	const want = "[D_INT_DIGIT] line 2: integer constant 08 contains an invalid digit for base 8"
	if got := err.(*Error).Text(true); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDepthIsBounded(t *testing.T) {
	const n = 200000
	for _, src := range []string{
		strings.Repeat("(", n), strings.Repeat("-", n), strings.Repeat("1+", n) + "1",
		strings.Repeat("if(1)", n), strings.Repeat("{", n), "x" + strings.Repeat("[0]", n),
		strings.Repeat("(int)", n), strings.Repeat("sizeof ", n), "(int " + strings.Repeat("(", n),
		strings.Repeat("1?", n), strings.Repeat("a=", n), strings.Repeat("if(1){", n),
	} {
		if _, err := Parse("", []byte("BEGIN { "+src+"; }"), Options{}); err == nil {
			t.Errorf("%.20s...: no error", src)
		}
	}
}

// sameTree compares trees but for positions.
func sameTree(a, b *Program) string {
	return cmp.Diff(a, b, cmpopts.IgnoreTypes(Pos{}, Typed{}), cmpopts.EquateEmpty())
}

func FuzzParse(f *testing.F) {
	f.Add(script)
	for _, s := range []string{
		"BEGIN { a = -(-b) - --c + (foo)x[sizeof (int)]; }",
		"BEGIN /*p/{}", "#pragma D option a\\", "a /x / y/ { @a[1,\"\\0\"] = sum(2); }",
		"int (*(*x)[3])[4]; BEGIN { ((a,b)) ? (c=d) : e; }", "# 3\n",
		definitions, "typedef int t; t (*f)(t, ...); BEGIN { (t)-x; sizeof (t); xlate <t>(y).z; }",
	} {
		f.Add(s)
	}
	for _, s := range chunktest.Corpus(f, "testdata/FuzzParse.corpus") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		prog, err := Parse("", []byte(src), Options{})
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("error is a %T", err)
			}
			return
		}
		var out strings.Builder
		if err := Print(&out, prog); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("", []byte(out.String()), Options{})
		if err != nil {
			t.Fatalf("printed\n%s\nwhich fails: %v", &out, err)
		}
		if diff := sameTree(prog, again); diff != "" {
			t.Fatalf("printed\n%s\nwhich differs:\n%s", &out, diff)
		}
	})
}
