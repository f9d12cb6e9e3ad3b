// Package listing shows the code of a function beside its source: instructions, how each
// would be displaced, the inlined functions around them, and how often they ran.
//
//	bytes --Walk, Plan--> Rows <-- source.Function, Files
//	guest --Counter--> Hits, Taken
//	Rows --Text, HTML-->
package listing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/source"
	"trapline/trampoline"
)

// A Row is one instruction.
type Row struct {
	Off   int // in the function
	Code  []byte
	Text  string
	Plan  trampoline.Plan
	Place source.Place
	Slot  []Inst // its trampoline, if it was planted in a slot, with one unit of filling behind

	Counted bool   // it was probed: Hits counts
	Hits    uint64 // how often it ran
	Branch  bool   // it branches on a condition
	Taken   uint64 // how often it did
}

// An Inst is an instruction of a trampoline.
type Inst struct {
	Code []byte
	Text string
}

// A Listing is a function.
type Listing struct {
	Image, Name string
	Addr        uint64
	Size        uint64
	Rows        []Row
	Files       *Files

	isa  *trampoline.ISA
	name func(addr uint64) (string, uint64)
}

// Config is what a listing is made of.
type Config struct {
	Image    string
	Function kernel.Symbol
	Code     []byte           // of the function
	Source   *source.Function // nil if it is not known
	Files    *Files           // nil if there are none
	ISA      *trampoline.ISA
	Name     func(addr uint64) (string, uint64) // as trampoline.ISA.Text wants it
}

// New makes a listing. It ends where the bytes stop being instructions: data in the text,
// which objdump shows as (bad).
func New(c Config) (*Listing, error) {
	l := &Listing{Image: c.Image, Name: c.Function.Name, Addr: c.Function.Addr, Size: c.Function.Size, Files: c.Files, isa: c.ISA, name: c.Name}
	err := c.ISA.Walk(c.Code, l.Addr, func(off, n int) bool {
		addr := l.Addr + uint64(off)
		r := Row{Off: off, Code: c.Code[off : off+n], Plan: c.ISA.Plan(c.Code[off:], addr), Text: c.ISA.Text(c.Code[off:], addr, c.Name)}
		if c.Source != nil {
			r.Place = c.Source.At(addr)
		}
		l.Rows = append(l.Rows, r)
		return true
	})
	if errors.Is(err, insn.ErrTruncated) || errors.Is(err, insn.ErrUndefined) || errors.Is(err, insn.ErrTooLong) {
		err = nil
	}
	return l, err
}

// plan is how the instruction is displaced, in words.
func (r *Row) plan() string {
	if r.Plan.Kind == trampoline.Refuse {
		return r.Plan.Kind.String() + ": " + r.Plan.Reason()
	}
	return r.Plan.Kind.String()
}

// hits is how often it ran, and the branches it took: "12", "12 (3 taken)" in two words.
func (r *Row) hits() (ran, taken string) {
	if !r.Counted {
		return "-", ""
	}
	if r.Branch {
		taken = fmt.Sprint(r.Taken)
	}
	return fmt.Sprint(r.Hits), taken
}

// A change is what is new about the source from one row to the next.
type change struct {
	depth int              // inlined functions that go on
	enter []source.Inlined // that begin
	line  bool             // the line is another one
}

func changed(from, to source.Place) (c change) {
	for c.depth < len(from.Stack) && c.depth < len(to.Stack) && from.Stack[c.depth] == to.Stack[c.depth] {
		c.depth++
	}
	c.enter = to.Stack[c.depth:]
	c.line = to.Line.Line > 0 && (from.Line != to.Line || len(c.enter) > 0 || len(from.Stack) != len(to.Stack))
	return c
}

// place is a line of source: where it is, and what it says.
func (l *Listing) place(at source.Line) string {
	return strings.TrimRight(fmt.Sprintf("%s:%d  %s", at.File, at.Line, l.Files.Text(at)), " ")
}

// callAt describes an inlined function and where it is called.
func callAt(f source.Inlined) string {
	if f.Call.Line == 0 {
		return f.Name
	}
	return fmt.Sprintf("%s, called at %s:%d", f.Name, f.Call.File, f.Call.Line)
}

// Total is how many instructions ran.
func (l *Listing) Total() (n uint64) {
	for i := range l.Rows {
		n += l.Rows[i].Hits
	}
	return n
}

// most is how often the hottest instruction ran.
func (l *Listing) most() (n uint64) {
	for i := range l.Rows {
		n = max(n, l.Rows[i].Hits)
	}
	return n
}

// inside is how many instructions ran of the first depth inlined functions around a row, from
// there to where the code of one of them ends.
func (l *Listing) inside(row, depth int) (n uint64) {
	frame := l.Rows[row].Place.Stack[:depth]
	for _, r := range l.Rows[row:] {
		if len(r.Place.Stack) < depth || !slices.Equal(r.Place.Stack[:depth], frame) {
			break
		}
		n += r.Hits
	}
	return n
}

// size is where the code is and how much of it there is, in a line.
func (l *Listing) size() string {
	return fmt.Sprintf("%s in %s: %d instructions, %d bytes at 0x%x", l.Name, l.Image, len(l.Rows), l.Size, l.Addr)
}

// summary is what was counted, in a line.
func (l *Listing) summary() string {
	ran := 0
	for i := range l.Rows {
		if l.Rows[i].Hits > 0 {
			ran++
		}
	}
	return fmt.Sprintf("%s in %s: %d of its %d instructions ran, %d executions", l.Name, l.Image, ran, len(l.Rows), l.Total())
}
