package code

import (
	"fmt"
	"slices"
)

// Act is what an Action does.
type Act uint8

// Actions. Those that record write one Rec for each value to the buffer.
const (
	Eval        Act = iota // run Args[0] for its effect; nothing is recorded
	Trace                  // record Args[0]
	Printf                 // record Args, print through Format
	Printa                 // print aggregations Aggs through Format, "" for the default
	Stack                  // record up to Depth kernel program counters
	UStack                 // record up to Depth program counters of the process
	SymOf                  // record the address Args[0]; Type.Form says how it is shown
	Clear                  // set the values of Aggs[0] to 0
	Normalize              // record Args[0], by which the values of Aggs[0] are divided when shown
	Denormalize            // undo that of Aggs[0]
	Trunc                  // record Args[0], keep as many keys of Aggs[0]: the largest, or if negative the smallest
	Speculate              // what follows goes to the speculation of number Args[0]
	Commit                 // the records of speculation Args[0] go to the buffer
	Discard                // the records of speculation Args[0] are forgotten
	Print                  // record Args[0], shown as a value of the type Shape
	Tracemem               // record the bytes Args[0], and if there is an Args[1] how many of them count
	System                 // record Args; the host runs them, printed through Format, as a command
	Freopen                // record Args; printed through Format they are where output goes from now on, "" for back
	Ftruncate              // cut the output to nothing
	Setopt                 // record the name of an option and its value
	Stop                   // stop the process
	Raise                  // send signal Args[0] to the process
	Panic                  // crash the guest
	Breakpoint             // stop the guest
	Chill                  // let Args[0] nanoseconds pass
	Yield                  // let another CPU run
	Exit                   // record Args[0] and end the trace with it as status
	Aggregate              // Aggs[0] at the keys Args[:len(Args)-1], with the value Args[len(Args)-1] (absent for count)
)

// Takes is what an action takes in a program: which calls are right, what becomes of their
// arguments, and what the Args of the Action are then.
type Takes uint8

// What actions take.
const (
	TakesUnknown   Takes = iota // there is no such action
	TakesStatement              // it is not called by name: an expression, an aggregation
	TakesNothing                // ( )
	TakesInt                    // an integer
	TakesValue                  // any value, an array, or a stack
	TakesObject                 // a value or an array, which is shown with its type
	TakesMemory                 // an address, a constant size, and a size that counts
	TakesStrings                // a string or two
	TakesFormat                 // a format and its arguments
	TakesFrames                 // a constant number of frames, or nothing
	TakesAddress                // an address
	TakesAgg                    // an aggregation, and for some a number
	TakesAggs                   // a format and aggregations
)

// An action is a row of the table of actions. A new one is a constant, a row, and the place where
// it is done: package consume if that follows from its record, package session if it acts on the
// guest.
type action struct {
	name  string
	also  []string // further names in D
	takes Takes
	does  does
}

// does is what is particular about an action.
type does uint16

const (
	silent      does = 1 << iota // it leaves nothing in the record of its clause
	destructive                  // it changes the guest or the host: option destructive
	immediate                    // it acts on the guest, at once
	onAggs                       // it changes or shows aggregations when its record is read
	onHost                       // the host does it when its record is read
	deferrable                   // a hit may be delivered later for all it does
)

