// Package library holds the D programs that are read before the user's: types and
// translators for what a guest's kernel keeps of processes, files and block I/O, and what the
// probes of some providers pass to programs. One is read only where a program uses a name that
// it defines, so that others pay nothing.
package library

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"trapline/probes/d/syntax"
)

//go:embed *.d
var files embed.FS

// A File is a library.
type File struct {
	Name string // "sched.d"
	Text string
	// Tag and Member are of a structure of the kernel's: without them, the library is of no use.
	Tag, Member string
}

// linux are those for Linux guests, each after those that it needs.
var linux = []struct {
	name        string
	tag, member string         // see File
	names       *regexp.Regexp // in a program that needs it
}{
	{"procfs.d", "task_struct", "group_leader", regexp.MustCompile(`\b(psinfo_t|lwpsinfo_t|curpsinfo|curlwpsinfo|struct psinfo|struct lwpsinfo|CLD_[A-Z]+|sched:|proc:)`)},
	{"io.d", "request", "__data_len", regexp.MustCompile(`\b(bufinfo_t|devinfo_t|fileinfo_t|struct bufinfo|struct devinfo|struct fileinfo|B_READ|B_WRITE|io:)`)},
	{"sched.d", "rq", "cpu", regexp.MustCompile(`\b(cpuinfo_t|struct cpuinfo|sched:)`)},
	{"proc.d", "task_struct", "group_leader", regexp.MustCompile(`\bproc:`)},
}

// Probe is the declaration of a provider's probe, nil if the library has none.
func (f File) Probe(provider, name string) *syntax.ProbeDecl {
	any := func(string) bool { return true } // as the name of a type
	prog, err := syntax.Parse(f.Name, []byte(f.Text), syntax.Options{IsType: any})
	if err != nil {
		panic(fmt.Sprintf("library %s: %v", f.Name, err)) // as TestParses would have found
	}
	for _, item := range prog.Items {
		p, ok := item.(*syntax.Provider)
		if !ok || p.Name != provider {
			continue
		}
		for _, d := range p.Probes {
			if strings.ReplaceAll(d.Name, "__", "-") == name {
				return d
			}
		}
	}
	return nil
}

// dependsOn reports whether a program says that it does.
func dependsOn(program, name string) bool {
	return regexp.MustCompile(`#\s*pragma\s+D\s+depends_on\s+library\s+` + regexp.QuoteMeta(name)).MatchString(program)
}

// Names are those of the libraries that there are.
func Names() (names []string) {
	for _, l := range linux {
		names = append(names, l.name)
	}
	return names
}

// For gives the libraries of a guest's operating system, by the name of package guestos, that a
// program needs. Text may be in a comment: that costs some time.
func For(os, program string) (needed []File) {
	for _, l := range linux {
		if os != "linux" || !l.names.MatchString(program) && !dependsOn(program, l.name) {
			continue
		}
		text, err := files.ReadFile(l.name)
		if err != nil {
			panic(fmt.Sprintf("library %s: %v", l.name, err)) // it is embedded
		}
		needed = append(needed, File{l.name, string(text), l.tag, l.member})
	}
	return needed
}
