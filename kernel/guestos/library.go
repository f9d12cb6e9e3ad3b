package guestos

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
)

// A Library is a D program that is read before those that trace guests of a system, where they need
// it: types and translators for what the kernel keeps of processes, files and block I/O, and what
// the probes of some providers pass. Package probes/d/library reads it.
type Library struct {
	Name string // "sched.d"
	Text string
	// Tag and Member are of a structure of the kernel's: without them, the library is of no use.
	Tag, Member string
	// Names are in a program that needs it.
	Names *regexp.Regexp
}

//go:embed library
var libraries embed.FS

// libraryText is the text of a system's library.
func libraryText(system, name string) string {
	text, err := libraries.ReadFile("library/" + system + "/" + name)
	if err != nil {
		panic(fmt.Sprintf("library %s: %v", name, err)) // it is embedded
	}
	return string(text)
}

// LibraryNames are those of the libraries of all systems.
func LibraryNames() (names []string) {
	for _, s := range Systems {
		for _, l := range s.Libraries {
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return names
}
