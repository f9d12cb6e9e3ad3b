// Package tiny holds our teaching kernel: the built ELF files with DWARF, one
// for each guest architecture and one for riscv64 without firmware, embedded,
// so that a tracer has something to trace with nothing downloaded.
//
// The sources are in src/, README.md draws the picture, and `make check`
// shows that the embedded files are what those sources build.
package tiny

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed tiny-*.elf tiny-*.img
var files embed.FS

//go:embed src
var source embed.FS

// Source is the kernels' source, by the paths that their debug information has.
func Source() fs.FS { return source }

// ProbeHeader is the name, in src, of the header with which kernel code has static probes.
const ProbeHeader = "dtrace_probe.h"

// Names returns the names of the kernels in alphabetical order: the guest architecture as
// kernel/arch names it, and for a variant a hyphen and a letter, as in "riscv64-m".
func Names() []string {
	names, _ := fs.Glob(files, "tiny-*.elf") // only a bad pattern is an error
	for i, name := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(name, "tiny-"), ".elf")
	}
	slices.Sort(names)
	return names
}

// Kernel returns the ELF file of the kernel of that name; the bytes are the caller's own.
func Kernel(name string) ([]byte, error) {
	data, err := files.ReadFile("tiny-" + name + ".elf")
	if err != nil {
		return nil, fmt.Errorf("tiny kernel for %s: there is one for %s", name, strings.Join(Names(), ", "))
	}
	return data, nil
}

// Disk returns the image of the disk from which the kernel of that name reads its programs,
// nil if it has them in it.
func Disk(name string) []byte {
	data, _ := files.ReadFile("tiny-" + name + ".img") // there is one, or there is none
	return data
}
