package ctypes

// An Arg is what a guest declares of an argument of a probe, in words of C.
type Arg struct {
	Type string // "struct proc *"
	As   string // the type that D programs see, to which a translator leads; "" if it is Type
}

// Seen is the type that D programs see.
func (a Arg) Seen() string {
	if a.As != "" {
		return a.As
	}
	return a.Type
}
