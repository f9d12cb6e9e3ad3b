package check

import (
	"errors"
	"regexp"
	"strconv"

	"trapline/kernel/ctypes"
	"trapline/probes/d/syntax"
)

// macroText is the text that a macro variable stands for.
func (c *checker) macroText(n syntax.Node, name string) (text string, given bool) {
	i, err := strconv.Atoi(name)
	if errors.Is(err, strconv.ErrRange) {
		c.fail(n, MacroOflow, "macro argument $%s is out of range", name)
	}
	if err != nil {
		text, ok := c.env.Macros[name]
		if !ok {
			c.fail(n, MacroUndef, "macro variable $%s is not defined", name)
		}
		return text, true
	}
	if i < len(c.env.MacroArgs) {
		c.used[i] = true
		return c.env.MacroArgs[i], true
	}
	if !c.env.Options.DefaultArgs {
		c.fail(n, MacroUndef, "macro argument $%s is not defined", name)
	}
	return "", false
}

// macro gives $x its meaning: an integer, a name, or with $$ a string.
func (c *checker) macro(m *syntax.Macro) *ctypes.Type {
	text, given := c.macroText(m, m.Name)
	var x syntax.Expr
	switch {
	case m.String || m.Name == "0": // the script's name is no name of D's
		x = &syntax.StringLit{Pos: m.Pos, Value: text}
	case !given:
		x = &syntax.IntLit{Pos: m.Pos, Text: "0"}
	default:
		x = c.macroExpr(m, text)
	}
	t := c.expr(x)
	*m.Info() = *x.Info()
	m.Info().Ref = x
	return t
}

// macroExpr reads the text of a macro argument as the parser would.
func (c *checker) macroExpr(m *syntax.Macro, text string) syntax.Expr {
	prog, err := syntax.Parse("", []byte("BEGIN{"+text+"}"), syntax.Options{})
	if err == nil && len(prog.Items) == 1 {
		body := prog.Items[0].(*syntax.Clause).Body
		if len(body) == 1 {
			stmt, _ := body[0].(*syntax.ExprStmt)
			if stmt == nil {
				stmt = new(syntax.ExprStmt)
			}
			switch x := stmt.X.(type) {
			case *syntax.IntLit:
				x.Pos = m.Pos
				return x
			case *syntax.Ident:
				x.Pos = m.Pos
				return x
			case *syntax.Unary:
				if lit, ok := x.X.(*syntax.IntLit); ok && x.Op == syntax.SUB {
					x.Pos, lit.Pos = m.Pos, m.Pos
					return x
				}
			}
		}
	}
	c.fail(m, MacroUndef, "macro argument $%s is neither an integer nor a name: '%s' (use $$%s for a string)", m.Name, text, m.Name)
	return nil
}

var macroRef = regexp.MustCompile(`\$\$?([A-Za-z0-9_]+)`)

// expand replaces macro variables in a probe description.
func (c *checker) expand(d *syntax.Desc) string {
	return macroRef.ReplaceAllStringFunc(d.Text, func(s string) string {
		text, _ := c.macroText(d, macroRef.FindStringSubmatch(s)[1])
		return text
	})
}

// allUsed checks that every macro argument was looked at.
func (c *checker) allUsed() {
	if c.env.Options.ArgRef {
		return
	}
	for i, arg := range c.env.MacroArgs {
		if !c.used[i] {
			c.fail(nil, MacroUnused, "extraneous argument '%s' ($%d is not referenced)", arg, i)
		}
	}
}
