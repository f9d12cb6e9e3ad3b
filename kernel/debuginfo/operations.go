package debuginfo

import "fmt"

// Operations of expressions (DWARF 5, 7.7.1).
const (
	opAddr               = 0x03
	opDeref              = 0x06
	opConst1u            = 0x08
	opConst8s            = 0x0f
	opConstu             = 0x10
	opConsts             = 0x11
	opDup                = 0x12
	opDrop               = 0x13
	opOver               = 0x14
	opPick               = 0x15
	opSwap               = 0x16
	opRot                = 0x17
	opAbs                = 0x19
	opAnd                = 0x1a
	opDiv                = 0x1b
	opMinus              = 0x1c
	opMod                = 0x1d
	opMul                = 0x1e
	opNeg                = 0x1f
	opNot                = 0x20
	opOr                 = 0x21
	opPlus               = 0x22
	opPlusUconst         = 0x23
	opShl                = 0x24
	opShr                = 0x25
	opShra               = 0x26
	opXor                = 0x27
	opBra                = 0x28
	opEq                 = 0x29
	opGe                 = 0x2a
	opGt                 = 0x2b
	opLe                 = 0x2c
	opLt                 = 0x2d
	opNe                 = 0x2e
	opSkip               = 0x2f
	opLit0               = 0x30
	opLit31              = 0x4f
	opReg0               = 0x50
	opReg31              = 0x6f
	opBreg0              = 0x70
	opBreg31             = 0x8f
	opRegx               = 0x90
	opFbreg              = 0x91
	opBregx              = 0x92
	opPiece              = 0x93
	opDerefSize          = 0x94
	opNop                = 0x96
	opCallFrameCFA       = 0x9c
	opImplicitValue      = 0x9e
	opStackValue         = 0x9f
	opImplicitPointer    = 0xa0
	opAddrx              = 0xa1
	opEntryValue         = 0xa3
	opConstType          = 0xa4
	opRegvalType         = 0xa5
	opDerefType          = 0xa6
	opConvert            = 0xa8
	opReinterpret        = 0xa9
	opGNUUninit          = 0xf0
	opGNUImplicitPointer = 0xf2
	opGNUEntryValue      = 0xf3
	opGNUConstType       = 0xf4
	opGNURegvalType      = 0xf5
	opGNUDerefType       = 0xf6
	opGNUConvert         = 0xf7
	opGNUReinterpret     = 0xf9
	opGNUParameterRef    = 0xfa
)

// step runs one operation that leaves its result on the stack.
func (e *evaluation) step(c *cursor, op byte) error {
	switch {
	case op >= opLit0 && op <= opLit31:
		e.push(uint64(op - opLit0))
		return nil
	case op >= opConst1u && op <= opConsts, op == opAddr, op == opAddrx:
		e.push(e.constant(c, op))
		return nil
	case op >= opBreg0 && op <= opBreg31:
		return e.based(uint64(op-opBreg0), c.sleb())
	case op == opBregx:
		return e.based(c.uleb(), c.sleb())
	case op >= opDup && op <= opRot:
		e.shuffle(c, op)
		return nil
	case op >= opAbs && op <= opXor, op >= opEq && op <= opNe:
		return e.arithmetic(c, op)
	}
	return e.special(c, op)
}

func (e *evaluation) constant(c *cursor, op byte) uint64 {
	u := e.frame.at.unit
	switch op {
	case opAddr:
		return e.frame.moved(c.fixed(u.addrSize))
	case opAddrx:
		return e.frame.moved(e.l.s.indexedAddress(u.unit, &u.root, c.uleb()))
	case opConstu:
		return c.uleb()
	case opConsts:
		return uint64(c.sleb())
	}
	size := 1 << ((op - opConst1u) / 2)
	signed := (op-opConst1u)%2 == 1
	return typed{v: c.fixed(size), size: size, signed: signed}.wrap().v
}

// based pushes a register plus an offset.
func (e *evaluation) based(reg uint64, offset int64) error {
	v, err := e.frame.reg(reg)
	e.push(v + uint64(offset))
	return err
}

func (e *evaluation) shuffle(c *cursor, op byte) {
	n := len(e.stack)
	switch op {
	case opDrop:
		e.pop()
	case opSwap:
		x, y := e.pop(), e.pop()
		e.stack = append(e.stack, x, y)
	case opRot: // the top goes below the two under it
		x, y, z := e.pop(), e.pop(), e.pop()
		e.stack = append(e.stack, x, z, y)
	default:
		at := map[byte]int{opDup: 0, opOver: 1}[op]
		if op == opPick {
			at = int(c.byte())
		}
		if at >= n {
			c.bad = true
			return
		}
		e.stack = append(e.stack, e.stack[n-1-at])
	}
}

// arithmetic takes one or two numbers and leaves one, of their type.
func (e *evaluation) arithmetic(c *cursor, op byte) error {
	switch op {
	case opAbs, opNeg, opNot, opPlusUconst:
		x := e.pop()
		x.v = unary(op, x, c)
		e.stack = append(e.stack, x.wrap())
		return nil
	}
	y, x := e.pop(), e.pop()
	if (op == opDiv || op == opMod) && y.v == 0 {
		return fmt.Errorf("%w: it divides by zero", errExpression)
	}
	if op >= opEq {
		e.push(compareTyped(op, x, y))
		return nil
	}
	x.v = compute(op, x, y.v)
	e.stack = append(e.stack, x.wrap())
	return nil
}

