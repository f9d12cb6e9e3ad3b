package guestos

import (
	"slices"

	"trapline/kernel/ctypes"
)

// Tracepoints are how a system's kernels have theirs: places for tracers that are off, so that nothing
// has computed the arguments.
type Tracepoints struct {
	// Any reports whether a kernel with these symbols has tracepoints, and Has, if not nil, whether it
	// could have one of that name.
	Any func(symbols Symbols) bool
	// Needs says how a kernel is built so that it has some.
	Needs string
	Has   func(symbols Symbols, name string) bool
	// Find finds all sites.
	Find func(symbols Symbols, read Reader) []Tracepoint
	// Declared are the providers that the kernel declares itself; nil: its tracepoints are those of
	// the provider sdt.
	Declared func(symbols Symbols, read Reader) []string
	// Switches are variables of one byte that are 1 while a probe of a provider is on: the kernel comes
	// to some places only then. Nil: it comes to all of them.
	Switches func(provider string) (symbols []string)
	// Known are those, and functions, under names that people know from other systems.
	Known []Known
}

// Providers are those of the known probes.
func (t *Tracepoints) Providers() (names []string) {
	for _, k := range t.Known {
		if !slices.Contains(names, k.Provider) {
			names = append(names, k.Provider)
		}
	}
	return names
}

// A Tracepoint is one site of a tracepoint:
//
//	site:     nop                 or, while it is on, a jump to
//	target:   get ready, list = what Hook has, if there is anything
//	          call the functions in the list: (their data, the arguments)
type Tracepoint struct {
	// Provider, Module and Function are parts of the probe's description, if the kernel declares
	// it: "" stands for the provider sdt, the kernel proper, and the function that the site is in.
	Provider, Module, Function string

	Name   string
	Site   uint64 // 0: it is declared, and nowhere in the kernel
	Target uint64
	Key    uint64 // the same for all sites of a tracepoint
	// Hook is memory, from one address up to another, that has pointers alone: to a list of functions,
	// each with its data and a number, which a function of 0 ends. While the tracepoint is off, all are 0.
	Hook [2]uint64
	// Calls are functions that the kernel may call instead of those in the list, with the same arguments.
	Calls []TracepointCall
	// Types is the function whose parameters, without the first, are the arguments; "" if Args are
	// what is known of them.
	Types string
	Args  []ctypes.Arg
}

// A TracepointCall is a function that gets the arguments of a tracepoint, behind one of its own.
type TracepointCall struct {
	Addr uint64
	Args int // how many it gets; 0: as many as the tracepoint's types say
}

// A Known probe is a tracepoint, or the first instruction of a function, under another name. What its
// arguments are called and translated to is declared in a library.
type Known struct {
	Provider, Name string
	Point          string   // a tracepoint, or
	Functions      []string // patterns of functions; compilers add to names
	// Args are those of the tracepoint or of the function, in their order here.
	Args []int
	// When, if not nil, reports whether it fires, by the arguments that it has here, which it may change.
	// Where the image does not say where the kernel keeps what that is about, it fires.
	When func(k Kernel, args *[10]uint64) bool
}

// A Kernel is what conditions of known probes ask a guest that stands at one.
type Kernel interface {
	// Member is a member of the structure with this tag at an address; one that is a pointer leads to
	// the member of the next name. It is not ok where there is no such thing.
	Member(addr uint64, tag string, names ...string) (v uint64, ok bool)
	// Current is the address of what the kernel keeps of the current thread, 0 if it is not known.
	Current() uint64
}
