package check

import (
	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// printfLike checks a call like printf of that name.
func (c *checker) printfLike(x *syntax.Call, name string) {
	if len(x.Args) == 0 {
		c.protoLen(x, name, 1, -1)
	}
	if lit := Literal(x.Args[0]); name == "freopen" && lit != nil && lit.Value == "" {
		if len(x.Args) > 1 {
			c.fail(x, FreopenInvalid, "freopen( ) of \"\" takes no arguments")
		}
		return
	}
	p := formatArgs{c: c, x: x, name: name, next: 1}
	for _, conv := range c.format(x, name).Convs {
		p.number++
		if conv.Agg {
			c.fail(x, PrintfAggConv, "%s( ) conversion #%d %%@ is only valid in printa( )", name, p.number)
		}
		p.stars(conv)
		p.conversion(conv)
	}
	if p.next < len(x.Args) {
		c.fail(x.Args[p.next], PrintfArgExtra, "%s( ) prototype mismatch: only %s required by this format string",
			name, plural(p.next-1, "argument"))
	}
}

// format is the format string, the first argument.
func (c *checker) format(x *syntax.Call, name string) *code.Format {
	t := x.Args[0].Info().Type
	lit := Literal(x.Args[0])
	if lit == nil {
		c.fail(x.Args[0], PrintfArgFmt, "%s( ) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: %s",
			name, t)
	}
	if lit.Value == "" {
		c.fail(x.Args[0], PrintfFmtEmpty, "%s( ) format string is empty", name)
	}
	f, err := code.ParseFormat(lit.Value)
	if err != nil {
		c.fail(x.Args[0], syntax.SyntaxError, "%s( ) %v", name, err)
	}
	return f
}

// Literal is x if it is a string literal, or the literal that a macro argument stands for.
func Literal(x syntax.Expr) *syntax.StringLit {
	if m, ok := x.(*syntax.Macro); ok {
		x, _ = m.Info().Ref.(syntax.Expr)
	}
	lit, _ := x.(*syntax.StringLit)
	return lit
}

// formatArgs deals out the arguments to the conversions.
type formatArgs struct {
	c      *checker
	x      *syntax.Call
	name   string
	number int // of the conversion
	next   int // argument
}

// stars takes the arguments for * in the width and the precision.
func (p *formatArgs) stars(conv code.Conv) {
	for range conv.Stars() {
		if p.next >= len(p.x.Args) {
			p.c.fail(p.x, PrintfDynProto, "%s( ) prototype mismatch: conversion #%d (%%%s) is missing an argument for its *",
				p.name, p.number, conv.Verb)
		}
		if t := p.x.Args[p.next].Info().Type; !t.IsInt() {
			p.c.fail(p.x.Args[p.next], PrintfDynType, "%s( ) argument #%d is incompatible with the * of conversion #%d:\n\tprototype: int\n\t argument: %s",
				p.name, p.next+1, p.number, t)
		}
		p.next++
	}
}

func (p *formatArgs) conversion(conv code.Conv) {
	if p.next >= len(p.x.Args) {
		p.c.fail(p.x, PrintfArgProto, "%s( ) prototype mismatch: conversion #%d (%s) is missing a corresponding value argument",
			p.name, p.number, conv)
	}
	a := p.x.Args[p.next]
	p.next++
	p.c.convFits(a, p.name, p.next, p.number, conv, p.c.wholeType(a))
}

// convFits checks the type of an argument, or of a key, against its conversion. Both are counted
// from 1.
func (c *checker) convFits(n syntax.Node, name string, arg, number int, conv code.Conv, t *ctypes.Type) {
	want, ok := convWants(conv, t)
	if !ok {
		c.fail(n, PrintfArgType, "%s( ) argument #%d is incompatible with conversion #%d prototype:\n\tconversion: %s\n\t prototype: %s\n\t  argument: %s",
			name, arg, number, conv, want, t)
	}
}

// printa checks printa(@agg...) and printa(format, @agg...).
func (c *checker) printa(x *syntax.Call) {
	if len(x.Args) == 0 {
		c.protoLen(x, "printa", 1, -1)
	}
	args := x.Args
	var format *code.Format
	if Literal(args[0]) != nil {
		if len(args) < 2 {
			c.fail(x, PrintaProto, "printa( ) prototype mismatch: 1 arg passed, a format and an aggregation expected")
		}
		format = c.format(x, "printa")
		args = args[1:]
	}
	aggs := c.printaAggs(args, len(x.Args)-len(args))
	if format != nil {
		c.printaFormat(x, format, aggs)
	}
}

// printaAggs resolves the aggregations, before which there are that many arguments; all have the
// same keys.
func (c *checker) printaAggs(args []syntax.Expr, before int) (aggs []*Agg) {
	for i, x := range args {
		a, ok := x.(*syntax.Agg)
		if !ok {
			c.fail(x, PrintaAggarg, "printa( ) argument #%d is incompatible with prototype:\n\tprototype: aggregation\n\t argument: %s",
				before+i+1, x.Info().Type)
		}
		agg := c.knownAgg(a, PrintaAggbad)
		if a.Keys != nil {
			c.fail(x, PrintaAggkey, "printa( ) argument may not have keys: %s", syntax.ExprString(x))
		}
		a.Info().Type, a.Info().Ref = ctypes.VoidType, agg
		aggs = append(aggs, agg)
		if len(agg.Keys) != len(aggs[0].Keys) {
			c.fail(x, PrintaAggkey, "printa( ) aggregations differ in their keys: @%s has %s, @%s has %s",
				aggs[0].Name, plural(len(aggs[0].Keys), "key"), a.Name, plural(len(agg.Keys), "key"))
		}
		if !sameVar(&Var{Type: ctypes.VoidType, Keys: agg.Keys}, &Var{Type: ctypes.VoidType, Keys: aggs[0].Keys}) {
			c.fail(x, PrintaAggproto, "printa( ) aggregations @%s and @%s have keys of different types", aggs[0].Name, a.Name)
		}
	}
	return aggs
}

// starKey takes the key that is a width or precision off keys: an integer.
func (c *checker) starKey(x *syntax.Call, number int, conv code.Conv, keys []*ctypes.Type) []*ctypes.Type {
	if len(keys) == 0 {
		c.fail(x, PrintfDynProto, "printa( ) prototype mismatch: conversion #%d (%s) is missing a key for its *", number, conv)
	}
	if !keys[0].IsInt() {
		c.fail(x, PrintfDynType, "printa( ) key is incompatible with the * of conversion #%d:\n\tprototype: int\n\t argument: %s", number, keys[0])
	}
	return keys[1:]
}

// printaFormat checks the conversions: those with @ show the values, the others the keys
// in order.
func (c *checker) printaFormat(x *syntax.Call, f *code.Format, aggs []*Agg) {
	keys, values := aggs[0].Keys, 0
	for i, conv := range f.Convs {
		for range conv.Stars() {
			keys = c.starKey(x, i+1, conv, keys)
		}
		switch {
		case conv.Agg:
			conv.Size = ""
			c.convFits(x, "printa", 2, i+1, conv, ctypes.Named("uint64_t"))
			if values++; values > len(aggs) && len(aggs) > 1 {
				c.fail(x, PrintfArgProto, "printa( ) prototype mismatch: conversion #%d (%%@%s) is missing an aggregation", i+1, conv.Verb)
			}
		case len(keys) == 0:
			c.fail(x, PrintfArgProto, "printa( ) prototype mismatch: conversion #%d (%s) is missing a corresponding key", i+1, conv)
		default:
			c.convFits(x, "printa", 2, i+1, conv, keys[0])
			keys = keys[1:]
		}
	}
}