var acts = [...]action{
	Eval:        {"evaluate", nil, TakesStatement, silent | deferrable},
	Trace:       {"trace", nil, TakesValue, deferrable},
	Printf:      {"printf", nil, TakesFormat, deferrable},
	Printa:      {"printa", nil, TakesAggs, onAggs},
	Stack:       {"stack", nil, TakesFrames, 0},
	UStack:      {"ustack", []string{"jstack"}, TakesFrames, 0},
	SymOf:       {"sym", []string{"func", "mod", "ufunc", "usym", "umod", "uaddr"}, TakesAddress, deferrable},
	Clear:       {"clear", nil, TakesAgg, onAggs},
	Normalize:   {"normalize", nil, TakesAgg, onAggs},
	Denormalize: {"denormalize", nil, TakesAgg, onAggs},
	Trunc:       {"trunc", nil, TakesAgg, onAggs},
	Speculate:   {"speculate", nil, TakesInt, silent | deferrable},
	Commit:      {"commit", nil, TakesInt, silent | deferrable},
	Discard:     {"discard", nil, TakesInt, silent | deferrable},
	Print:       {"print", nil, TakesObject, deferrable},
	Tracemem:    {"tracemem", []string{"printm"}, TakesMemory, deferrable},
	System:      {"system", nil, TakesFormat, onHost | destructive},
	Freopen:     {"freopen", nil, TakesFormat, onHost | destructive},
	Ftruncate:   {"ftruncate", nil, TakesNothing, onHost},
	Setopt:      {"setopt", nil, TakesStrings, onHost},
	Stop:        {"stop", nil, TakesNothing, silent | immediate | destructive},
	Raise:       {"raise", nil, TakesInt, silent | immediate | destructive},
	Panic:       {"panic", nil, TakesNothing, silent | immediate | destructive},
	Breakpoint:  {"breakpoint", nil, TakesNothing, silent | immediate | destructive},
	Chill:       {"chill", nil, TakesInt, silent | immediate | destructive},
	Yield:       {"yield", nil, TakesNothing, silent | immediate | destructive},
	Exit:        {"exit", nil, TakesInt, 0},
	Aggregate:   {"aggregate", nil, TakesStatement, silent | deferrable},
}

// Acts lists the actions.
func Acts() []Act {
	all := make([]Act, len(acts))
	for i := range all {
		all[i] = Act(i)
	}
	return all
}

func (a Act) row() *action {
	if int(a) < len(acts) {
		return &acts[a]
	}
	return &action{name: fmt.Sprintf("act(%d)", uint8(a))}
}

func (a Act) String() string { return a.row().name }

func (a Act) is(d does) bool { return int(a) < len(acts) && acts[a].does&d != 0 }

// Names are those by which a program calls the action, none if it is a statement of its own.
func (a Act) Names() []string {
	if r := a.row(); r.takes != TakesStatement {
		return append([]string{r.name}, r.also...)
	}
	return nil
}

// Takes is what the action takes, TakesUnknown if there is no such action.
func (a Act) Takes() Takes { return a.row().takes }

// Destructive reports whether the action changes the guest or the host: it needs option
// destructive.
func (a Act) Destructive() bool { return a.is(destructive) }

// Immediate reports whether the action acts on the guest, at once.
func (a Act) Immediate() bool { return a.is(immediate) }

// Records reports whether the action leaves something in the record of its clause.
func (a Act) Records() bool { return !a.is(silent) }

// OnAggs reports whether the action changes or shows aggregations when its record is read, so
// that this is to be done before they change again.
func (a Act) OnAggs() bool { return a.is(onAggs) }

// OnHost reports whether the host does the action when its record is read.
func (a Act) OnHost() bool { return a.is(onHost) }

// Deferrable reports whether the action does the same if its hit is delivered later.
func (a Act) Deferrable() bool { return a.is(deferrable) }

// OnAggs reports whether an action of the clause changes or shows aggregations when the record of
// a firing is read, so that this is to be done before they change again.
func (c *Clause) OnAggs() bool {
	return slices.ContainsFunc(c.Actions, func(a Action) bool { return a.Act.OnAggs() })
}

// Destructive says whether the program needs option destructive, and the line that does.
func (p *Program) Destructive() (line int, yes bool) {
	for _, c := range p.Clauses {
		for _, a := range c.Actions {
			if a.Act.Destructive() {
				return a.Line, true
			}
			for _, f := range append(a.Funcs(), c.Pred) {
				if f != nil && f.destructive() {
					return f.Line, true
				}
			}
		}
		if c.Pred != nil && c.Pred.destructive() {
			return c.Pred.Line, true
		}
	}
	return 0, false
}

func (f *Func) destructive() bool {
	for _, in := range f.Code {
		if in.Op == OpCall && Sub(in.Imm).Destructive() {
			return true
		}
	}
	return false
}
