package probes

import (
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
)

// A Typed provider knows the C types of its probes' arguments: what args[] is made of.
type Typed interface {
	Provider
	// ArgTypes are the types of the arguments of all probes that d matches, none if they
	// are not known or not all the same. It makes no probes.
	ArgTypes(d Desc) []*ctypes.Type
}

// A Declarer is a provider whose probes the guest may declare, with the types of their arguments.
type Declarer interface {
	Provider
	// Declared are the arguments that all probes have that d matches. It is not ok if the guest
	// declares none of them, or they differ. It makes no probes.
	Declared(d Desc) (args []ctypes.Arg, ok bool)
}

// An Arguer is a provider that reads an argument of a firing when it is asked for it, and
// leaves Firing.Args alone.
type Arguer interface {
	Provider
	// Arg is argument i of the firing, from 0; 0 where there is none.
	Arg(f *Firing, i int) uint64
}

// A RegReader is a provider that knows which registers it reads at a firing.
type RegReader interface {
	Provider
	// Reads lists the registers besides the program counter that Select, of probes that have
	// one, and Arg read at a hit of q at addr, for the arguments whose bit is set in
	// args. It is not ok if they read memory, too.
	Reads(q *Probe, addr uint64, args uint16) (regs []arch.Reg, ok bool)
}

// ArgRegs returns those of regs, the registers of arguments, whose bit is set in args.
func ArgRegs(regs []arch.Reg, args uint16) (out []arch.Reg) {
	for i, r := range regs {
		if args>>i&1 != 0 {
			out = append(out, r)
		}
	}
	return out
}
