package modules

import (
	"fmt"

	"trapline/kernel/debuginfo"
	"trapline/probes/copies"
)

// Debug opens the debug information of the kernel or of a module, each part when a
// program asks for it. Of a part that is nil nothing is known.
type Debug struct {
	// At says where the code runs; nil: at its link-time addresses.
	At debuginfo.Placement
	// Locals are the local variables.
	Locals func() (Locals, error)
	// Functions is the index of functions and inlined copies, at link-time addresses.
	Functions func() (*Functions, error)
	// Source are the lines, at link-time addresses.
	Source func() (*copies.Source, error)

	locals Locals // nil until asked for, as what follows
	funcs  *Functions
	source *copies.Source
}

// Locals finds and reads local variables of the kernel. *debuginfo.Locals is one.
type Locals interface {
	// Find finds what a name means at an address, Names all that mean something there.
	Find(addr uint64, name string) (*debuginfo.Local, bool)
	Names(addr uint64) []string
	// Read gives a variable's address, or its bytes.
	Read(v *debuginfo.Local, g debuginfo.Guest) (addr uint64, data []byte, err error)
}

// Functions are the functions of the guest's kernel or of a module, and the instructions of
// their inlined copies.
type Functions struct {
	*debuginfo.Index
	*copies.Finder
}

// LinkOf is the link-time address of an address of the running kernel. It is not ok where none
// of this code is.
func (d *Debug) LinkOf(addr uint64) (uint64, bool) {
	if d.At == nil {
		return addr, true
	}
	return d.At.Link(addr)
}

// OpenLocals opens the local variables, the first time.
func (d *Debug) OpenLocals() (Locals, error) { return once(&d.locals, d.Locals, "local variables") }

// OpenFunctions opens the functions, the first time.
func (d *Debug) OpenFunctions() (*Functions, error) { return once(&d.funcs, d.Functions, "those") }

// OpenSource opens the lines, the first time.
func (d *Debug) OpenSource() (*copies.Source, error) { return once(&d.source, d.Source, "those") }

// once opens a part the first time.
func once[T comparable](have *T, open func() (T, error), what string) (T, error) {
	var none T
	if *have != none {
		return *have, nil
	}
	if open == nil {
		return none, fmt.Errorf("nothing is known of %s", what)
	}
	part, err := open()
	if err == nil {
		*have = part
	}
	return part, err
}
