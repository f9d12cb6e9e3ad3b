// Command pinned fetches what trapline is built against, each package of Debian's by its checksum,
// so that every build has the same emulator, whatever its host has.
//
//	go run ./packaging/pinned library DIR    the emulator library and its headers
//	go run ./packaging/pinned sysroot DIR    the C library that released binaries are linked against
//
// DIR is made anew. The site is that of the host's apt where there is one, then Debian's own. The
// environment variable DEBIAN_SITE names another one.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A pin is a package, found by its checksum.
type pin struct {
	path   string // in the archive
	sha256 string // in hexadecimal digits
}

//go:embed packages.txt
var packages string

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pinned library|sysroot DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pinned:", err)
		os.Exit(1)
	}
}

func run(set, dir string) error {
	arch, err := hostArch()
	if err != nil {
		return err
	}
	keep, ok := layouts[set]
	pins := pinsOf(packages, arch, set)
	if !ok || len(pins) == 0 {
		return fmt.Errorf("there is no %s for %s hosts", set, arch)
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := fill(tmp, pins, keep); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(filepath.Join(tmp, "root"), dir)
}

// fill makes tmp/root of the packages.
func fill(tmp string, pins []pin, keep layout) error {
	root := filepath.Join(tmp, "root")
	if err := os.Mkdir(root, 0o777); err != nil {
		return err
	}
	from := sites()
	for _, p := range pins {
		deb, err := fetch(tmp, from, p)
		if err != nil {
			return err
		}
		if err := unpack(deb, root, keep); err != nil {
			return fmt.Errorf("unpacking %s: %w", filepath.Base(p.path), err)
		}
	}
	return nil
}

// pinsOf reads the lines of text that are for an architecture and a set.
func pinsOf(text, arch, set string) []pin {
	var pins []pin
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == arch && f[1] == set {
			pins = append(pins, pin{path: f[2], sha256: f[3]})
		}
	}
	return pins
}

// hostArch returns Debian's name of the host's architecture.
func hostArch() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("asking for the host's architecture: %w", err)
	}
	machine := unix.ByteSliceToString(u.Machine[:])
	arch, ok := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[machine]
	if !ok {
		return "", fmt.Errorf("hosts of architecture %s are not supported (want x86_64 or aarch64)", machine)
	}
	return arch, nil
}
