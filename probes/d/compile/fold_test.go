package compile

import (
	"fmt"
	"testing"

	"trapline/probes/d/code"
)

// eval runs integer code with the two arguments, without package vm, which is tested
// against other things.
func eval(t *testing.T, f *code.Func, args [2]uint64) uint64 {
	var stack []uint64
	pop := func() uint64 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return x
	}
	for pc := 0; pc < len(f.Code); pc++ {
		switch in := f.Code[pc]; in.Op {
		case code.OpPush:
			stack = append(stack, in.Imm)
		case code.OpArg:
			stack = append(stack, args[in.N])
		case code.OpNeg:
			stack = append(stack, -pop())
		case code.OpNot:
			stack = append(stack, ^pop())
		case code.OpLNot:
			stack = append(stack, bit(pop() == 0))
		case code.OpSext:
			shift := 64 - 8*in.N
			stack = append(stack, uint64(int64(pop()<<shift)>>shift))
		case code.OpZext:
			shift := 64 - 8*in.N
			stack = append(stack, pop()<<shift>>shift)
		case code.OpJmp:
			pc = int(in.Imm) - 1
		case code.OpJz, code.OpJnz:
			if (pop() == 0) == (in.Op == code.OpJz) {
				pc = int(in.Imm) - 1
			}
		default:
			y, x := pop(), pop()
			op := binaryOps[in.Op]
			if op == nil {
				t.Fatalf("unexpected %s", in.Op)
			}
			stack = append(stack, op(x, y))
		}
	}
	return pop()
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var binaryOps = map[code.Op]func(x, y uint64) uint64{
	code.OpAdd:  func(x, y uint64) uint64 { return x + y },
	code.OpSub:  func(x, y uint64) uint64 { return x - y },
	code.OpMul:  func(x, y uint64) uint64 { return x * y },
	code.OpDivS: func(x, y uint64) uint64 { return uint64(int64(x) / int64(y)) },
	code.OpDivU: func(x, y uint64) uint64 { return x / y },
	code.OpModS: func(x, y uint64) uint64 { return uint64(int64(x) % int64(y)) },
	code.OpModU: func(x, y uint64) uint64 { return x % y },
	code.OpAnd:  func(x, y uint64) uint64 { return x & y },
	code.OpOr:   func(x, y uint64) uint64 { return x | y },
	code.OpXor:  func(x, y uint64) uint64 { return x ^ y },
	code.OpShl:  func(x, y uint64) uint64 { return x << (y & 63) },
	code.OpShrS: func(x, y uint64) uint64 { return uint64(int64(x) >> (y & 63)) },
	code.OpShrU: func(x, y uint64) uint64 { return x >> (y & 63) },
	code.OpEq:   func(x, y uint64) uint64 { return bit(x == y) },
	code.OpNe:   func(x, y uint64) uint64 { return bit(x != y) },
	code.OpLtS:  func(x, y uint64) uint64 { return bit(int64(x) < int64(y)) },
	code.OpLeS:  func(x, y uint64) uint64 { return bit(int64(x) <= int64(y)) },
	code.OpGtS:  func(x, y uint64) uint64 { return bit(int64(x) > int64(y)) },
	code.OpGeS:  func(x, y uint64) uint64 { return bit(int64(x) >= int64(y)) },
	code.OpLtU:  func(x, y uint64) uint64 { return bit(x < y) },
	code.OpLeU:  func(x, y uint64) uint64 { return bit(x <= y) },
	code.OpGtU:  func(x, y uint64) uint64 { return bit(x > y) },
	code.OpGeU:  func(x, y uint64) uint64 { return bit(x >= y) },
}

// TestFoldingAgrees compiles each operator on operands of each pair of types, once with
// constants and once with arguments: folding and code give the same value.
func TestFoldingAgrees(t *testing.T) {
	types := []string{"char", "uint8_t", "uint16_t", "int", "uint32_t", "long", "uint64_t"}
	ops := []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>",
		"==", "!=", "<", "<=", ">", ">=", "&&", "||", "^^", "? 5 :"}
	values := [][2]uint64{{1, 2}, {^uint64(0), 1}, {0x80000000, 33}, {200, 1<<63 | 7}, {1 << 31, ^uint64(2)}}
	one := func(a, op, b string, args [2]uint64) {
		t.Helper()
		constant := fmt.Sprintf("%s %s %s", fmt.Sprintf(a, args[0]), op, fmt.Sprintf(b, args[1]))
		varying := fmt.Sprintf("%s %s %s", fmt.Sprintf(a, "arg0"), op, fmt.Sprintf(b, "arg1"))
		p, err := compile("BEGIN { trace("+constant+"); trace("+varying+"); }", testEnv)
		if err != nil {
			t.Fatalf("%s: %v", constant, err)
		}
		folded, run := p.Clauses[0].Actions[0].Args[0], p.Clauses[0].Actions[1].Args[0]
		if len(folded.Code) != 1 || folded.Code[0].Op != code.OpPush {
			t.Errorf("%s is not folded: %s", constant, p.Line(folded))
			return
		}
		if got, want := folded.Code[0].Imm, eval(t, run, args); got != want || folded.Type != run.Type {
			t.Errorf("%s is folded to %#x %s, run gives %#x %s", constant, got, folded.Type.Name, want, run.Type.Name)
		}
	}
	for _, args := range values {
		for _, a := range types {
			for _, b := range types {
				for _, op := range ops {
					one("("+a+")%v", op, "("+b+")%v", args)
				}
			}
			for _, op := range []string{"-", "~", "!", "+"} {
				one(op+"("+a+")%v", "==", "(int)%v", args)
			}
		}
	}
}
