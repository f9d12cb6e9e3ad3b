// Package compile turns a checked tree into a code.Program. It decides nothing: types,
// names and constants are in the tree. Every function that it makes is verified.
//
//	clause -- predicate       one Func
//	       `- statement       one Action: a Func for each argument
//
// Values are on the stack as package code says; what the language converts without being
// asked (C's arithmetic conversions, char pointers to strings) is emitted here.
package compile

import (
	"fmt"

	"trapline/kernel/ctypes"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// Compile makes a program of a tree that check.Check has passed. An error means that the
// compiler itself is wrong.
func Compile(prog *syntax.Program) (*code.Program, error) {
	c := &compiler{
		tree: prog, prog: new(code.Program),
		strings: make(map[string]int), vars: make(map[*check.Var]int), aggs: make(map[*check.Agg]int),
	}
	for _, it := range prog.Items {
		switch it := it.(type) {
		case *syntax.Pragma:
			if opt, ok := check.Option(it); ok {
				c.prog.Options = append(c.prog.Options, opt)
			}
		case *syntax.Clause:
			c.prog.Clauses = append(c.prog.Clauses, c.clause(it))
		}
	}
	if err := c.prog.Verify(); err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	return c.prog, nil
}

// A compiler holds the tables that all functions of a program share.
type compiler struct {
	tree    *syntax.Program
	prog    *code.Program
	strings map[string]int
	vars    map[*check.Var]int
	aggs    map[*check.Agg]int
}

func (c *compiler) clause(cl *syntax.Clause) *code.Clause {
	out := &code.Clause{Line: cl.Line, Sugar: cl.Sugar}
	for _, d := range cl.Probes {
		out.Probes = append(out.Probes, d.Text)
	}
	if cl.Pred != nil {
		out.Pred = c.function(cl.Pred)
	}
	for _, s := range cl.Body {
		out.Actions = append(out.Actions, c.stmt(s.(*syntax.ExprStmt)))
	}
	return out
}

func (c *compiler) stmt(s *syntax.ExprStmt) code.Action {
	a := code.Action{Line: s.Line}
	switch x := s.X.(type) {
	case *syntax.Call:
		if act, ok := x.Info().Ref.(code.Act); ok {
			a.Act = act
			c.action(&a, x)
			return a
		}
	case *syntax.Binary:
		if agg, ok := x.Info().Ref.(*check.Agg); ok {
			a.Act = code.Aggregate
			c.aggregate(&a, x, agg)
			return a
		}
	}
	a.Args = []*code.Func{c.effect(s.X)}
	return a
}

func (c *compiler) action(a *code.Action, x *syntax.Call) {
	args := x.Args
	switch a.Act.Takes() {
	case code.TakesObject:
		a.Args, a.Shape = []*code.Func{c.object(args[0])}, args[0].Info().Type
	case code.TakesMemory:
		if x.Fun.(*syntax.Ident).Name == "printm" {
			args = []syntax.Expr{args[1], args[0]}
		}
		a.Args = c.tracemem(args)
	case code.TakesStrings:
		for _, s := range args {
			a.Args = append(a.Args, c.stringFunc(s))
		}
	case code.TakesValue:
		a.Args = []*code.Func{c.traced(args[0])}
	case code.TakesInt:
		a.Args = []*code.Func{c.function(args[0])}
	case code.TakesFrames:
		a.Depth = x.Info().Type.Len
	case code.TakesAddress:
		a.Args = []*code.Func{c.dynamic(x)}
	case code.TakesFormat:
		a.Format = check.Literal(args[0]).Value
		a.Args = c.printfArgs(a.Format, args[1:])
	case code.TakesAgg:
		a.Aggs = []int{c.agg(args[0].Info().Ref.(*check.Agg))}
		for _, n := range args[1:] {
			a.Args = append(a.Args, c.function(n))
		}
	case code.TakesAggs:
		if lit := check.Literal(args[0]); lit != nil {
			a.Format, args = lit.Value, args[1:]
		}
		for _, arg := range args {
			a.Aggs = append(a.Aggs, c.agg(arg.Info().Ref.(*check.Agg)))
		}
	}
}

// printfArgs compiles the arguments; those of %s become strings.
func (c *compiler) printfArgs(format string, args []syntax.Expr) (fns []*code.Func) {
	f, err := code.ParseFormat(format)
	if err != nil {
		panic(err) // check has parsed it
	}
	for _, conv := range f.Convs {
		for range conv.Stars() {
			fns, args = append(fns, c.function(args[0])), args[1:]
		}
		if conv.Verb == "s" || conv.Verb == "S" {
			fns = append(fns, c.stringFunc(args[0]))
		} else if isDynamic(args[0]) {
			fns = append(fns, c.dynamic(args[0].(*syntax.Call)))
		} else {
			fns = append(fns, c.function(args[0]))
		}
		args = args[1:]
	}
	return fns
}

func (c *compiler) aggregate(a *code.Action, x *syntax.Binary, agg *check.Agg) {
	a.Aggs = []int{c.agg(agg)}
	for i, k := range x.X.(*syntax.Agg).Keys {
		a.Args = append(a.Args, c.key(k, agg.Keys[i]))
	}
	call := x.Y.(*syntax.Call)
	if len(call.Args) > 0 {
		a.Args = append(a.Args, c.function(call.Args[0]))
	}
	if incr := check.Increment(call, agg.Fn); incr != nil {
		a.Incr = c.function(incr)
	}
}

// agg is the index of an aggregation.
func (c *compiler) agg(agg *check.Agg) int {
	i, ok := c.aggs[agg]
	if !ok {
		i = len(c.prog.Aggs)
		c.aggs[agg] = i
		c.prog.Aggs = append(c.prog.Aggs, code.Agg{
			Name: agg.Name, Fn: agg.Fn, Keys: codeTypes(agg.Keys), Args: agg.Params,
			Type: check.CodeType(agg.Type), Line: agg.Line,
		})
	}
	return i
}

// variable is the index of a variable.
func (c *compiler) variable(v *check.Var) uint64 {
	i, ok := c.vars[v]
	if !ok {
		i = len(c.prog.Vars)
		c.vars[v] = i
		c.prog.Vars = append(c.prog.Vars, code.Var{
			Name: v.Name, Scope: v.Scope, Type: check.CodeType(v.Type), Keys: codeTypes(v.Keys),
		})
	}
	return uint64(i)
}

func (c *compiler) stringIndex(s string) uint64 {
	i, ok := c.strings[s]
	if !ok {
		i = len(c.prog.Strings)
		c.strings[s] = i
		c.prog.Strings = append(c.prog.Strings, s)
	}
	return uint64(i)
}

func codeTypes(list []*ctypes.Type) (types []code.Type) {
	for _, t := range list {
		types = append(types, check.CodeType(t))
	}
	return types
}
