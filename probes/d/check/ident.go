package check

import (
	"fmt"
	"slices"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// builtins by name: code.Builtin or Arg.
var builtins = func() map[string]any {
	m := make(map[string]any)
	for _, b := range code.Builtins() {
		m[b.String()] = b
	}
	for i := range 10 {
		m[fmt.Sprintf("arg%d", i)] = Arg(i)
	}
	return m
}()

// faults are the names of what arg4 of the probe ERROR may be.
var faults = func() map[string]uint64 {
	m := make(map[string]uint64)
	for i, name := range strings.Fields(
		"UNKNOWN BADADDR BADALIGN ILLOP DIVZERO NOSCRATCH KPRIV UPRIV TUPOFLOW BADSTACK") {
		m["DTRACEFLT_"+name] = uint64(i)
	}
	return m
}()

// unsupported are variables of other implementations that have nothing to say here, or,
// those of the library, not of this guest.
var unsupported = strings.Fields("curcpu curlwpsinfo curpsinfo cwd root zonename zoneid vmregs")

// ident gives a name in an expression its meaning.
func (c *checker) ident(x *syntax.Ident) *ctypes.Type {
	info := x.Info()
	if t := c.locals[x.Name]; t != nil {
		x.Info().Ref = parameter{}
		return t
	}
	if v := c.vars[varKey{code.Global, x.Name}]; v != nil {
		return c.variable(x, v)
	}
	if in := c.inlines[x.Name]; in != nil {
		if in.params != nil {
			c.fail(x, IdentBadref, "inline %s[ ] may not be referenced without arguments", x.Name)
		}
		return c.use(x, in, x.Name, nil)
	}
	if e, ok := c.enums[x.Name]; ok {
		constant(x, uint64(e.value))
		return e.of
	}
	named, _ := c.builtin(x.Name)
	switch b := named.(type) {
	case code.Builtin:
		info.Ref = b
		return c.builtinType(b)
	case Arg:
		info.Ref = b
		return ctypes.Named("int64_t")
	}
	if name, ok := strings.CutPrefix(x.Name, "R_"); ok {
		if i, ok := c.env.Regs[name]; ok {
			info.Const, info.Value = true, uint64(i)
			return ctypes.IntType
		}
	}
	if v, ok := faults[x.Name]; ok {
		constant(x, v)
		return ctypes.IntType
	}
	if x.Name == "NULL" {
		constant(x, 0)
		return ctypes.IntType
	}
	if t := c.kernelEnum(x, x.Name); t != nil {
		return t
	}
	if _, ok := c.functionNamed(x.Name); ok {
		c.fail(x, IdentBadref, "function %s( ) may not be used as a variable", x.Name)
	}
	if x.Name == "args" || x.Name == "regs" || x.Name == "uregs" {
		c.fail(x, IdentBadref, "array %s[ ] may not be referenced without an index", x.Name)
	}
	if slices.Contains(unsupported, x.Name) {
		c.fail(x, VarUnsup, "variable %s is not supported on this guest", x.Name)
	}
	c.fail(x, IdentUndef, "failed to resolve %s: Unknown variable name", x.Name)
	return nil
}

// kernelEnum gives the name of an enumerator of the kernel its meaning, nil if it is none.
// Where enumerations differ about the name, that of the value it is compared with counts.
func (c *checker) kernelEnum(x syntax.Expr, name string) *ctypes.Type {
	values := c.env.Types.Enumerator(name)
	if len(values) > 1 && c.compared != nil {
		for _, e := range c.compared.Enums {
			if e.Name == name {
				values = []int64{e.Value}
			}
		}
	}
	switch {
	case len(values) == 0:
		return nil
	case len(values) > 1:
		c.fail(x, IdentAmbig, "enumerator %s has the values %v: compare it with one of its enumeration, or write the number", name, values)
	}
	constant(x, uint64(values[0]))
	if int64(int32(values[0])) != values[0] {
		return ctypes.LongType
	}
	return ctypes.IntType
}

func (c *checker) builtinType(b code.Builtin) *ctypes.Type {
	if t := c.env.Types.Thread(); b == code.Curthread && t != nil {
		return ctypes.PointerTo(t)
	}
	if b.Type().Kind == code.String {
		return c.str
	}
	return ctypes.Named(b.Type().Name)
}

// variable is a scalar variable that is read.
func (c *checker) variable(x syntax.Expr, v *Var) *ctypes.Type {
	if v.Keys != nil {
		c.fail(x, IdentBadref, "associative array %s[ ] may not be referenced without an index", varName(v))
	}
	x.Info().Ref = v
	return v.Type
}

// varName is the variable as the program writes it.
func varName(v *Var) string {
	switch v.Scope {
	case code.Self:
		return "self->" + v.Name
	case code.This:
		return "this->" + v.Name
	}
	return v.Name
}

func (c *checker) scopedVar(x *syntax.ScopedVar) *ctypes.Type {
	v := c.vars[varKey{scopes[x.Scope], x.Name}]
	if v == nil {
		c.fail(x, VarUndef, "%s->%s has not yet been declared or assigned", x.Scope, x.Name)
	}
	return c.variable(x, v)
}

// lookup finds the variable that an expression names; name is nil if it names none, and
// v is nil if there is none yet.
func (c *checker) lookup(x syntax.Expr) (name *varKey, v *Var) {
	switch x := x.(type) {
	case *syntax.Ident:
		name = &varKey{code.Global, x.Name}
	case *syntax.ScopedVar:
		name = &varKey{scopes[x.Scope], x.Name}
	case *syntax.Macro:
		if ident, ok := x.Info().Ref.(syntax.Expr); ok {
			return c.lookup(ident)
		}
		return nil, nil
	default:
		return nil, nil
	}
	return name, c.vars[*name]
}

// perCPU is above what Linux on amd64 has as addresses of the variables that each CPU has
// for itself: offsets, of which the address may be taken and nothing else.
const perCPU = 1 << 20

// symbol is a symbol of the kernel. Without type information its size decides its type.
func (c *checker) symbol(x *syntax.Symbol) *ctypes.Type {
	size := c.symbolAddr(x)
	if x.Info().Ref.(Address) < perCPU {
		c.fail(x, SymBadref, "%s`%s is a variable of each CPU and has no address of its own", x.Module, x.Name)
	}
	if t, ok := c.env.Types.Variable(x.Name); ok && (t.Bytes() > 0 || t.Base().Kind == ctypes.Array) {
		return t
	}
	switch size {
	case 1:
		return ctypes.Named("uint8_t")
	case 2:
		return ctypes.Named("uint16_t")
	case 4:
		return ctypes.Named("uint32_t")
	case 8:
		return ctypes.Named("uint64_t")
	}
	c.fail(x, SymNotypes, "no symbolic type information is available for %s`%s", x.Module, x.Name)
	return nil
}

// symbolAddr notes the address and returns the size.
func (c *checker) symbolAddr(x *syntax.Symbol) (size uint64) {
	if c.env.Symbol != nil {
		if addr, size, ok := c.env.Symbol(x.Module, x.Name); ok {
			x.Info().Ref = Address(addr)
			return size
		}
	}
	c.fail(x, IdentUndef, "failed to resolve %s`%s: Unknown symbol name", x.Module, x.Name)
	return 0
}