func unary(op byte, x typed, c *cursor) uint64 {
	switch op {
	case opNeg:
		return -x.v
	case opNot:
		return ^x.v
	case opPlusUconst:
		return x.v + c.uleb()
	}
	if int64(x.v) < 0 && (x.signed || x.generic) {
		return -x.v
	}
	return x.v
}

// compute computes in the type of x. Of the generic type division is signed, the rest of
// it is not (2.5.1.4).
func compute(op byte, x typed, y uint64) uint64 {
	switch op {
	case opAnd:
		return x.v & y
	case opOr:
		return x.v | y
	case opXor:
		return x.v ^ y
	case opPlus:
		return x.v + y
	case opMinus:
		return x.v - y
	case opMul:
		return x.v * y
	case opShl:
		return x.v << y
	case opShr:
		x.signed = false
		return x.wrap().v >> y
	case opShra:
		x.signed = true
		return uint64(int64(x.wrap().v) >> y)
	case opDiv:
		if x.signed || x.generic {
			return uint64(int64(x.v) / int64(y))
		}
		return x.v / y
	}
	if x.signed {
		return uint64(int64(x.v) % int64(y))
	}
	return x.v % y
}

// compareTyped is 1 or 0. Numbers of the generic type are signed here.
func compareTyped(op byte, x, y typed) uint64 {
	less := x.v < y.v
	if x.signed || x.generic {
		less = int64(x.v) < int64(y.v)
	}
	same := x.v == y.v
	holds := map[byte]bool{opEq: same, opNe: !same, opLt: less, opLe: less || same, opGe: !less, opGt: !less && !same}[op]
	if holds {
		return 1
	}
	return 0
}

// special runs what is about the frame, memory, types and the flow of the expression.
func (e *evaluation) special(c *cursor, op byte) error {
	switch op {
	case opNop:
	case opSkip, opBra:
		by := int16(c.fixed(2))
		if op == opSkip || e.pop().v != 0 {
			c.off += uint64(int64(by))
		}
	case opFbreg:
		offset := c.sleb()
		base, err := e.frame.base(e)
		e.push(base + uint64(offset))
		return err
	case opCallFrameCFA:
		cfa, err := e.frame.cfa()
		e.push(cfa)
		return err
	case opDeref:
		return e.deref(typed{size: 8, generic: true}, 8)
	case opDerefSize:
		return e.deref(typed{size: 8, generic: true}, int(c.byte()))
	case opEntryValue, opGNUEntryValue:
		where := string(c.bytes(c.uleb()))
		return e.passed(func(n *node) bool {
			a := n.get(atLocation)
			return a != nil && string(a.block) == where
		})
	case opGNUParameterRef: // of a parameter that the function no longer has
		die := e.frame.at.unit.start + c.fixed(4)
		return e.passed(func(n *node) bool { return n.refers(atCallParameter) == die || n.refers(atOrigin) == die })
	default:
		return e.ofType(c, op)
	}
	return nil
}

// passed pushes what the caller has passed for a parameter.
func (e *evaluation) passed(is func(*node) bool) error {
	v, err := e.frame.entryValue(is, e.depth)
	e.push(v)
	return err
}

// deref replaces the address on the stack by n bytes from there.
func (e *evaluation) deref(t typed, n int) error {
	var p [8]byte
	if n < 1 || n > 8 {
		return errExpression
	}
	if err := e.frame.g.Read(e.pop().v, p[:n]); err != nil {
		return err
	}
	t.v = le.Uint64(p[:])
	e.stack = append(e.stack, t.wrap())
	return nil
}

// ofType runs operations with types of their own (2.5.1.6).
func (e *evaluation) ofType(c *cursor, op byte) error {
	switch op {
	case opConvert, opReinterpret, opGNUConvert, opGNUReinterpret:
		t, err := e.baseType(c.uleb())
		t.v = e.pop().v
		e.stack = append(e.stack, t.wrap())
		return err
	case opRegvalType, opGNURegvalType:
		reg := c.uleb()
		t, err := e.baseType(c.uleb())
		if err != nil {
			return err
		}
		t.v, err = e.frame.reg(reg)
		e.stack = append(e.stack, t.wrap())
		return err
	case opDerefType, opGNUDerefType:
		n := int(c.byte())
		t, err := e.baseType(c.uleb())
		if err != nil {
			return err
		}
		return e.deref(t, n)
	case opConstType, opGNUConstType:
		t, err := e.baseType(c.uleb())
		t.v = le.Uint64(fit(c.bytes(uint64(c.byte())), 8))
		e.stack = append(e.stack, t.wrap())
		return err
	}
	return fmt.Errorf("%w: operation %#x", errExpression, op)
}

// baseType is the integer type of an entry of the unit, 0 the generic one.
func (e *evaluation) baseType(off uint64) (typed, error) {
	if off == 0 {
		return typed{size: 8, generic: true}, nil
	}
	u := e.frame.at.unit
	var d die
	if u.start+off < u.first || u.start+off >= u.end || !e.l.d.read(u.unit, u.start+off, &d) || d.tag != tagBase {
		return typed{}, errExpression
	}
	switch d.encoding {
	case 2, 5, 6, 7, 8, 16:
		if d.size > 0 && d.size <= 8 {
			return typed{size: int(d.size), signed: d.encoding == 5 || d.encoding == 6}, nil
		}
	}
	return typed{}, fmt.Errorf("%w: it computes with %s", errExpression, d.name)
}
