package check

import (
	"math"
	"slices"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// Types are those of the kernel image. Their structures may be Lazy.
type Types interface {
	// Tagged finds a structure, union or enumeration by its tag.
	Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
	// Typedef finds a type by its name.
	Typedef(name string) (*ctypes.Type, bool)
	// Variable finds the type of a variable of the kernel.
	Variable(name string) (*ctypes.Type, bool)
	// Enumerator gives the different values that enumerators of that name have.
	Enumerator(name string) []int64
	// Thread is what curthread points to, nil if nothing is known of it.
	Thread() *ctypes.Type
}

// noTypes is an image without type information.
type noTypes struct{}

func (noTypes) Tagged(ctypes.Kind, string) (*ctypes.Type, bool) { return nil, false }
func (noTypes) Typedef(string) (*ctypes.Type, bool)             { return nil, false }
func (noTypes) Variable(string) (*ctypes.Type, bool)            { return nil, false }
func (noTypes) Enumerator(string) []int64                       { return nil }
func (noTypes) Thread() *ctypes.Type                            { return nil }

// names are what a program defines besides variables.
type names struct {
	tags      map[string]*ctypes.Type // by kind and tag: "struct file"; each kind has its own
	typedefs  map[string]*ctypes.Type
	enums     map[string]enumerator
	inlines   map[string]*inline
	xlators   []*xlator
	providers map[string]*syntax.Provider
	funcs     map[string]bool         // functions that are declared
	pending   []*syntax.Pragma        // of names that are not defined yet
	locals    map[string]*ctypes.Type // parameters, while the expression they are of is read
	exprs     int                     // expressions checked
	bytes     int                     // of variables that are arrays and structures
}

func newNames() names {
	return names{
		tags: make(map[string]*ctypes.Type), typedefs: make(map[string]*ctypes.Type),
		enums: make(map[string]enumerator), inlines: make(map[string]*inline),
		providers: make(map[string]*syntax.Provider), funcs: make(map[string]bool),
	}
}

// typedef defines names for types.
func (c *checker) typedef(d *syntax.Decl, base *ctypes.Type) {
	for _, n := range d.Names {
		t, keys := c.declarator(base, n)
		if keys != nil {
			c.fail(n, DeclArrsub, "associative array may not be used as a type")
		}
		old, ok := c.typedefs[n.Name]
		if !ok {
			old, ok = ctypes.LookupTypedef(n.Name)
		}
		if ok && !ctypes.Same(old, t) {
			c.fail(n, DeclIdred, "typedef redeclared: %s\n\t current: %s\n\tprevious: %s", n.Name, t, old.Base())
		}
		if c.defined(n.Name) {
			c.fail(n, DeclIdred, "variable redeclared as typedef: %s", n.Name)
		}
		c.typedefs[n.Name] = ctypes.TypedefOf(n.Name, t)
	}
}

// namedType finds a typedef: one of the program, of the language or of the image.
func (c *checker) namedType(name string) (*ctypes.Type, bool) {
	if t, ok := c.typedefs[name]; ok {
		return t, true
	}
	if t, ok := ctypes.LookupTypedef(name); ok {
		return t, true
	}
	return c.env.Types.Typedef(name)
}

// tagged is struct tag, union tag or enum tag, with or without a body.
func (c *checker) tagged(s *syntax.Spec) *ctypes.Type {
	kind, tag := tagKinds[s.Words[0]], s.Words[1]
	t := c.tags[s.Words[0]+" "+tag]
	if s.Body != nil {
		return c.define(s, kind, tag, t)
	}
	if t != nil {
		return t
	}
	if t, ok := c.env.Types.Tagged(kind, tag); ok {
		return t
	}
	t = ctypes.Incomplete(kind, tag)
	c.tags[s.Words[0]+" "+tag] = t
	return t
}

// define gives a structure, union or enumeration its members. One that was referred to
// before is completed in place.
func (c *checker) define(s *syntax.Spec, kind ctypes.Kind, tag string, t *ctypes.Type) *ctypes.Type {
	if t != nil && (t.Fields != nil || t.Enums != nil) {
		c.fail(s, syntax.DeclTypered, "type redeclared: %s", t)
	}
	if t == nil {
		t = ctypes.Incomplete(kind, tag)
	}
	if tag != "" {
		c.tags[s.Words[0]+" "+tag] = t
	}
	if kind == ctypes.Enum {
		c.enumerators(t, s.Body.Enums)
		return t
	}
	fields := c.members(s, t)
	if t.Fields != nil {
		c.fail(s, syntax.DeclTypered, "type redeclared: %s", t)
	}
	if err := t.Complete(fields, code.MaxSize); err != nil {
		c.fail(s, DeclArrbig, "%v", err)
	}
	return t
}

// An enumerator is a value of an enumeration of the program's.
type enumerator struct {
	value int64
	of    *ctypes.Type
}

func (c *checker) enumerators(t *ctypes.Type, list []*syntax.Enumerator) {
	next := int64(0)
	t.Size, t.Signed = 4, true
	t.Enums = make([]ctypes.Enumerator, 0, len(list))
	for _, e := range list {
		if e.X != nil {
			if c.value(e.X); !e.X.Info().Const || !e.X.Info().Type.IsInt() {
				c.fail(e, DeclEnconst, "enumerator '%s' must be assigned to an integral constant expression", e.Name)
			}
			next = int64(e.X.Info().Value)
		}
		if next > math.MaxInt32 || next < math.MinInt32 {
			c.fail(e, DeclEnoflow, "enumerator '%s' value overflows INT_MAX (%d)", e.Name, next)
		}
		if slices.ContainsFunc(t.Enums, func(o ctypes.Enumerator) bool { return o.Name == e.Name }) {
			c.fail(e, Unknown, "failed to define enumerator '%s': it is there twice", e.Name)
		}
		if c.defined(e.Name) || c.reserved(e.Name) {
			c.fail(e, DeclIdred, "identifier redeclared: %s", e.Name)
		}
		c.enums[e.Name] = enumerator{next, t}
		t.Enums = append(t.Enums, ctypes.Enumerator{Name: e.Name, Value: next})
		next++
	}
}

// defined reports whether a global name is taken by the program.
func (c *checker) defined(name string) bool {
	_, enum := c.enums[name]
	return enum || c.funcs[name] || c.inlines[name] != nil || c.vars[varKey{code.Global, name}] != nil
}

// members are the fields of a body, not laid out yet.
func (c *checker) members(s *syntax.Spec, t *ctypes.Type) []ctypes.Field {
	fields := []ctypes.Field{}
	seen := make(map[string]bool)
	for _, d := range s.Body.Members {
		if d.Class != "" {
			c.fail(d, DeclBadclass, "storage class %s may not be used for a member", d.Class)
		}
		base := c.spec(d.Type)
		if len(d.Names) == 0 {
			if !base.IsStruct() || d.Type.Body == nil {
				c.fail(d, DeclMname, "member declaration requires a name")
			}
			fields = append(fields, ctypes.Field{Type: base})
		}
		for _, n := range d.Names {
			if n.Name != "" && seen[n.Name] {
				c.fail(n, Unknown, "failed to define member '%s' of %s: it is there twice", n.Name, t)
			}
			seen[n.Name] = true
			fields = append(fields, c.field(n, base))
		}
	}
	return fields
}

// field is one member.
func (c *checker) field(n *syntax.Declarator, base *ctypes.Type) ctypes.Field {
	t, keys := c.declarator(base, n)
	switch b := t.Base(); {
	case keys != nil:
		c.fail(n, DeclDynobj, "cannot have a member that is an associative array: %s", n.Name)
	case b.Kind == ctypes.Void:
		c.fail(n, DeclVoidobj, "cannot have void member: %s", n.Name)
	case b.Kind == ctypes.Func:
		c.fail(n, DeclVoidobj, "cannot have a member that is a function: %s", n.Name)
	case b.Kind == ctypes.Array && b.Len < 0 && b.Elem.Bytes() > 0:
		t = ctypes.ArrayOf(b.Elem, 0)
	case b.Size == 0 && !(b.Kind == ctypes.Array && b.Len == 0):
		c.fail(n, DeclIncomplete, "incomplete %s: %s", t, n.Name)
	}
	f := ctypes.Field{Name: n.Name, Type: t}
	if n.Bits != nil {
		f.Bits = c.bits(n, t)
	}
	return f
}

// bits is the width of a bit-field, -1 for the one of no bits that ends a unit.
func (c *checker) bits(n *syntax.Declarator, t *ctypes.Type) int {
	if !t.IsInt() {
		c.fail(n, DeclBftype, "bit-field must be of integral type: %s", n.Name)
	}
	c.value(n.Bits)
	i := n.Bits.Info()
	switch {
	case !i.Const || !i.Type.IsInt() || int64(i.Value) < 0 || i.Value == 0 && n.Name != "":
		c.fail(n, DeclBfconst, "positive integral constant expression expected as bit-field size")
	case i.Value > uint64(8*t.Bytes()):
		c.fail(n, DeclBfsize, "bit-field too big for type: %d bits of %s", i.Value, t)
	case i.Value == 0:
		return -1
	}
	return int(i.Value)
}

// integer is the type of the words of C's integers, or what is wrong with them.
func (c *checker) integer(s *syntax.Spec) *ctypes.Type {
	if t, ok := ctypes.Arithmetic(s.Words); ok {
		return t
	}
	words := strings.Join(s.Words, " ")
	has := func(list ...string) bool {
		return slices.ContainsFunc(s.Words, func(w string) bool { return slices.Contains(list, w) })
	}
	switch {
	case len(s.Words) > 1 && has("void"):
		c.fail(s, DeclVoidattr, "invalid type declaration: attributes may not be used with void type")
	case has("char") && has("short", "long"):
		c.fail(s, DeclCharattr, "invalid type declaration: short and long may not be used with char type")
	case len(s.Words) == 1:
		c.fail(s, syntax.SyntaxError, "syntax error near \"%s\": there is no type of that name", words)
	case has("signed", "unsigned") && has("float", "double", "string"):
		c.fail(s, syntax.DeclSignint, "invalid type declaration: signed and unsigned may only be used with integer type")
	case has("long", "short") && has("string"), has("short") && has("float", "double"):
		c.fail(s, syntax.DeclLongint, "invalid type declaration: long and short may only be used with integer type")
	case bases(s.Words) > 1:
		c.fail(s, syntax.DeclCombo, "invalid type combination: %s", words)
	}
	c.fail(s, Unknown, "failed to resolve type %s: unknown type name", words)
	return nil
}

// bases counts the words that name a type, rather than its length or sign.
func bases(words []string) (n int) {
	for _, w := range words {
		switch w {
		case "signed", "unsigned", "short", "long":
		default:
			n++
		}
	}
	return n
}

// function is the type of a function. As in DTrace, D declares functions of one type, int (), for it
// calls none; those of the kernel's own types keep theirs.
func (c *checker) function(part syntax.Part) *ctypes.Type {
	c.prototype("function", part.Keys, 0)
	return ctypes.FuncOf(ctypes.IntType, nil, false)
}

// What the prototype of a function, an array, an inline or a probe may have.
const (
	noVoid   = 1 << iota // void is no way to say that there are no parameters
	allNamed             // each parameter has a name
)

// prototype is the types of the parameters of what is declared. A sole void stands for none.
func (c *checker) prototype(of string, list []*syntax.TypeName, rules int) []*ctypes.Type {
	types := []*ctypes.Type{}
	for i, p := range list {
		base := c.spec(p.Spec)
		t, keys := c.declarator(base, p.Decl)
		t = decay(t)
		name, void := p.Decl.Name, t.Base().Kind == ctypes.Void
		switch {
		case keys != nil:
			c.fail(p.Spec, DeclProtoType, "%s prototype may not use an associative array as parameter #%d", of, i+1)
		case void && rules&noVoid != 0:
			c.fail(p.Spec, DeclProtoType, "%s prototype may not use void as parameter #%d", of, i+1)
		case void && name != "":
			c.fail(p.Spec, DeclProtoName, "void parameter may not have a name: %s", name)
		case void && len(list) > 1:
			c.fail(p.Spec, DeclProtoVoid, "void must be the sole parameter of a %s prototype", of)
		case name == "" && rules&allNamed != 0:
			c.fail(p.Spec, DeclProtoName, "%s prototype requires parameter #%d to have a name", of, i+1)
		case void:
			return types
		}
		types = append(types, t)
	}
	return types
}
