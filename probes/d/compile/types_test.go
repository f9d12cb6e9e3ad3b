package compile

import (
	"errors"
	"testing"

	"trapline/probes/d/check"
	"trapline/probes/d/check/checktest"
	"trapline/probes/d/code"
	"trapline/probes/d/desugar"
	"trapline/probes/d/syntax"
	"trapline/probes/d/syntax/chunktest"
)

func typedEnv() check.Env {
	types := checktest.New()
	env := testEnv
	env.Types, env.Symbol, env.Args = types, checktest.Symbol, types.Args
	return env
}

func compileTyped(src string) (*code.Program, error) {
	env := typedEnv()
	isType := func(name string) bool { _, ok := env.Types.Typedef(name); return ok }
	prog, err := syntax.Parse("test.d", []byte(src), syntax.Options{IsType: isType})
	if err != nil {
		return nil, err
	}
	prog = new(desugar.Desugarer).Program(prog)
	if err := check.Check(prog, env); err != nil {
		return nil, err
	}
	return Compile(prog)
}

func TestGoldenTypes(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		// Members in the guest.
		{"trace(((struct file *)arg0)->f_inode->i_ino);", "arg 0; loadu 8; loadu 8"},
		{"trace(((struct file *)arg0)->a);", "arg 0; push 8; add; loads 4"},
		{"trace(stringof(((struct file *)arg0)->name));", "arg 0; push 12; add; loadstr 17"},
		{"trace((*(struct task_struct *)arg0).pid);", "arg 0; loads 4"},
		{"trace(curthread->pid); trace(curthread->parent->comm[2]);",
			"builtin curthread; loads 4 | builtin curthread; push 24; add; loadu 8; push 4; add; push 2; add; loads 1"},
		{"trace(curthread->files[1].f_inode->i_ino);",
			"builtin curthread; push 32; add; push 40; add; loadu 8; loadu 8"},
		{"trace(((inode_t *)arg0)->i_mode); trace(((inode_t *)arg0)->i_flags); trace(((struct inode *)arg0)->i_neg);",
			"arg 0; push 8; add; loadu 4; push 60; shl; push 60; shru | " +
				"arg 0; push 8; add; loadu 4; push 48; shl; push 52; shru | " +
				"arg 0; push 8; add; loadu 4; push 43; shl; push 59; shrs"},
		{"trace(&curthread->files[0]); trace(&((struct file *)0)->f_op);", "builtin curthread; push 32; add; push 0; add | push 0; push 32; add"},
		{"trace((int)((struct file *)arg0)->f_op);", "arg 0; push 32; add; loadu 8; sext 4"},
		{"this->f = (struct file *)arg0; this->f++; trace(this->f->a);",
			"arg 0; storethis f; pop | loadthis f; push 40; add; storethis f; pop | loadthis f; push 8; add; loads 4"},

		// Symbols.
		{"trace(`jiffies); trace(vmlinux`init_task.pid); trace(stringof(`init_task.comm));",
			"push 0xffffffff81000000; loadu 8 | push 0xffffffff81001000; loads 4 | push 0xffffffff81001000; push 4; add; loadstr 17"},
		{"trace(`files[1]->a); trace(stringof(`banner)); trace((&`init_task)->pid);",
			"push 0xffffffff81003000; push 8; add; loadu 8; push 8; add; loads 4 | push 0xffffffff81002000; loadstr 256 | push 0xffffffff81001000; loads 4"},

		// Arrays: of char a string, as key and as new variable too; others as a whole.
		{"trace(curthread->comm); @[curthread->comm] = count(); s = curthread->comm;",
			"builtin curthread; push 4; add; loadstr 17 | builtin curthread; push 4; add; loadstr 17 | builtin curthread; push 4; add; loadstr 17; storeglobal s; pop"},
		{"trace(`files); trace(strlen(curthread->comm)); printf(\"%s\", curthread->comm);",
			"push 0xffffffff81003000; loadbytes 32 | builtin curthread; push 4; add; loadstr 17; call strlen/1 | builtin curthread; push 4; add; loadstr 17"},
		{"p = (char *)curthread->comm; trace(p[1]); trace(curthread->comm == \"sh\");",
			"builtin curthread; push 4; add; storeglobal p; pop | loadglobal p; push 1; add; loads 1 | builtin curthread; push 4; add; loadstr 17; str \"sh\"; scmp; push 0; eq"},

		// sizeof and offsetof are constants.
		{"trace(sizeof (struct file)); trace(sizeof (inode_t)); trace(offsetof(struct file, name)); trace(sizeof (curthread->comm));",
			"push 40 | push 16 | push 12 | push 16"},
		{"trace(sizeof (struct task_struct *)); trace(sizeof (`init_task)); trace(sizeof (int [3][2]));", "push 8 | push 112 | push 24"},
	} {
		golden(t, "BEGIN {\n"+test.src+"\n}", test.want)
	}
}

