// Package tiny holds our teaching kernel: the built ELF files with DWARF, one
// for each guest architecture, embedded, so that a tracer has something to
// trace with nothing downloaded.
//
// The sources are in src/, README.md draws the picture, and `make check`
// shows that the embedded files are what those sources build.
package tiny

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed tiny-*.elf
var files embed.FS

//go:embed src
var source embed.FS

// Source is the kernels' source, by the paths that their debug information has.
func Source() fs.FS { return source }

// Arches returns the guest architectures there is a kernel for, as kernel/arch
// names them, in alphabetical order.
func Arches() []string {
	names, _ := fs.Glob(files, "tiny-*.elf") // only a bad pattern is an error
	for i, name := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(name, "tiny-"), ".elf")
	}
	return names
}

// Kernel returns the ELF file of the kernel for a guest architecture; the bytes
// are the caller's own.
func Kernel(arch string) ([]byte, error) {
	data, err := files.ReadFile("tiny-" + arch + ".elf")
	if err != nil {
		return nil, fmt.Errorf("tiny kernel for %s: there is one for %s",
			arch, strings.Join(Arches(), ", "))
	}
	return data, nil
}
