// Package front is the front end: it makes a checked, compiled program of D sources.
//
//	prepare  the libraries of the options, in order; the C preprocessor, if it is wanted
//	read     the guest's libraries and the sources -> trees without sugar, one after the other
//	check    each tree, knowing those before it: types, names, options
//	compile  all of them -> code.Program
//
// A syntax error comes after what is wrong above it: a program is checked as it is read.
package front

import (
	"io"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/d/check"
	"trapline/probes/d/option"
	"trapline/probes/ktext"
	"trapline/probes/modules"
	"trapline/probes/resolve"
)

// Config is what programs are compiled for.
type Config struct {
	Arch     *arch.Arch
	System   *guestos.System
	Text     *ktext.Text
	Types    check.Types       // of the kernel; nil: nothing is known of them
	Modules  []*modules.Module // whose types a program may name, too
	Registry *probes.Registry  // of the providers
	Resolver *resolve.Resolver
	Options  *option.Options // pragmas change them
	Stderr   io.Writer       // for messages of the preprocessor
}
