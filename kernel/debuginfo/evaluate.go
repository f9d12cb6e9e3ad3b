package debuginfo

import (
	"errors"
	"fmt"
)

// An evaluation runs the expressions of one frame: a stack machine (DWARF 5, 2.5).
type evaluation struct {
	l     *Locals
	frame *frame
	stack []typed
	depth int
}

// typed is a number on the stack. The generic type has 8 bytes and no type of its own.
type typed struct {
	v       uint64
	size    int
	signed  bool
	generic bool
}

// A piece is a part of a variable, or all of it.
type piece struct {
	kind  pieceKind
	v     uint64 // the address, the register's or the value
	bytes []byte // of an implicit value
	size  int    // in bytes; 0: all
}

type pieceKind uint8

const (
	inMemory pieceKind = iota
	inRegister
	isValue
	isImplicit
	isNowhere
)

var (
	errExpression  = errors.New("its location cannot be evaluated")
	errTooDeep     = fmt.Errorf("%w: it goes on and on", errExpression)
	maxEvaluations = 8 // of expressions in expressions
)

// locate runs an expression that says where something is.
func (e *evaluation) locate(expr []byte) ([]piece, error) {
	if e.depth++; e.depth > maxEvaluations {
		return nil, errTooDeep
	}
	c := &cursor{data: expr}
	var pieces []piece
	now := piece{kind: isNowhere}
	for steps := 0; c.off < uint64(len(expr)); steps++ {
		op := c.byte()
		e.l.steps--
		switch {
		case op >= opReg0 && op <= opReg31:
			now = piece{kind: inRegister, v: uint64(op - opReg0)}
		case op == opRegx:
			now = piece{kind: inRegister, v: c.uleb()}
		case op == opImplicitValue:
			now = piece{kind: isImplicit, bytes: c.bytes(c.uleb())}
		case op == opStackValue:
			now = piece{kind: isValue, v: e.pop().v}
		case op == opGNUUninit: // what has just been named may not have been given its value yet
		case op == opImplicitPointer, op == opGNUImplicitPointer:
			return nil, ErrOptimizedOut
		case op == opPiece:
			now.size = int(min(c.uleb(), maxValue))
			pieces, now = append(pieces, now), piece{kind: isNowhere}
		default:
			if err := e.step(c, op); err != nil {
				return nil, err
			}
			if len(e.stack) > 0 {
				now = piece{kind: inMemory, v: e.top().v}
			}
		}
		if c.bad || steps > 10000 || e.l.steps < 0 {
			return nil, errExpression
		}
	}
	e.depth--
	if len(pieces) == 0 {
		pieces = append(pieces, now)
	}
	return pieces, nil
}

// number runs an expression that computes a value.
func (e *evaluation) number(expr []byte) (uint64, error) {
	inner := &evaluation{l: e.l, frame: e.frame, depth: e.depth}
	pieces, err := inner.locate(expr)
	switch {
	case err != nil:
		return 0, err
	case len(pieces) != 1:
		return 0, errExpression
	case pieces[0].kind == inRegister:
		return e.frame.reg(pieces[0].v)
	case pieces[0].kind == inMemory, pieces[0].kind == isValue:
		return pieces[0].v, nil
	}
	return 0, errExpression
}

// assemble gives the address of a variable of n bytes that is in memory, or else its bytes.
func (e *evaluation) assemble(pieces []piece, n int) (addr uint64, data []byte, err error) {
	if len(pieces) == 1 && pieces[0].kind == inMemory && pieces[0].size == 0 {
		return pieces[0].v, nil, nil
	}
	if n > maxValue {
		return 0, nil, fmt.Errorf("%w: it has %d bytes, and is not in memory as a whole", errExpression, n)
	}
	for _, p := range pieces {
		size := n - len(data) // what pieces have beyond it is cut off
		if p.size != 0 {
			size = min(p.size, size)
		}
		part, err := e.bytesOf(p, size)
		if err != nil {
			return 0, nil, err
		}
		data = append(data, part...)
	}
	return 0, fit(data, n), nil
}

func (e *evaluation) bytesOf(p piece, n int) ([]byte, error) {
	switch p.kind {
	case inMemory:
		out := make([]byte, n)
		return out, e.frame.g.Read(p.v, out)
	case inRegister:
		v, err := e.frame.reg(p.v)
		return fit(le.AppendUint64(nil, v), n), err
	case isValue:
		return fit(le.AppendUint64(nil, p.v), n), nil
	case isImplicit:
		return fit(p.bytes, n), nil
	}
	return nil, ErrOptimizedOut
}

func (e *evaluation) push(v uint64) { e.stack = append(e.stack, typed{v: v, size: 8, generic: true}) }

// top is the top of the stack, 0 if that is empty.
func (e *evaluation) top() typed {
	if len(e.stack) == 0 {
		return typed{size: 8, generic: true}
	}
	return e.stack[len(e.stack)-1]
}

func (e *evaluation) pop() typed {
	t := e.top()
	if len(e.stack) > 0 {
		e.stack = e.stack[:len(e.stack)-1]
	}
	return t
}

// wrap cuts a number to its type.
func (t typed) wrap() typed {
	unused := 64 - 8*uint(min(t.size, 8))
	if t.signed {
		t.v = uint64(int64(t.v<<unused) >> unused)
	} else {
		t.v = t.v << unused >> unused
	}
	return t
}