func golden(t *testing.T, src, want string) {
	t.Helper()
	p, err := compileTyped(src)
	if err != nil {
		t.Errorf("%s: %v", src, err)
		return
	}
	if got := lines(p); got != want {
		t.Errorf("%s:\n got %s\nwant %s", src, got, want)
	}
}

func TestGoldenParts(t *testing.T) {
	const decls = `struct point { int x; unsigned y : 3; unsigned z : 7; char name[8]; string s; };
struct line { struct point from, to; uint8_t tags[4]; };
int a[10]; int m[3][4]; this struct line l; self struct point p; struct point pts[string]; string names[4]; char buf[32];
`
	for _, test := range []struct{ src, want string }{
		{"a[3] = 5; trace(a[3]);", "push 12; push 5; sext 4; put a 4; pop | push 12; parts a 4"},
		{"a[pid] += 2;", "builtin pid; bound 10; push 4; mul; dup; parts a 4; push 2; add; sext 4; put a 4; pop"},
		{"trace(m[pid][tid]);", "builtin pid; bound 3; push 16; mul; builtin tid; bound 4; push 4; mul; add; parts m 4"},
		{"m[1][2]++;", "push 24; dup; parts m 4; push 1; add; sext 4; put m 4; pop"},
		{"this->l.to.x = 7; trace(this->l.to.x);", "push 272; push 7; sext 4; put l 4; pop | push 272; parts l 4"},
		{"this->l.to.z = pid; trace(this->l.from.y);",
			"push 276; builtin pid; push 57; shl; push 57; shru; put l 4:3/7; pop | push 4; partu l 4:0/3"},
		{"this->l.from = this->l.to;", "push 0; push 272; partbytes l 272; putbytes l 272; pop"},
		{"this->l.tags[pid] = 9;", "builtin pid; bound 4; push 1; mul; push 544; add; push 9; zext 1; put l 1; pop"},
		{`self->p.s = execname; trace(self->p.s);`, "push 14; builtin execname; putstr p 256; pop | push 14; partstr p 256"},
		{"self->p.y++;", "push 4; dup; partu p 4:0/3; push 1; add; push 61; shl; push 61; shru; put p 4:0/3; pop"},
		{`pts["a"].x = 1; pts["a"].x += 2; trace(pts["b"].z);`,
			`str "a"; key pts; push 0; push 1; sext 4; put pts 4; pop | ` +
				`str "a"; key pts; push 0; dup2; parts pts 4; push 2; add; sext 4; put pts 4; pop | str "b"; key pts; push 4; partu pts 4:3/7`},
		{`names[1] = "x"; trace(names[arg0]);`, `push 256; str "x"; putstr names 256; pop | arg 0; bound 4; push 256; mul; partstr names 256`},
		{"buf[0] = 'a'; trace(stringof(buf));", "push 0; push 97; sext 1; put buf 1; pop | push 0; partstr buf 32"},
		{"x = stringof(buf); trace(buf); trace(a); y[buf] = strlen(buf); printf(\"%s\", buf);",
			"push 0; partstr buf 32; storeglobal x; pop | push 0; partstr buf 32 | push 0; partbytes a 40 | " +
				"push 0; partstr buf 32; key y; push 0; partstr buf 32; call strlen/1; storearr y; pop | push 0; partstr buf 32"},
		{"this->l = *(struct line *)arg0; trace(this->l.to.x);", "arg 0; loadbytes 548; storethis l; pop | push 272; parts l 4"},
		{"this->n = *(struct inode *)arg0; trace(this->n.i_ino);", "arg 0; loadbytes 16; storethis n; pop | push 0; partu n 8"},
		{`trace((pid ? pts["a"] : self->p).x);`, `builtin pid; jz 7; str "a"; key pts; push 0; parts pts 4; jmp 9; push 0; parts p 4; sext 4`},
		{"trace(sizeof (a) + sizeof (this->l.from) + sizeof (m[0]));", "push 328"},
	} {
		src := decls + "BEGIN {\n" + test.src + "\n}"
		if p, err := compileTyped(src); err != nil {
			t.Errorf("%s: %v", test.src, err)
		} else if got := lines(p); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
}

func TestGoldenNames(t *testing.T) {
	const decls = `typedef unsigned long ulong; typedef struct pair { int a; ulong b; } pair_t;
enum color { RED, GREEN = 5, BLUE }; typedef int (*fn_t)(struct file *, ...);
inline int LIMIT = GREEN * 2; inline uint8_t low[uint64_t v] = v & 0xff; inline string who = execname;
typedef struct info { int pid; string name; uint8_t small; struct info *up; } info_t;
translator info_t < struct task_struct *T > { pid = T->pid; name = stringof(T->comm); small = T->pid + 1; up = 0; };
inline info_t *curinfo = xlate <info_t *>(curthread);
extern int total;
`
	for _, test := range []struct{ src, want string }{
		{"BEGIN { trace(LIMIT + BLUE); trace((enum color)3); }", "push 16 | push 3"},
		{"BEGIN { trace(low[arg0]); trace(who); }", "arg 0; push 255; and; zext 1 | builtin execname"},
		{"BEGIN { trace(sizeof (pair_t)); trace(((pair_t *)arg0)->b); trace((ulong)pid); }", "push 16 | arg 0; push 8; add; loadu 8 | builtin pid"},
		{"BEGIN { trace(curinfo->pid); trace(curinfo->name); trace(curinfo->small); }",
			"builtin curthread; loads 4; sext 4 | builtin curthread; push 4; add; loadstr 17 | builtin curthread; loads 4; push 1; add; zext 1"},
		{"BEGIN { trace(xlate <info_t>((struct task_struct *)arg0).pid); }", "arg 0; loads 4; sext 4"},
		{"BEGIN { trace((int)((fn_t)arg0)); total = 1; }", "arg 0; sext 4 | push 1; storeglobal total; pop"},
		{"fbt::vfs_read:entry { trace(args[0]->f_inode->i_ino); trace(args[1]); trace(stringof(args[2])); }",
			"arg 0; loadu 8; loadu 8 | arg 1; zext 4 | arg 2; loadstr 256"},
		{"BEGIN /pid/ { if (tid) trace(1); }", "/loadself %error; lnot; jz 7; loadthis %condition_2; jz 7; push 1; jmp 8; push 0/ | push 1"},
	} {
		golden(t, decls+test.src, test.want)
	}
}

// FuzzTyped: what the checker passes compiles, to code that verifies.
func FuzzTyped(f *testing.F) {
	for _, s := range []string{
		"struct s { int x : 3; union { char c[4]; struct s *n; } u; }; struct s a[3]; BEGIN { a[pid].u.c[1] = 'x'; a[0].x++; trace(a[1].u.n->x); }",
		"typedef int t; inline t n[t a, string b] = a + strlen(b); BEGIN { if (n[1, \"a\"]) trace(n[2, execname]); else x = n[3, \"\"]; }",
		"struct i { int pid; string s; }; translator struct i < struct task_struct *T > { pid = T->pid; s = stringof(T->comm); };\n" +
			"BEGIN { trace(xlate <struct i *>(curthread)->s); self->q = *curthread; trace(self->q.files[1].f_inode->i_flags); }",
		"fbt::vfs_read:entry /args[0]->a/ { by[execname] = *args[0]; by[\"x\"].a += 3; trace(by[\"y\"].name); trace((pid ? by[\"y\"] : *args[0]).a); }",
		"enum e { A = 3, B } v; int (*fn)(int, ...); provider p { probe x(int) : (int); }; BEGIN { v = B; trace(sizeof (v) + offsetof(struct file, name)); trace(&`files[v]); }",
		"string s[4]; this string l[2]; self char c[8]; BEGIN { s[1] = execname; this->l[0] = s[pid]; self->c[3] = 7; trace(stringof(self->c)); printf(\"%s\", s[2]); }",
	} {
		f.Add(s)
	}
	for _, s := range chunktest.Corpus(f, "testdata/FuzzTyped.corpus") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, err := compileTyped(src)
		var e *syntax.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: %v", src, err)
		}
	})
}
