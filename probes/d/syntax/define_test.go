package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// definitions is written as Print writes it.
const definitions = `struct later;
typedef struct pair {
	int a, *b;
	unsigned f : 3, : 5;
	union {
		char c[4];
		struct pair *next;
	};
	int (*fn)(struct pair *, ...);
	struct {
		int x;
	} in[2];
} pair_t;
enum color {
	RED,
	GREEN = RED + 1,
} shade;
extern pair_t *(*handlers[4])(void);
this struct pair local;
string names[int, string];
int f(), g(int), h(pair_t *p, int);
inline int LIMIT = sizeof (pair_t) + offsetof(struct pair, f);
inline string label[int n, string s] = n > LIMIT ? s : "small";
translator pair_t < struct thread *T > {
	a = T->id;
	b = (int *)(&T->name[1]);
};
provider app {
	probe start(int, char *name);
	probe done() : (pair_t *);
};

BEGIN
{
	x = xlate <pair_t *>(curthread)->a + (*xlate <pair_t>(y).b)[2];
	trace(((pair_t *)arg0)->in[1].x, (a, b));
}
`

func TestPrintDefinitions(t *testing.T) {
	prog, err := Parse("", []byte(definitions), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Print(&out, prog); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(definitions, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTypesOfTheImage: a name is asked for as a type only where that decides how a program
// is read, for the question may be costly.
func TestTypesOfTheImage(t *testing.T) {
	for src, want := range map[string]struct{ asked, read string }{
		"(foo)-x":         {"foo", "(cast <foo> (- x))"},
		"(foo *)-x":       {"", "(cast <foo *> (- x))"},
		"(bar)-x":         {"bar", "(- bar x)"},
		"foo + 1":         {"", "(+ foo 1)"},
		"sizeof (foo)":    {"foo", "sizeof (foo)"},
		"(foo)(x)":        {"", "(cast <foo> x)"},
		"(var)-x":         {"", "(- var x)"},
		"foo(1) * foo[2]": {"", "(* (call foo 1) (index foo 2))"},
	} {
		var asked []string
		prog, err := Parse("", []byte("int var; BEGIN { "+src+"; }"), Options{IsType: func(name string) bool {
			asked = append(asked, name)
			return name == "foo"
		}})
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		x := prog.Items[1].(*Clause).Body[0].(*ExprStmt).X
		if got := parenthesized(x); got != want.read || strings.Join(asked, " ") != want.asked {
			t.Errorf("%s: %s, asked for %q; want %s, %q", src, got, asked, want.read, want.asked)
		}
	}
}

func TestClone(t *testing.T) {
	const src = "a ? -b++ : (int)c[d, 1] + f(&e.x->y, \"s\", 'c') * `sym, self->v = this->w, @a[g], $1 + $$2, sizeof (int) + offsetof(struct s, m), xlate <t>(h).i"
	x := parseExpr(t, src)
	if got, want := ExprString(Clone(x, nil)), ExprString(x); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	y := Clone(parseExpr(t, "a + b[a]"), func(name string) Expr {
		if name == "a" {
			return &IntLit{Text: "7"}
		}
		return nil
	})
	if got := ExprString(y); got != "7 + b[7]" {
		t.Errorf("got %s", got)
	}
}
