package probes

// About is what the probes of a provider have in common.
type About struct {
	Stability Stability
	// Locals: they are at instructions of functions, whose local variables are known.
	Locals bool
	// Offsets: they are instructions, named by their offset in a function.
	Offsets bool
	// Names are those of the probes of each function, if all have the same.
	Names []string
	// Calls: they are where a process calls the kernel, and where it goes back to it: with an error
	// or without.
	Calls bool
}

// A Failer is a provider of system calls that knows their errors.
type Failer interface {
	// ErrorOf is the number of the error with which a call returns at a firing, 0 if it returns without
	// one. It is not ok if what arg1 is says so.
	ErrorOf(f *Firing) (errno int32, ok bool)
}

// Stability is how far something may be relied on: its name, what it means, and on which machines
// it is there. The words are those of DTrace.
type Stability struct{ Name, Data, Class string }

// Stabilities: of what is the same everywhere, and of what is the kernel's own.
var (
	Stable  = Stability{"Stable", "Stable", "Common"}
	Private = Stability{"Private", "Private", "ISA"}
)

// An Abouter is a provider that says so. Of another the probes are private and have nothing.
type Abouter interface {
	About() *About
}

var unknown = About{Stability: Private}

// AboutOf is what is known of the probes of a provider.
func AboutOf(p Provider) *About {
	if a, ok := p.(Abouter); ok {
		return a.About()
	}
	return &unknown
}

// A Hinter is a provider that makes probes when they are asked for in the right words.
type Hinter interface {
	// Hint says what a description of its probes lacks that matches nothing, "" if nothing.
	Hint(d Desc) string
}
