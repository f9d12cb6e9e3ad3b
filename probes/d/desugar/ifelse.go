// Package desugar rewrites what the language has for convenience into the language that
// package check knows: tree to tree, printable at any time (option -d).
//
// A clause with if statements becomes several clauses at the same probes, one for each
// basic block, which run in turn at a firing:
//
//	P /pred/ { A; if (c) { B; } else { C; } D; }
//
//	P                      { self->%error = 0; }
//	P /pred/               { this->%condition_1 = 1; }
//	P /ok && condition_1/  { A; }
//	P /ok && condition_1/  { this->%condition_2 = c ? 1 : 0; this->%condition_3 = !this->%condition_2; }
//	P /ok && condition_2/  { B; }
//	P /ok && condition_3/  { C; }
//	P /ok && condition_1/  { D; }
//
// where ok is !self->%error: a clause of dtrace:::ERROR, which comes first, notes a fault
// there, and what follows in the clause does not run. The names cannot be written in a
// program.
//
// A description of inlined code becomes those of the instructions that it stands for; the
// caller of Inline knows them:
//
//	kinst::fput_light:entry { A; }    kinst::ksys_read:57, kinst::ksys_write:57 { A; }
package desugar

import (
	"fmt"
	"slices"

	"trapline/probes/d/syntax"
)

// A Desugarer rewrites the programs of one trace. The zero value is ready.
type Desugarer struct {
	errors *syntax.Clause // of dtrace:::ERROR
	from   *syntax.Clause
	made   []syntax.Item // of one clause
	conds  int           // counted through all programs
}

// Program desugars all clauses. A tree without sugar comes back as it is.
func (d *Desugarer) Program(prog *syntax.Program) *syntax.Program {
	first, found := d.errors == nil, false
	out := *prog
	out.Items = nil
	for _, it := range prog.Items {
		if c, ok := it.(*syntax.Clause); ok && hasIf(c.Body) {
			found = true
			d.clause(c)
			out.Items = append(out.Items, d.made...)
			continue
		}
		out.Items = append(out.Items, it)
	}
	if !found {
		return prog
	}
	if first {
		at := slices.IndexFunc(out.Items, isClause)
		out.Items = slices.Insert(out.Items, at, syntax.Item(d.errors))
	}
	return &out
}

func isClause(it syntax.Item) bool {
	_, ok := it.(*syntax.Clause)
	return ok
}

func hasIf(list []syntax.Stmt) bool {
	for _, s := range list {
		if _, ok := s.(*syntax.IfStmt); ok {
			return true
		}
	}
	return false
}

const errorName = "%error"

func (d *Desugarer) clause(c *syntax.Clause) {
	if d.errors == nil {
		desc := &syntax.Desc{Pos: c.Pos, Text: "dtrace:::ERROR"}
		d.errors = &syntax.Clause{
			Pos: c.Pos, Probes: []*syntax.Desc{desc}, HasBody: true, Sugar: true,
			Body: []syntax.Stmt{set(c.Pos, self(c.Pos), number(c.Pos, 1))},
		}
	}
	d.from, d.made = c, nil
	d.add(nil, set(c.Pos, self(c.Pos), number(c.Pos, 0)))
	cond := 0
	if c.Pred != nil {
		cond = d.condition()
		pos := c.Pred.Position()
		d.add(syntax.Clone(c.Pred, nil), set(pos, this(pos, cond), number(pos, 1)))
	}
	d.block(c.Body, cond, nil)
	// One of the parts counts as the clause of the program.
	d.made[len(d.made)-1].(*syntax.Clause).Sugar = false
}

func (d *Desugarer) condition() int {
	d.conds++
	return d.conds
}

// block makes clauses of statements that run where a condition holds; 0 is none. spec is
// the speculate() before them in the program's clause: each part has to say it again.
func (d *Desugarer) block(list []syntax.Stmt, cond int, spec *syntax.ExprStmt) {
	for len(list) > 0 {
		n := 0
		for n < len(list) && !hasIf(list[n:n+1]) {
			n++
		}
		if n > 0 {
			d.add(d.guard(list[0].Position(), cond), again(spec, list[:n])...)
			spec = speculates(list[:n], spec)
		}
		if list = list[n:]; len(list) > 0 {
			d.branch(list[0].(*syntax.IfStmt), cond, spec)
			list = list[1:]
		}
	}
}

// branch makes the clauses of an if statement. Both conditions are settled before either
// branch runs, which may change what they depend on.
func (d *Desugarer) branch(s *syntax.IfStmt, outer int, spec *syntax.ExprStmt) {
	then := d.condition()
	stmts := []syntax.Stmt{set(s.Pos, this(s.Pos, then), truth(s.Cond))}
	other := 0
	if s.Else != nil {
		other = d.condition()
		stmts = append(stmts, set(s.Pos, this(s.Pos, other), not(s.Pos, this(s.Pos, then))))
	}
	d.add(d.guard(s.Pos, outer), stmts...)
	d.block(s.Then, then, spec)
	if s.Else != nil {
		d.block(s.Else, other, spec)
	}
}

// guard is the predicate of a block: nothing has failed, and its condition holds. A
// condition that was never set, because the block around it did not run, is 0.
func (d *Desugarer) guard(pos syntax.Pos, cond int) syntax.Expr {
	ok := not(pos, self(pos))
	if cond == 0 {
		return ok
	}
	return &syntax.Binary{Pos: pos, Op: syntax.ANDAND, X: ok, Y: this(pos, cond)}
}

func (d *Desugarer) add(pred syntax.Expr, body ...syntax.Stmt) {
	c := &syntax.Clause{Pos: d.from.Pos, Pred: pred, Body: body, HasBody: true, Sugar: true}
	for _, p := range d.from.Probes {
		desc := *p
		c.Probes = append(c.Probes, &desc)
	}
	d.made = append(d.made, c)
}

func self(pos syntax.Pos) syntax.Expr {
	return &syntax.ScopedVar{Pos: pos, Scope: "self", Name: errorName}
}

func this(pos syntax.Pos, cond int) syntax.Expr {
	return &syntax.ScopedVar{Pos: pos, Scope: "this", Name: fmt.Sprintf("%%condition_%d", cond)}
}

func number(pos syntax.Pos, n uint64) syntax.Expr {
	return &syntax.IntLit{Pos: pos, Text: fmt.Sprint(n), Value: n}
}

func set(pos syntax.Pos, x, value syntax.Expr) syntax.Stmt {
	return &syntax.ExprStmt{Pos: pos, X: &syntax.Binary{Pos: pos, Op: syntax.ASSIGN, X: x, Y: value}}
}

func not(pos syntax.Pos, x syntax.Expr) syntax.Expr {
	return &syntax.Unary{Pos: pos, Op: syntax.NOT, X: x}
}

// truth is x as 1 or 0, whatever scalar it is.
func truth(x syntax.Expr) syntax.Expr {
	pos := x.Position()
	return &syntax.Cond{Pos: pos, C: x, X: number(pos, 1), Y: number(pos, 0)}
}
