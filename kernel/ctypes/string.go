package ctypes

import (
	"fmt"
	"strings"
)

// String is the type as C writes it without a name: "int", "struct task_struct *",
// "char [16]". What is behind the first maxVisits parts is left out.
func (t *Type) String() string {
	left := maxVisits
	return t.text(&left)
}

func (t *Type) text(left *int) string {
	if *left--; *left < 0 {
		return "..."
	}
	switch t.Kind {
	case Void:
		return "void"
	case Struct, Union, Enum:
		return t.tagged()
	case Pointer, Array, Func:
		return t.derived("", left)
	}
	return t.Name
}

func (t *Type) tagged() string {
	word := map[Kind]string{Struct: "struct", Union: "union", Enum: "enum"}[t.Kind]
	if t.Name == "" {
		return word + " {...}"
	}
	return word + " " + t.Name
}

// paramVisits is how many parts a parameter counts as: functions in functions are what there can be
// very many of.
const paramVisits = 8

func (t *Type) params(left *int) string {
	var s []string
	for _, p := range t.Params {
		*left -= paramVisits
		if s = append(s, p.text(left)); *left < 0 {
			break
		}
	}
	switch {
	case t.Variadic:
		s = append(s, "...")
	case len(s) == 0 && t.Params != nil:
		return "void"
	}
	return strings.Join(s, ", ")
}

// derived writes pointers, arrays and functions around a declarator.
func (t *Type) derived(inner string, left *int) string {
	if *left--; *left < 0 {
		return "... " + inner
	}
	switch t.Kind {
	case Pointer:
		inner = "*" + inner
		if k := t.Elem.Kind; k == Array || k == Func {
			inner = "(" + inner + ")"
		}
		return t.Elem.derived(inner, left)
	case Array:
		n := ""
		if t.Len >= 0 {
			n = fmt.Sprint(t.Len)
		}
		return t.Elem.derived(inner+"["+n+"]", left)
	case Func:
		return t.Elem.derived(inner+"("+t.params(left)+")", left)
	}
	return t.text(left) + " " + inner
}
