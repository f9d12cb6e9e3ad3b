package consume_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"trapline/probes/d/check"
	"trapline/probes/d/check/checktest"
	"trapline/probes/d/code"
	"trapline/probes/d/compile"
	"trapline/probes/d/desugar"
	"trapline/probes/d/syntax"
)

// typedClauses are what a program does with two types: A and B are their numbers.
var typedClauses = []string{
	"BEGIN { print(*(tA *)0x5000); }",
	"BEGIN { print((tA)0x5000); trace(sizeof (tA)); trace(sizeof (tB *)); }",
	"BEGIN { this->x = *(tA *)0x5000; print(this->x); }",
	"BEGIN { self->x = *(tA *)0x5000; self->y = self->x; print(self->y); }",
	"BEGIN { x[pid] = *(tA *)0x5000; print(x[pid]); x[1] = x[2]; }",
	"BEGIN { this->x = (tA *)0x5000; trace(this->x->a); this->x++; trace(this->x->n); trace(this->x->b); }",
	"BEGIN { this->x = (tA *)0x5000; print(this->x->a); print(this->x[1]); print(*this->x->n); }",
	"BEGIN { trace(offsetof(tA, a)); trace(offsetof(tA, b)); trace(offsetof(tA, far)); }",
	"tA x; BEGIN { x.a = 1; x.b = 3; x.b++; print(x); trace(x.b); }",
	"tA x; tB y; BEGIN { x.a = y; y = x.a; x = y; print(x); }",
	"struct mine { tA a; tB b; tA c[3]; }; struct mine x; BEGIN { x.a = x.c[pid]; x.c[2] = x.a; print(x); }",
	"union mine { tA a; tB b; char c[4]; }; BEGIN { this->m = (union mine *)0x5000; print(*this->m); trace(this->m->a); }",
	"tA x[4]; this tB y[2]; BEGIN { x[1] = x[pid]; this->y[1] = this->y[0]; trace(x[1]); print(this->y); }",
	"BEGIN { print(`vA); trace(`vA); trace(`vA.a); trace(&`vB); }",
	"BEGIN { trace(`vA[1]); trace(*`vB); trace(stringof(`vA)); trace(`vA->a); }",
	"BEGIN { trace(stringof(*(tA *)0x5000)); tracemem((tA *)0x5000, 8); @[(tA)1] = sum((tB)2); }",
	"BEGIN { @[*(tA *)0x5000, (tB)1] = count(); @x = quantize((tA)arg0); }",
	"BEGIN { trace((tA)1 + (tB)2); trace((tA)1 == (tB)1); trace(pid ? (tA)1 : (tB)2); }",
	"BEGIN { trace(*(tA *)0x5000 == *(tB *)0x5000); printf(\"%d %s %p\", *(tA *)0x5000, *(tB *)0x5000, (tA *)0); }",
	"BEGIN { trace((tA *)8 - (tB *)4); trace((tA *)8 + 1); trace((tA *)0x5000 < (tA *)1); trace(((tA *)0x5000)[-1]); }",
	"inline tA n = (tB)1; inline tA m[tB v] = (tA)v; BEGIN { trace(n); trace(m[(tB)2]); }",
	"struct out { int p; string s; tB q; }; translator struct out < tA *T > { p = T->a; s = stringof(T->b); q = T->n; };\nBEGIN { print(*xlate <struct out *>((tA *)0x5000)); trace(xlate <struct out>((tA *)0x5000).s); }",
	"BEGIN { trace(curthread->a); trace(*curthread); trace(curthread[1]); print(curthread); }",
	"fbt:::entry { trace(args[A]); print(args[B]); trace(args[A]->a); trace(*args[B]); } BEGIN { trace(args[A]); }",
	"BEGIN { trace((enum sA)3); trace(EA + EB); print((struct sA *)0x5000); print(*(union sB *)0x5000); print(*(struct sA *)0x5000); }",
	"BEGIN { this->f = (int (*)(tA, tB))0; trace(this->f); trace(sizeof (tA[3][tB])); trace(sizeof (tA[7])); }",
	"BEGIN { copyout((tA *)0x5000, 0x5000, sizeof (tB)); trace(strlen((tA)0x5000)); trace(copyinstr((tA)0x5000)); bcopy((tA *)0x5000, alloca(sizeof (tB)), 8); }",
	"self tA x; BEGIN { self->x = 0; self->x.a = self->x.b; print(self->x.u); print(self->x.far); }",
}

// FuzzRandomTypes: whatever the types are that a kernel's type information gives, a program over them
// is refused, or runs to its end, as text and as JSON.
func FuzzRandomTypes(f *testing.F) {
	for i := range typedClauses {
		f.Add([]byte("\x2b\x47\x00\x00\x12\x03\x07\x56\x0b\x96"), byte(i), byte(5), byte(8))
		f.Add([]byte("\x19\x08\x3a\x6d\x04\x0e\x22\x02\x16\x05"), byte(i), byte(4), byte(6))
		f.Add([]byte("\x1f\x00\x0d\x0d\x3c\x0c\x18\x21\x27\x39"), byte(i), byte(7), byte(2))
	}
	f.Fuzz(func(t *testing.T, made []byte, which, a, b byte) {
		types := checktest.NewRandom(made)
		src := typedClauses[int(which)%len(typedClauses)]
		for letter, n := range map[string]byte{"A": a, "B": b} {
			for _, kind := range []string{"t", "v", "s", "E", "args["} {
				src = strings.ReplaceAll(src, kind+letter, kind+fmt.Sprint(n%64))
			}
		}
		isType := func(name string) bool { _, ok := types.Typedef(name); return ok }
		tree, err := syntax.Parse("prog.d", []byte(src), syntax.Options{IsType: isType})
		if err != nil {
			return
		}
		tree = new(desugar.Desugarer).Program(tree)
		err = check.Check(tree, check.Env{Regs: map[string]int{"RAX": 1}, Types: types, Symbol: types.Symbol, Args: types.Args})
		if err != nil {
			if n := len(err.Error()); n > 1<<20 {
				t.Errorf("%s: an error of %d bytes", src, n)
			}
			return
		}
		prog, err := compile.Compile(tree)
		if err != nil {
			t.Fatal(src, err)
		}
		runBoth(t, prog)
	})
}

// runBoth runs a program through the whole history, with its output as text and as JSON.
func runBoth(t *testing.T, prog *code.Program) {
	t.Helper()
	var out, errs bytes.Buffer
	newTracer(t, prog, &out, &errs).run(t)
	out.Reset()
	prog.Options = []code.Option{{Name: "oformat", Value: "json"}}
	newTracer(t, prog, &out, &errs).run(t)
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
	}
}
