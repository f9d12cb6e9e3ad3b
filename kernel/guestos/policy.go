package guestos

import (
	"fmt"
	"slices"
	"strings"
)

// A Policy says what is not probed because the tracer of an operating system, which runs in the kernel,
// would not survive it. What no trampoline can displace is never probed, whatever the policy; nil is the
// policy that leaves out nothing else.
type Policy struct {
	Name string // a value of the option kinstpolicy
	// Function says why the tracer leaves alone a function of that name, "" if it does not.
	Function func(name string) string
	// Code reports whether it looks at the instructions of a function, too (package ktext).
	Code bool
	// Sized reports whether it knows functions by the sizes in the symbol table, and has none where that
	// gives none.
	Sized bool
}

// Policies are those that there are. With each of them what the guest's own tracers leave alone
// (OS.Unsafe) is left out.
var Policies = []*Policy{LinuxPolicy, FreeBSDPolicy}

// PolicyNames are the values of the option kinstpolicy.
func PolicyNames() string {
	names := []string{nothingElse}
	for _, p := range Policies {
		names = append(names, p.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// String is the name.
func (p *Policy) String() string {
	if p == nil {
		return nothingElse
	}
	return p.Name
}

// nothingElse is the name of the policy nil.
const nothingElse = "all"

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (*Policy, error) {
	if name == nothingElse {
		return nil, nil
	}
	if i := slices.IndexFunc(Policies, func(p *Policy) bool { return p.Name == name }); i >= 0 {
		return Policies[i], nil
	}
	return nil, fmt.Errorf("%s, not %q", PolicyNames(), name)
}

// LinuxPolicy leaves out what Linux keeps its kprobes away from, in a guest that says so.
var LinuxPolicy = &Policy{Name: "linux", Function: func(string) string { return "" }}
