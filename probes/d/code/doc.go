// Package code is what the D compiler makes and the virtual machine runs: a Program of
// clauses, each a predicate and a list of actions, over bytecode for a stack machine.
//
//	Program -- Clauses -- Pred, Actions -- Func -- []Instr
//	        `- Strings, Vars, Aggs, Options
//
// # The machine
//
// A Func computes one expression. It starts with an empty stack and ends by running off
// its end, with one value on the stack, or none if its Type is Void. Jumps only go
// forward, so every Func ends. Verify proves that operands are in range, that the stack
// never underflows and that each slot holds the kind of value its reader expects; the
// machine checks nothing of that again. What can go wrong while it runs is a fault: an
// invalid address, a division by zero, no scratch space left. A fault ends the clause.
//
// # Values
//
// A slot is a uint64.
//
//	scalar  an integer or address, extended to 64 bits by the sign of its type. Arithmetic
//	        is on all 64 bits; the compiler narrows explicitly (OpSext, OpZext) at casts,
//	        at conversions, and after unsigned arithmetic of 4 bytes. Signed arithmetic of 4
//	        bytes is not narrowed before its result is cast, stored or recorded.
//	string  a Ref to its bytes, without the NUL, in the scratch space. Ref 0 is "".
//	bytes   a Ref likewise: a structure, union or array by value.
//	frames  a Ref likewise: program counters of 8 bytes, innermost first.
//	keys    a Ref likewise: the tuple of an associative array's keys, in a form that only
//	        the machine knows, equal for equal keys.
//
// The scratch space belongs to one firing. The machine lays Program.Strings at its
// start, once; strings loaded, read or made go behind them and are forgotten when the
// clause ends. A string never contains a NUL.
//
// # Stores and records
//
// Storing into a variable narrows to Var.Type: an integer to Size bytes and then extended
// by Signed, a string to Size-1 bytes. An Action records the low Type.Size bytes of an
// integer in the guest's byte order and the bytes of a string with a NUL, cut to
// Type.Size in all. A predicate is true if its scalar is not 0.
package code

// A Ref is a value that does not fit a slot: bytes in the scratch space.
type Ref uint64

// MakeRef is the reference to n bytes at offset off.
func MakeRef(off, n uint32) Ref { return Ref(off)<<32 | Ref(n) }

// Off is the offset of the first byte.
func (r Ref) Off() uint32 { return uint32(r >> 32) }

// Len is the number of bytes.
func (r Ref) Len() uint32 { return uint32(r) }
