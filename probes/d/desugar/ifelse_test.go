package desugar

import (
	"strings"
	"testing"

	"trapline/probes/d/syntax"
)

func sugarFree(t *testing.T, src string) string {
	t.Helper()
	prog, err := syntax.Parse("test.d", []byte(src), syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := syntax.Print(&b, new(Desugarer).Program(prog)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestIfElse(t *testing.T) {
	const src = `BEGIN /pid/ { a = 1; if (a) { trace(1); if (b) trace(2); } else trace(3); trace(4); }`
	const want = `dtrace:::ERROR
{
	self->%error = 1;
}

BEGIN
{
	self->%error = 0;
}

BEGIN
/pid/
{
	this->%condition_1 = 1;
}

BEGIN
/!self->%error && this->%condition_1/
{
	a = 1;
}

BEGIN
/!self->%error && this->%condition_1/
{
	this->%condition_2 = a ? 1 : 0;
	this->%condition_3 = !this->%condition_2;
}

BEGIN
/!self->%error && this->%condition_2/
{
	trace(1);
}

BEGIN
/!self->%error && this->%condition_2/
{
	this->%condition_4 = b ? 1 : 0;
}

BEGIN
/!self->%error && this->%condition_4/
{
	trace(2);
}

BEGIN
/!self->%error && this->%condition_3/
{
	trace(3);
}

BEGIN
/!self->%error && this->%condition_1/
{
	trace(4);
}
`
	if got := sugarFree(t, src); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestOnePartCounts: of the parts of a clause one stands for it where clauses are counted.
func TestOnePartCounts(t *testing.T) {
	prog, err := syntax.Parse("test.d", []byte("BEGIN { if (1) trace(1); } END { trace(2); }"), syntax.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, it := range new(Desugarer).Program(prog).Items {
		if c := it.(*syntax.Clause); !c.Sugar {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d clauses count, want 2", n)
	}
	plain, _ := syntax.Parse("", []byte("END"), syntax.Options{})
	if new(Desugarer).Program(plain) != plain {
		t.Error("a tree without sugar is not left alone")
	}
}
