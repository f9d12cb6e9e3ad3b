package check

import "trapline/probes/d/syntax"

// The limits of DTrace's own register machine. Our machine has no registers, but a program that exceeds
// the limits is refused here as well, so that what runs here runs there.
const (
	intRegisters = 7 // for intermediate values of an expression; an eighth is always 0
	maxKeys      = 8 // of an associative array
)

// registersSuffice refuses an expression that needs more registers than there are.
func (c *checker) registersSuffice(x syntax.Expr) {
	if registers(x) > intRegisters {
		c.fail(x, NoReg, "insufficient registers to generate code: DTrace has %d for an expression and %d for the keys of an array", intRegisters, maxKeys)
	}
}

// registers returns the number of registers that computing x takes, operands from left to right.
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

// binaryRegisters returns the registers of a binary operator. The left operand keeps a register while
// the right one is computed, except for assignments, logical operators and the comma.
func binaryRegisters(x *syntax.Binary) int {
	left, right := registers(x.X), registers(x.Y)
	switch {
	case x.Op.IsAssign():
	case x.Op != syntax.ANDAND && x.Op != syntax.OROR && x.Op != syntax.XORXOR && x.Op != syntax.COMMA:
		right++
	}
	return max(left, right)
}

// indexRegisters returns the registers of an index. The keys of an associative array need theirs one
// after the other.
func indexRegisters(x *syntax.Index) int {
	if _, ok := x.Info().Ref.(*Var); ok {
		if len(x.Args) > maxKeys {
			return intRegisters + 1
		}
		return mostRegisters(x.Args)
	}
	return max(registers(x.X), mostRegisters(x.Args)+1)
}

// mostRegisters returns the registers of the largest of some expressions, which are computed and stored
// one after the other.
func mostRegisters(list []syntax.Expr) int {
	n := 1
	for _, x := range list {
		n = max(n, registers(x))
	}
	return n
}
