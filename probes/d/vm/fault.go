package vm

import "fmt"

// FaultKind is what went wrong in a clause. The numbers are those that arg4 of the ERROR
// probe has.
type FaultKind uint8

// Kinds of faults.
const (
	UnknownFault  FaultKind = iota
	BadAddr                 // guest memory that is not mapped
	BadAlign                // an address that the operation needs aligned
	IllegalOp               // an argument outside what the operation allows
	DivZero                 // division by zero
	NoScratch               // more string or copied memory than a firing has
	KernelAccess            // a kernel address where it is not allowed
	UserAccess              // a user address where it is not allowed
	TupleOverflow           // keys of an associative array that are too large
	BadStack                // a stack that cannot be walked
	NoValue                 // a local variable without a value, see Detail
)

var faultTexts = [...]string{
	"unknown fault", "invalid address", "invalid alignment", "illegal operation", "divide-by-zero",
	"out of scratch space", "invalid kernel access", "invalid user access", "tuple stack overflow", "bad stack",
	"no value",
}

func (k FaultKind) String() string {
	if int(k) < len(faultTexts) {
		return faultTexts[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// A Fault is a run-time error in a clause: the arguments of the ERROR probe.
type Fault struct {
	EPID uint32 // arg1
	// Action is the number of the action, from 1, each recorded value and key counting as
	// one; 0 is the predicate. arg2.
	Action int
	Offset int       // of the instruction in the action's code. arg3
	Kind   FaultKind // arg4
	Addr   uint64    // of BadAddr and BadAlign. arg5
	Detail string    // of NoValue: the variable, and why
}

// Text says what went wrong, with the address where there is one.
func (f Fault) Text() string {
	if f.Kind == BadAddr || f.Kind == BadAlign {
		return fmt.Sprintf("%s (0x%x)", f.Kind, f.Addr)
	}
	if f.Kind == NoValue {
		return fmt.Sprintf("%s: %s", f.Kind, f.Detail)
	}
	return f.Kind.String()
}

// Arg is argument i of the ERROR probe that this fault fires.
func (f Fault) Arg(i int) uint64 {
	switch i {
	case 1:
		return uint64(f.EPID)
	case 2:
		return uint64(f.Action)
	case 3:
		return uint64(f.Offset)
	case 4:
		return uint64(f.Kind)
	case 5:
		return f.Addr
	}
	return 0
}
