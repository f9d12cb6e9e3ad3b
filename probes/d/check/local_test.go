package check

import (
	"errors"
	"regexp"
	"testing"

	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// localEnv has probes f, where x is an int and s a structure with a pointer to int, and g,
// where x is a long.
func localEnv() Env {
	s := &ctypes.Type{Kind: ctypes.Struct, Name: "s", Size: 16, Fields: []ctypes.Field{
		{Name: "p", Type: ctypes.PointerTo(ctypes.IntType)}, {Name: "b", Type: ctypes.IntType, Offset: 8, Bits: 3},
	}}
	env := testEnv
	env.Local = func(desc, name string) (*ctypes.Type, error) {
		if t := map[string]*ctypes.Type{"f x": ctypes.IntType, "f s": s, "f p": ctypes.PointerTo(s), "g x": ctypes.LongType}[desc+" "+name]; t != nil {
			return t, nil
		}
		return nil, errors.New("not there")
	}
	return env
}

func TestLocals(t *testing.T) {
	for src, want := range map[string]string{
		`f { trace(locals->x + 1); }`:                  "",
		`f { trace(*locals->s.p + locals->s.b); }`:     "",
		`f { trace(locals->p->b); print(locals->s); }`: "",
		`f { this->a = &locals->x; trace(*this->a); }`: "",
		`f /locals->x/ { }`:                            "",
		`f { locals = 1; trace(locals); }`:             "",
		`f, g { trace(locals->x); }`:                   "D_ARGS_MULTI.*type int at some probes of the clause, of type long at others",
		`f { trace(locals->y); }`:                      "D_IDENT_UNDEF.*locals->y: not there",
		`f { trace(locals.x); }`:                       "D_IDENT_UNDEF",
		`f { trace(locals->s.q); }`:                    "D_TYPE_MEMBER",
		`f { locals->x = 1; }`:                         "D_OP_LVAL",
		`f { locals->x++; }`:                           "D_OP_LVAL",
		`inline int y = locals->x; f { trace(y); }`:    "D_ARGS_NONE",
	} {
		err := checkSource(src, localEnv())
		text := ""
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			text = string(e.Tag) + " " + e.Msg
		}
		if ok, _ := regexp.MatchString(want, text); !ok || want == "" && err != nil {
			t.Errorf("%s: %s, want %s", src, text, want)
		}
	}
	if err := checkSource(`f { trace(locals->x); }`, testEnv); err == nil {
		t.Error("nothing is known of local variables, and no error")
	}
}
