package probes

import "trapline/kernel/ctypes"

// A Typed provider knows the C types of its probes' arguments: what args[] is made of.
type Typed interface {
	Provider
	// ArgTypes are the types of the arguments of all probes that d matches, none if they
	// are not known or not all the same. It makes no probes.
	ArgTypes(d Desc) []*ctypes.Type
}

// An Arguer is a provider that reads an argument of a firing when it is asked for it, and
// leaves Firing.Args alone.
type Arguer interface {
	Provider
	// Arg is argument i of the firing, from 0; 0 where there is none.
	Arg(f *Firing, i int) uint64
}
