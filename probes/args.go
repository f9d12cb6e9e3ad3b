package probes

import "trapline/kernel/ctypes"

// A Typed provider knows the C types of its probes' arguments: what args[] is made of.
type Typed interface {
	Provider
	// ArgTypes are the types of the arguments of all probes that d matches, none if they
	// are not known or not all the same. It makes no probes.
	ArgTypes(d Desc) []*ctypes.Type
}
