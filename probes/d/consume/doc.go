// Package consume turns what a trace has recorded into what the user reads.
//
//	buffer.Buffer --Reader--> Record --+
//	agg.Table ------------------------ +--> Sink: Text (dtrace's own form), or JSON
//	faults, drops ---------------------+
//
// Reading is apart from printing: a Reader takes records apart, a Sink shows them. Text
// prints the bytes that dtrace(1) prints, JSON objects for programs to read.
package consume

import (
	"io"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A Probe is what is shown of a probe.
type Probe struct {
	ID                       uint32
	Prov, Module, Func, Name string
}

// An Enabling is one clause at one probe: what an EPID stands for.
type Enabling struct {
	Probe  Probe
	Clause int // index into Program.Clauses
}

// A Trace is what consumers need to know of the trace whose records they see.
type Trace struct {
	Program *code.Program
	Layouts []*buffer.Layout // of each clause's records
	Tables  []*agg.Table     // of each of the program's aggregations
	// Enabling is what a record's EPID stands for, nil if nothing.
	Enabling func(epid uint32) *Enabling
	// Symbol names an address of the guest: the symbol that covers it and the offset
	// there. Without a symbol but inside a module, name is "". May be nil.
	Symbol func(addr uint64) (module, name string, off uint64, ok bool)
	// Inlined are the functions inlined around an address, innermost first, which stacks
	// show before the function that has the code. May be nil: then they do not.
	Inlined func(addr uint64) []string
	// Counts brings aggregations up to date. A reader calls it before records that show or
	// change them. May be nil: they always are.
	Counts func()
	// Calls reports whether the probes of a provider are where processes call the kernel, which
	// option flowindent shows. May be nil: none is.
	Calls func(provider string) bool
	// Host is what actions do on the host. May be nil: then they fail.
	Host Host
}

// A Host does what some actions ask of it.
type Host interface {
	// System runs a command with the standard output of the trace.
	System(command string, out io.Writer) error
	// Reopen gives what output goes to from now on: the file of that name, made empty if
	// it is there, or for "" what it went to at first.
	Reopen(name string) (io.Writer, error)
	// Truncate cuts what output goes to, where it is a file.
	Truncate(out io.Writer) error
	// SetOption changes an option in the middle of the trace.
	SetOption(name, value string) error
}

// A Fault is a run-time error in a clause, and where it happened.
type Fault struct {
	EPID   uint32
	Probe  Probe
	Text   string // what went wrong: "divide-by-zero"
	Action int    // number of the action, from 1; 0 is the predicate
	Offset int    // of the instruction in the action's code
}

// Drops counts what a trace has lost, since the last report.
type Drops struct {
	CPU          int
	Records      uint64 // no room in the CPU's buffer
	Aggregations uint64 // no room for a new key
	Variables    uint64 // no room for a dynamic variable
	Spec         uint64 // no room in the buffer of a speculation
	SpecFails    uint64 // speculation() found none free
	Errors       uint64 // faults in clauses of the ERROR probe
}

// A Sink shows a trace. Its methods are called in the order in which things happened; an
// error is one of writing.
type Sink interface {
	// Record shows one firing of one clause. r is valid during the call.
	Record(r *Record) error
	Fault(f Fault) error
	Drops(d Drops) error
	// End comes last, after the records of the END probe: it shows the aggregations
	// that no action has shown.
	End() error
	// Flush writes what waits in memory.
	Flush() error
}

// New makes the Sink that the options ask for. It fails on a malformed format in the
// program.
func New(t *Trace, o option.View, out, err io.Writer) (Sink, error) {
	if o.JSON {
		return NewJSON(t, o, out, err)
	}
	return NewText(t, o, out, err)
}
