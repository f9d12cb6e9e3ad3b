package probes

import (
	"fmt"
	"strings"

	"trapline/kernel"
	"trapline/probes/d/syntax"
)

// A Desc describes probes by the four parts of their names. A probe's own Desc is
// literal; one that a script writes is a pattern: each part is one of [kernel.Match], for which
// an empty part stands for any.
type Desc struct {
	Provider, Module, Function, Name string
}

// A Part is one of the four parts of a description, from the left.
type Part int

// Parts of a description.
const (
	ProviderPart Part = iota
	ModulePart
	FunctionPart
	NamePart
)

var partNames = [...]string{"provider", "module", "function", "name"}

func (p Part) String() string { return partNames[p] }

// ParseDesc reads "provider:module:function:name". Fewer parts are aligned to the
// right: "f:n" is a function and a name, "n" a name. Behind a provider and a module, a function
// may be a path of C++ or Rust: "kinst::core::fmt::write:3", "kinst::core::fmt::*".
func ParseDesc(s string) (Desc, error) { return ParseDescTo(s, NamePart) }

// ParseDescTo reads a description whose last part is last, as the options -f
// (FunctionPart), -m (ModulePart) and -P (ProviderPart) of dtrace(1) take it: with
// FunctionPart, "m:f" is a module and a function.
func ParseDescTo(s string, last Part) (Desc, error) {
	parts := syntax.Parts(s)
	if len(parts) > int(last)+1 {
		return Desc{}, fmt.Errorf("probe description %q has %d parts: at most %d end in a %s", s, len(parts), last+1, last)
	}
	var d Desc
	first := int(last) + 1 - len(parts)
	for i, text := range parts {
		text = strings.TrimSpace(text)
		if err := checkPart(text); err != nil {
			return Desc{}, fmt.Errorf("probe description %q: %w", s, err)
		}
		*d.part(Part(first + i)) = text
	}
	return d, nil
}

func checkPart(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
		return fmt.Errorf("%q holds a blank or control character", s)
	}
	return nil
}

func (d *Desc) part(p Part) *string {
	return [...]*string{&d.Provider, &d.Module, &d.Function, &d.Name}[p]
}

// String gives all four parts: "kinst:vmlinux:vfs_read:3", ":::BEGIN".
func (d Desc) String() string {
	return d.Provider + ":" + d.Module + ":" + d.Function + ":" + d.Name
}

// Match reports whether d as a pattern matches p.
func (d Desc) Match(p Desc) bool {
	return kernel.Match(d.Provider, p.Provider) && kernel.Match(d.Module, p.Module) &&
		kernel.Match(d.Function, p.Function) && kernel.Match(d.Name, p.Name)
}
