package images

import (
	"cmp"
	"slices"
	"strings"
)

// Needs are what kernels of an operating system need on our machines, besides what the user gives them.
type Needs struct {
	OS string // as a Spec has it
	// words are those of the command line, by architecture.
	words map[string]string
	// ioapic is the architecture whose machine is to have an I/O APIC, "" for none.
	ioapic string
	// burst is how many bytes its serial lines take at once, 0 for any number.
	burst int
	// alone are those of them that are for a machine with one CPU.
	alone []string
}

// needs has a row for each operating system that needs anything.
var needs = []*Needs{linuxNeeds, freebsdNeeds}

// NeedsOf are those of an operating system, nil if it needs nothing.
func NeedsOf(os string) *Needs {
	if i := slices.IndexFunc(needs, func(n *Needs) bool { return n.OS == os }); i >= 0 {
		return needs[i]
	}
	return nil
}

// Append is what the command line of any such kernel needs on our machine of an architecture, "" if
// there is no such machine.
func (n *Needs) Append(arch string) string {
	if n == nil {
		return ""
	}
	return n.words[arch]
}

// IOAPIC reports whether the machine of an architecture is to have an I/O APIC.
func (n *Needs) IOAPIC(arch string) bool { return n != nil && n.ioapic == arch }

// Burst is how many bytes a serial line of such a guest takes at once, 0 for any number.
func (n *Needs) Burst() int {
	if n == nil {
		return 0
	}
	return n.burst
}

// AppendFor is an image's command line for that many CPUs.
func (n *Needs) AppendFor(cpus int, words string) string {
	if n == nil || cpus < 2 {
		return words
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(words), func(w string) bool {
		return slices.Contains(n.alone, w)
	}), " ")
}

// RootOf is the root file system with our init for any kernel of an operating system and an
// architecture, that of an image with such a kernel: the Spec's Initrd or Disk. The error wraps
// ErrNotFetched if Get has to be called first.
func (s Store) RootOf(os, arch string) (Spec, error) {
	var first error
	for _, im := range known {
		if im.spec.Arch != arch || im.spec.OS != os {
			continue
		}
		spec, err := s.Open(im.spec.Name)
		if err == nil {
			return spec, nil
		}
		first = cmp.Or(first, err)
	}
	return Spec{}, first
}
