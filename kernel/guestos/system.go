package guestos

import (
	"slices"
	"strings"

	"trapline/kernel"
)

// A System is an operating system: what is known of all its kernels before one runs. Everything that
// depends on the operating system asks its System or the [OS] of a guest, and compares no names. A
// field that is empty says that such kernels have none of it.
type System struct {
	Name  string // in a word, as images.Spec has it: "linux"
	Title string // as people write it

	// Is reports whether a kernel with these symbols is one of the system's.
	Is func(*kernel.Symtab) bool
	// New makes the OS of a guest that runs the kernel img. Indexes of debug information are kept in
	// the directory cache; "" keeps none.
	New func(img *kernel.Image, cache string) (OS, error)
	// PanicLine reports whether the guest dies with a line of the kernel's log. It serves where
	// there is no image to make an OS of.
	PanicLine func(line string) bool

	Module      ModuleName // the kernel proper in descriptions of probes
	Banner      string     // symbol of the line that the kernel prints first
	Start       string     // function with which the kernel begins, while the text is there that it frees later
	ThreadTag   string     // tag of the structure that the kernel has for a thread
	Debug       string     // what people call the kernel's file with symbols, if they boot another
	Formats     []string   // kinds of kernel files, as boot.Kind names them, that need no look at symbols
	Modules     []string   // endings of the files of loadable modules
	Calls       *Calls     // system calls
	Tracepoints *Tracepoints
	Libraries   []Library // each after those that it needs
}

// Systems has a row for every operating system, in the order in which kernels are compared with them.
var Systems = []*System{Tiny, Linux, FreeBSD}

// Bare is the system of a kernel that is none of Systems: nothing is known of its threads.
var Bare = &System{Name: "bare", Title: "unknown", New: newBare, Module: ModuleName{"vmlinux", "kernel"}, Debug: "vmlinux"}

// Named is the system of that name, nil if there is none.
func Named(name string) *System {
	return find(func(s *System) bool { return s.Name == name })
}

// InFormat is the system whose kernels come in files of that kind, nil if that says nothing.
func InFormat(kind string) *System {
	return find(func(s *System) bool { return slices.Contains(s.Formats, kind) })
}

// Of is the system of a kernel with these symbols, Bare if it is not known.
func Of(tab *kernel.Symtab) *System {
	if s := find(func(s *System) bool { return s.Is(tab) }); s != nil {
		return s
	}
	return Bare
}

func find(is func(*System) bool) *System {
	if i := slices.IndexFunc(Systems, is); i >= 0 {
		return Systems[i]
	}
	return nil
}

// Detect finds out which operating system an image is, and makes the OS of a guest that runs it.
func Detect(img *kernel.Image, cache string) (OS, error) { return Of(img.Symtab()).New(img, cache) }

// ModuleFile is the name of a module by that of its file, without the ending. It is not ok for a file
// that is not named as loadable modules of some system are.
func ModuleFile(file string) (name string, ok bool) {
	for _, s := range Systems {
		for _, ending := range s.Modules {
			if name, ok := strings.CutSuffix(file, ending); ok {
				return name, true
			}
		}
	}
	return file, false
}

// Loadable ends the name of a module's file in the guest, which is not compressed.
const Loadable = ".ko"

// A ModuleName is what the kernel proper is called where modules are.
type ModuleName struct {
	Name  string // in probes
	Alias string // another name that is understood
}

// Means reports whether a description's module means a module of this name, which may be the kernel
// proper.
func (m ModuleName) Means(pattern, module string) bool {
	return kernel.Match(pattern, module) || module == m.Name && kernel.Match(pattern, m.Alias)
}
