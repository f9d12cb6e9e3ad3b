package images

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	archive "trapline/images/debian"
	"trapline/images/tiny"
)

// A Store finds images, those in the program and those in its cache. The zero
// value uses the user's cache.
type Store struct {
	Dir  string // the cache; empty for the user's (see the package comment)
	From string // a directory with the sets of a release, for images that are made of those

	// create opens a file of an image for writing; nil for os.Create. Tests put a
	// full disk here.
	create func(path string) (io.WriteCloser, error)
	// keys are those that an archive is signed with; nil for Debian's.
	keys *archive.Keyring
}

// fetcher fetches packages.
func (s Store) fetcher() archive.Fetcher { return archive.Fetcher{Keys: s.keys} }

// List returns every known image with its state. Specs of images that are not
// fetched have no files.
func (s Store) List() []Spec {
	specs := make([]Spec, 0, len(known))
	for _, im := range known {
		specs = append(specs, s.describe(im))
	}
	return specs
}

// Lookup describes the image of that name, whatever its state, or the kernel file
// at that path. The error wraps ErrUnknown if there is neither.
func (s Store) Lookup(nameOrPath string) (Spec, error) {
	if im, ok := find(nameOrPath); ok {
		return s.describe(im), nil
	}
	st, err := os.Stat(nameOrPath)
	switch {
	case err == nil && st.Mode().IsRegular():
		return Spec{Name: nameOrPath, State: File, Kernel: nameOrPath, Memory: defaultMemory}, nil
	case err == nil:
		return Spec{}, fmt.Errorf("%w %q: it is not a regular file", ErrUnknown, nameOrPath)
	case errors.Is(err, fs.ErrNotExist) && !looksLikePath(nameOrPath):
		return Spec{}, fmt.Errorf("%w %q: there are %s, or give the path of a kernel", ErrUnknown, nameOrPath, names())
	}
	return Spec{}, fmt.Errorf("%w: %w", ErrUnknown, err)
}

// defaultMemory is enough for a Linux kernel with a small root file system.
const defaultMemory = 256 << 20

// Open returns what is needed to run the image of that name or the kernel file at
// that path. The error wraps ErrNotFetched if Get has to be called first.
func (s Store) Open(nameOrPath string) (Spec, error) {
	spec, err := s.Lookup(nameOrPath)
	if err != nil {
		return Spec{}, err
	}
	im, _ := find(spec.Name)
	switch spec.State {
	case Embedded:
		spec.DiskData = tiny.Disk(im.embedded)
		spec.KernelData, err = tiny.Kernel(im.embedded)
	case NotFetched:
		return Spec{}, fmt.Errorf("image %s is %w: run 'trapline image get %s'", spec.Name, ErrNotFetched, spec.Name)
	case NotBuilt:
		text := fmt.Sprintf("image %s is not built: run 'trapline image build %s'", spec.Name, spec.Name)
		return Spec{}, reason{text, ErrNotFetched}
	case Damaged:
		return Spec{}, fmt.Errorf("image %s is damaged (%s), so it counts as %w: run 'trapline image %s %s'",
			spec.Name, spec.Problem, ErrNotFetched, im.origin.verb(), spec.Name)
	case Fetched, Built:
		spec.Initrd, err = im.origin.initrd(s, s.dirOf(spec.Name))
	}
	return spec, err
}

// Path returns the directory of the cache.
func (s Store) Path() (string, error) {
	if s.Dir != "" {
		return s.Dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", reason{"finding a directory for the cache: " + err.Error(), ErrNoCache}
	}
	return filepath.Join(dir, "trapline"), nil
}

// dirOf returns where the image of that name is when it is fetched, "" if there
// can be no cache.
func (s Store) dirOf(name string) string {
	dir, err := s.Path()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "images", fileName(name))
}

// fileName is the name of an image as one element of a path.
func fileName(name string) string { return strings.ReplaceAll(name, "/", "-") }

// describe fills in what the cache knows of an image.
func (s Store) describe(im image) Spec {
	spec := im.spec
	if im.origin == nil {
		return spec
	}
	with, without := states(im.origin)
	dir := s.dirOf(spec.Name)
	if dir == "" {
		spec.State = without
		return spec
	}
	m, err := readManifest(dir, spec.Name)
	spec.Version, spec.Release = m.Version, m.Release
	spec.Packages, spec.Files = m.Packages, m.Files
	switch {
	case errors.Is(err, fs.ErrNotExist):
		spec.State = without
	case err != nil:
		spec.State, spec.Problem = Damaged, err.Error()
	default:
		spec.State = with
		im.origin.place(&spec, dir)
	}
	return spec
}

func find(name string) (image, bool) {
	for _, im := range known {
		if im.spec.Name == name {
			return im, true
		}
	}
	return image{}, false
}

// names returns the known images as a list in a sentence.
func names() string {
	var list []string
	for _, im := range known {
		list = append(list, im.spec.Name)
	}
	return strings.Join(list, ", ")
}

func looksLikePath(s string) bool {
	return filepath.IsAbs(s) || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../")
}
