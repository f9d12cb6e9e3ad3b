package compile

import (
	"errors"
	"strings"
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

var testEnv = check.Env{
	Regs: map[string]int{"RAX": 0, "RDI": 7, "PC": 16, "RIP": 16},
	Symbol: func(module, name string) (addr, size uint64, ok bool) {
		switch name {
		case "jiffies":
			return 0xffffffff81000000, 8, true
		case "flag":
			return 0xffffffff81000010, 1, true
		case "table":
			return 0xffffffff81000100, 4096, true
		}
		return 0, 0, false
	},
	MacroArgs: []string{"script", "7", "name", "-1"},
	Macros:    map[string]string{"target": "100"},
	Options:   check.Options{ArgRef: true},
}

func compile(src string, env check.Env) (*code.Program, error) {
	prog, err := syntax.Parse("test.d", []byte(src), syntax.Options{})
	if err != nil {
		return nil, err
	}
	if err := check.Check(prog, env); err != nil {
		return nil, err
	}
	return Compile(prog)
}

// lines is the bytecode of every action of the last clause, predicate first.
func lines(p *code.Program) string {
	var s []string
	c := p.Clauses[len(p.Clauses)-1]
	if c.Pred != nil {
		s = append(s, "/"+p.Line(c.Pred)+"/")
	}
	for _, a := range c.Actions {
		for _, f := range a.Funcs() {
			s = append(s, p.Line(f))
		}
	}
	return strings.Join(s, " | ")
}

func TestGolden(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		// Constants and folding.
		{"trace(1);", "push 1"},
		{"trace(2 + 3 * 4);", "push 14"},
		{"trace(-1);", "push -1"},
		{"trace(0xffffffff + 1);", "push 0"},
		{"trace(-1 < 1U);", "push 0"},
		{"trace(-1 == 0xffffffff);", "push 1"},
		{"trace((uint8_t)300);", "push 44"},
		{"trace((char)200);", "push -56"},
		{"trace(sizeof (int) + sizeof (char *) + sizeof (uint16_t));", "push 14"},
		{"trace(7 / -2); trace(7 % -2); trace(-7 >> 1);", "push -3 | push 1 | push -4"},
		{"trace(0 && pid); trace(1 || pid);", "push 0 | push 1"},
		{"trace(1 ? 2 : 3);", "push 2"},
		{"trace('a'); trace('ab');", "push 97 | push 24930"},
		{"trace(1 << 40);", "push 0x10000000000"},
		{`trace("a\0b");`, `str "a"`},

		// Arithmetic and conversions.
		{"trace(pid + 1);", "builtin pid; push 1; add"},
		{"trace(uid + 1);", "builtin uid; push 1; add; zext 4"},
		{"trace(uid - pid);", "builtin uid; builtin pid; zext 4; sub; zext 4"},
		{"trace(uid < -1);", "builtin uid; push 0xffffffff; ltu"},
		{"trace(arg0 / 2); trace(timestamp / 2);", "arg 0; push 2; divs | builtin timestamp; push 2; divu"},
		{"trace(arg0 >> 3); trace(timestamp >> 3);", "arg 0; push 3; shrs | builtin timestamp; push 3; shru"},
		{"trace(~uid); trace(-pid); trace(+arg1); trace(!arg2);",
			"builtin uid; not; zext 4 | builtin pid; neg | arg 1 | arg 2; lnot"},
		{"trace((int)arg0); trace((uint16_t)arg0); trace((long)pid);", "arg 0; sext 4 | arg 0; zext 2 | builtin pid"},
		{"trace((pid, tid));", "builtin pid; pop; builtin tid"},

		// Logic.
		{"trace(pid && tid);", "builtin pid; jz 6; builtin tid; jz 6; push 1; jmp 7; push 0"},
		{"trace(pid || tid);", "builtin pid; jnz 6; builtin tid; jnz 6; push 0; jmp 7; push 1"},
		{"trace(pid ^^ tid);", "builtin pid; lnot; builtin tid; lnot; ne"},
		{"trace(pid ? tid : arg0);", "builtin pid; jz 4; builtin tid; jmp 5; arg 0"},
		{`trace(pid ? "a" : execname);`, `builtin pid; jz 4; str "a"; jmp 5; builtin execname`},

		// Strings.
		{`trace(execname == "sh");`, `builtin execname; str "sh"; scmp; push 0; eq`},
		{`trace(execname < "sh");`, `builtin execname; str "sh"; scmp; push 0; lts`},
		{`trace((char *)arg0 == "sh");`, `arg 0; loadstr 256; str "sh"; scmp; push 0; eq`},
		{"trace(stringof(arg0)); trace((string)arg0); trace(stringof(execname));",
			"arg 0; loadstr 256 | arg 0; loadstr 256 | builtin execname"},
		{`trace(substr(execname, 1, 2)); trace(strlen("x"));`,
			`builtin execname; push 1; push 2; call substr/3 | str "x"; call strlen/1`},
		{"trace(copyinstr(arg0)); trace(copyinstr(arg0, 10));", "arg 0; call copyinstr/1 | arg 0; push 10; call copyinstr/2"},
		{"trace(strjoin((char *)arg0, lltostr(arg1, 16)));", "arg 0; loadstr 256; arg 1; push 16; call lltostr/2; call strjoin/2"},

		// Guest memory.
		{"trace(*(int *)arg0);", "arg 0; loads 4"},
		{"trace(*(uint64_t *)(arg1 + 8));", "arg 1; push 8; add; loadu 8"},
		{"trace(((char *)arg0)[3]);", "arg 0; push 3; add; loads 1"},
		{"trace(((uint16_t *)arg0)[arg1]);", "arg 0; arg 1; push 2; mul; add; loadu 2"},
		{"trace(**(int **)arg0);", "arg 0; loadu 8; loads 4"},
		{"trace((int *)arg0 + 2); trace(2 + (int *)arg0);", "arg 0; push 8; add | push 8; arg 0; add"},
		{"trace((int *)arg0 - (int *)arg1);", "arg 0; arg 1; sub; push 4; divs"},
		{"trace((int *)arg0 < (int *)arg1);", "arg 0; arg 1; ltu"},
		{"trace(&((int *)arg0)[1]);", "arg 0; push 4; add"},
		{"trace(`jiffies); trace(vmlinux`flag); trace(&`jiffies);",
			"push 0xffffffff81000000; loadu 8 | push 0xffffffff81000010; loadu 1 | push 0xffffffff81000000"},
		{"trace(*(int *)&`table);", "push 0xffffffff81000100; loads 4"},
		{`printf("%s", (char *)arg0);`, "arg 0; loadstr 256"},

		// Registers, macros.
		{"trace(regs[R_RDI]); trace(regs[R_PC]); trace(R_RDI);", "reg 7 | reg 16 | push 7"},
		{"trace($1 + $3); trace($$2); trace($target);", `push 6 | str "name" | push 100`},
		{"$2 = $1; $2++; trace($2);", "push 7; storeglobal name; pop | loadglobal name; push 1; add; storeglobal name; pop | loadglobal name"},

		// Variables.
		{"x = 1; x += 2; trace(x);", "push 1; storeglobal x; pop | loadglobal x; push 2; add; storeglobal x; pop | loadglobal x"},
		{"self->t = timestamp; trace(timestamp - self->t);",
			"builtin timestamp; storeself t; pop | builtin timestamp; loadself t; sub"},
		{`this->s = "a"; trace(this->s);`, `str "a"; storethis s; pop | loadthis s`},
		{"x++; ++x; x--;", "loadglobal x; push 1; add; storeglobal x; pop | loadglobal x; push 1; add; storeglobal x; pop | loadglobal x; push 1; sub; storeglobal x; pop"},
		{"x = pid; trace(x++);", "builtin pid; storeglobal x; pop | loadglobal x; push 1; add; storeglobal x; push 1; sub; sext 4"},
		{"trace(x = y = 2);", "push 2; storeglobal y; storeglobal x"},
		{"p = (int *)arg0; p++; trace(*p);", "arg 0; storeglobal p; pop | loadglobal p; push 4; add; storeglobal p; pop | loadglobal p; loads 4"},
		{"u = uid; u /= pid;", "builtin uid; storeglobal u; pop | loadglobal u; builtin pid; zext 4; divu; storeglobal u; pop"},
		{"a[1] = 2; trace(a[pid]);", "push 1; key a; push 2; storearr a; pop | builtin pid; key a; loadarr a"},
		{`a[execname, pid] = "x"; trace(a["sh", 1]);`,
			`builtin execname; builtin pid; key a; str "x"; storearr a; pop | str "sh"; push 1; key a; loadarr a`},
		{"self->a[tid]++;", "builtin tid; key a; dup; loadarr a; push 1; add; storearr a; pop"},
		{"a[0] += 5;", "push 0; key a; dup; loadarr a; push 5; add; storearr a; pop"},

		// Aggregations and actions.
		{"@ = count();", ""},
		{"@a[execname, pid] = quantize(arg0, 2);", "builtin execname | builtin pid | arg 0 | push 2"},
		{"@l = lquantize(arg0, 0, 100, 10, 3);", "arg 0 | push 3"},
		{"printf(\"%d %s %*d\\n\", pid, execname, 5, tid);", "builtin pid | builtin execname | push 5 | builtin tid"},
		{"exit(0); stack(); stack(5);", "push 0"},
		{"1;", "push 1; pop"},
	} {
		p, err := compile("BEGIN {\n"+test.src+"\n}", testEnv)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if got := lines(p); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
}

func TestProgram(t *testing.T) {
	const src = `#pragma D option quiet
#pragma D option strsize=64
int total;
string name[int, string];
BEGIN, tick-$1 /pid == 1/ {
	total = 1;
	name[1, "a"] = "b";
	@x["k", pid] = sum(uid);
	@x["k", timestamp] = sum(uid);
	printa("%s %d %@d", @x);
	printa(@x);
	stack(7);
	@q = llquantize(arg0, 10, 0, 6, 20, 5);
}
END
`
	p, err := compile(src, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Options) != 2 || p.Options[1].Name != "strsize" || p.Options[1].Value != "64" || p.Options[1].Line != 2 {
		t.Errorf("options %v", p.Options)
	}
	c := p.Clauses[0]
	if got := strings.Join(c.Probes, " "); got != "BEGIN tick-7" || c.Line != 5 {
		t.Errorf("probes %q at line %d", got, c.Line)
	}
	if len(p.Clauses[1].Actions) != 0 {
		t.Errorf("END has actions")
	}
	v := p.Vars[1]
	if v.Name != "name" || v.Type.Size != 64 || v.Type.Kind != code.String || len(v.Keys) != 2 || v.Keys[0].Name != "int" {
		t.Errorf("variable %+v", v)
	}
	a := p.Aggs[0]
	if a.Name != "x" || a.Fn != agg.Sum || a.Type.Name != "uid_t" || a.Keys[1].Name != "pid_t" || a.Line != 8 {
		t.Errorf("aggregation %+v", a)
	}
	if k := c.Actions[3].Args[1]; k.Type.Name != "uint64_t" {
		t.Errorf("second use records the key as %s", k.Type.Name)
	}
	if act := c.Actions[4]; act.Act != code.Printa || act.Format != "%s %d %@d" || act.Aggs[0] != 0 {
		t.Errorf("printa %+v", act)
	}
	if act := c.Actions[6]; act.Act != code.Stack || act.Depth != 7 || act.Line != 12 {
		t.Errorf("stack %+v", act)
	}
	if act, agg := c.Actions[7], p.Aggs[1]; act.Incr == nil || len(agg.Args) != 4 || agg.Args[3] != 20 {
		t.Errorf("llquantize %+v of %+v", act, agg)
	}
}

func TestTypes(t *testing.T) {
	for src, want := range map[string]string{
		"1": "int", "1u": "unsigned int", "2147483648": "long", "0x80000000": "unsigned int",
		"18446744073709551615": "unsigned long", "1ull": "unsigned long", "'a'": "int",
		"pid": "pid_t", "arg0": "int64_t", "arg0 + 1": "int64_t", "pid + 1": "pid_t", "uid + pid": "uid_t",
		"(char)1 + (char)2": "int", "(short)1 << 2": "int", "1 == 2": "int", "timestamp": "uint64_t",
		"(int *)0 + 1": "int *", "(int *)0 - (int *)0": "ptrdiff_t", "sizeof (int)": "size_t",
		"execname": "string", `"abc"`: "string", "strlen(execname)": "size_t", "index(execname, \"a\")": "int",
		"*(uint8_t *)0": "uint8_t", "&`jiffies": "uint64_t *", "&`table": "void *", "regs[0]": "uint64_t",
		"pid ? 1 : 2L": "long",
	} {
		p, err := compile("BEGIN { trace("+src+"); }", testEnv)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if got := p.Clauses[0].Actions[0].Args[0].Type.Name; got != want {
			t.Errorf("%s: %s, want %s", src, got, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"x++; a[x++, execname] += x; trace(a[1, \"b\"]--);", "trace((char)arg0 ? stringof(arg1) : \"x\");",
		"@a[pid, (char *)arg0] = lquantize(arg1, -5, 5); printa(\"%d %s %@d\", @a);",
		"p = (uint16_t *)arg0; p += 2; trace(&p[3] - p); trace($1 = 2);", "trace(`jiffies ^^ *&`flag);",
		"printf(\"%*.*s %c\", 1, 2, execname, 'x'); trace(regs[R_RAX] && 1 / pid);",
		"trace(1 << -1 >> 99); trace(-9223372036854775807 - 1) ; trace(~0u * 2);",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, err := compile("int n; self string s[int]; BEGIN /pid/ {"+src+"}", testEnv)
		var e *syntax.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: %v", src, err)
		}
	})
}
