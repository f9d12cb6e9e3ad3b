package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

var scopes = map[string]code.Scope{"": code.Global, "extern": code.Global, "self": code.Self, "this": code.This}

// decl declares types or variables. An extern variable is one like any other: those of the
// kernel have a backquote.
func (c *checker) decl(d *syntax.Decl) {
	scope, ok := scopes[d.Class]
	if !ok && d.Class != "typedef" {
		c.fail(d, DeclBadclass, "specified storage class not appropriate in D: %s", d.Class)
	}
	base := c.spec(d.Type)
	if len(d.Names) == 0 && tagKinds[d.Type.Words[0]] == 0 {
		c.fail(d, DeclUseless, "useless declaration")
	}
	if d.Class == "typedef" {
		c.typedef(d, base)
		return
	}
	for _, n := range d.Names {
		t, keys := c.declarator(base, n)
		if b := t.Base(); d.Class == "extern" && b.Kind == ctypes.Array && (b.Len < 0 || b.Size > code.MaxSize) {
			continue // it is not here, and no variable could be
		}
		c.declare(n, &Var{Name: n.Name, Scope: scope, Type: t, Keys: keys})
	}
}

func (c *checker) declare(n *syntax.Declarator, v *Var) {
	switch b := v.Type.Base(); {
	case b.Kind == ctypes.Void:
		c.fail(n, DeclVoidobj, "cannot have void object: %s", n.Name)
	case b.Kind == ctypes.Func:
		c.funcs[n.Name] = true // and nothing else: functions of the kernel cannot be called
		return
	case b.Kind == ctypes.Array && b.Len < 0:
		c.fail(n, DeclArrnull, "array declaration requires array dimension or tuple signature: %s", n.Name)
	case b.Kind == ctypes.Array && b.Len == 0:
		c.fail(n, DeclArrsub, "positive integral constant expression expected as array dimension")
	case c.funcs[n.Name] && v.Scope == code.Global:
		c.fail(n, DeclIdred, "identifier redeclared: function %s", n.Name)
	case b.Size == 0:
		c.fail(n, DeclIncomplete, "incomplete %s: %s", v.Type, n.Name)
	case v.Keys != nil && v.Scope == code.This:
		c.fail(n, DeclLocassc, "associative array may not be local: %s", n.Name)
	case v.Scope == code.Global && c.reserved(n.Name):
		c.fail(n, DeclIdred, "identifier redeclared: %s is built in", n.Name)
	}
	for i, k := range v.Keys {
		if !k.IsScalar() && !k.IsString() && !(k.IsStruct() && k.Bytes() > 0) {
			c.fail(n, KeyType, "%s[ ] key #%d may not be of type %s", n.Name, i+1, k)
		}
	}
	key := varKey{v.Scope, v.Name}
	if old := c.vars[key]; old != nil && !sameVar(old, v) {
		c.fail(n, DeclIdred, "identifier redeclared: %s\n\t current: %s\n\tprevious: %s", n.Name, v.Type, old.Type)
	} else if old == nil {
		c.room(n, v)
		c.vars[key] = v
	}
}

// reserved reports whether a global of that name has a meaning already.
func (c *checker) reserved(name string) bool {
	_, fn := c.functionNamed(name)
	_, builtin := c.builtin(name)
	_, enum := c.enums[name]
	return fn || builtin || enum || c.inlines[name] != nil || name == "regs" || name == "uregs" || name == "args"
}

func sameVar(a, b *Var) bool {
	if !ctypes.Same(a.Type, b.Type) || len(a.Keys) != len(b.Keys) {
		return false
	}
	for i := range a.Keys {
		if !ctypes.Same(a.Keys[i], b.Keys[i]) {
			return false
		}
	}
	return true
}
