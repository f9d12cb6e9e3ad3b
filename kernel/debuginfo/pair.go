package debuginfo

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"trapline/kernel"
)

// Root is where systems keep debug information apart from programs.
const Root = "/usr/lib/debug"

// HasDWARF reports whether an image has debug information itself.
func HasDWARF(img *kernel.Image) bool {
	data, _, ok := img.Section(".debug_info")
	return ok && len(data) > 0
}

// Separate opens the file that the debug information of an image has been moved to, nil if
// there is none. It looks where gdb does: by build ID below root, then for the name in
// .gnu_debuglink beside the image, in .debug there, and below root. A file that was built
// for another image is not taken; the mismatches name it and the image, and say why. The
// file must be closed.
func Separate(img *kernel.Image, root string) (debug *kernel.Image, mismatches []error) {
	if id := img.BuildID(); len(id) > 2 {
		path := filepath.Join(root, ".build-id", id[:2], id[2:]+".debug")
		if debug, err := openPair(img, path, nil); debug != nil || err != nil {
			return debug, appendError(nil, err)
		}
	}
	name, sum, ok := debugLink(img)
	if !ok {
		return nil, nil
	}
	dir, err := filepath.Abs(filepath.Dir(img.Name()))
	if err != nil {
		return nil, nil
	}
	for _, d := range []string{dir, filepath.Join(dir, ".debug"), filepath.Join(root, dir)} {
		debug, err := openPair(img, filepath.Join(d, name), &sum)
		mismatches = appendError(mismatches, err)
		if debug != nil {
			return debug, mismatches
		}
	}
	return nil, mismatches
}

func appendError(errs []error, err error) []error {
	if err == nil {
		return errs
	}
	return append(errs, err)
}

// debugLink is what .gnu_debuglink says: the name of a file, and the CRC-32 of what is in it.
func debugLink(img *kernel.Image) (name string, sum uint32, ok bool) {
	data, _, ok := img.Section(".gnu_debuglink")
	n := bytes.IndexByte(data, 0)
	if !ok || n <= 0 || len(data) < (n+4)&^3+4 {
		return "", 0, false
	}
	return filepath.Base(string(data[:n])), le.Uint32(data[(n+4)&^3:]), true
}

// openPair opens a file if it is there. It is an error that it is not the image's: that
// its checksum is another, if that is known, or its build ID.
func openPair(img *kernel.Image, path string, sum *uint32) (*kernel.Image, error) {
	if own, err := filepath.Abs(img.Name()); err == nil && own == path {
		return nil, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, nil
	}
	if sum != nil {
		if err := checkSum(img, path, *sum); err != nil {
			return nil, err
		}
	}
	debug, err := kernel.Open(path)
	if err != nil {
		return nil, err
	}
	if err := SameBuild(img, debug); err != nil {
		debug.Close()
		return nil, err
	}
	return debug, nil
}

func checkSum(img *kernel.Image, path string, want uint32) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if have := crc32.ChecksumIEEE(data); have != want {
		return fmt.Errorf("%s does not belong to %s: its checksum is %08x, .gnu_debuglink has %08x", path, img.Name(), have, want)
	}
	return nil
}

// SameBuild says in one line that a debug file is not that of an image: both have build
// IDs, and they differ.
func SameBuild(img, debug *kernel.Image) error {
	if a, b := img.BuildID(), debug.BuildID(); a != b && a != "" && b != "" {
		return fmt.Errorf("%s does not belong to %s: their build IDs differ", debug.Name(), img.Name())
	}
	return nil
}
