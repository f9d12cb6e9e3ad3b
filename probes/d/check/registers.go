package check

import "trapline/probes/d/syntax"

// What the machine of DTrace has, which is not ours. A program that needs more is refused here as well,
// so that what runs here runs there.
const (
	intRegisters = 7 // for what an expression has on the way; another is always 0
	maxKeys      = 8 // of an associative array
)

// registersSuffice refuses an expression that needs more registers than there are.
func (c *checker) registersSuffice(x syntax.Expr) {
	if registers(x) > intRegisters {
		c.fail(x, NoReg, "insufficient registers to generate code: DTrace has %d for an expression and %d for the keys of an array", intRegisters, maxKeys)
	}
}

// registers is how many registers the value of x takes, of an operator from the left to the right.
func registers(x syntax.Expr) int {
	if x.Info().Const {
		return 1
	}
	switch x := x.(type) {
	case *syntax.Unary:
		return registers(x.X)
	case *syntax.Postfix:
		return registers(x.X)
	case *syntax.Cast:
		return registers(x.X)
	case *syntax.Member:
		return registers(x.X)
	case *syntax.Binary:
		return binaryRegisters(x)
	case *syntax.Cond:
		return max(registers(x.C), registers(x.X), registers(x.Y))
	case *syntax.Index:
		return indexRegisters(x)
	case *syntax.Agg:
		return mostRegisters(x.Keys)
	case *syntax.Call:
		return mostRegisters(x.Args)
	}
	return 1
}

// binaryRegisters: the left operand stays in a register while the right one is made, except where it
// decides alone or counts no more.
func binaryRegisters(x *syntax.Binary) int {
	left, right := registers(x.X), registers(x.Y)
	switch {
	case x.Op.IsAssign():
	case x.Op != syntax.ANDAND && x.Op != syntax.OROR && x.Op != syntax.XORXOR && x.Op != syntax.COMMA:
		right++
	}
	return max(left, right)
}

// indexRegisters: the keys of an associative array are put away one by one.
func indexRegisters(x *syntax.Index) int {
	if _, ok := x.Info().Ref.(*Var); ok {
		if len(x.Args) > maxKeys {
			return intRegisters + 1
		}
		return mostRegisters(x.Args)
	}
	return max(registers(x.X), mostRegisters(x.Args)+1)
}

// mostRegisters is what the largest of some expressions takes, of which each is put away when it is made.
func mostRegisters(list []syntax.Expr) int {
	n := 1
	for _, x := range list {
		n = max(n, registers(x))
	}
	return n
}
