package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"trapline/images/tiny"
)

// A tree is what modules for an image's kernel are built in: headers, makefiles and the
// programs that these call.
type tree struct {
	dir  string   // in which make runs
	args []string // of make
	// include has the header of static probes; "" for includeDir in dir.
	include string
}

// headers is the directory with the header of static probes.
func (t tree) headers() string { return cmp.Or(t.include, filepath.Join(t.dir, includeDir)) }

// includeDir is where a tree has the header of static probes.
const includeDir = "trapline"

// BuildModule builds the module whose sources and Makefile (Linux,
// Documentation/kbuild/modules.rst) are in the directory dir, for the kernel of an image in
// the cache, and returns the paths of what came of it: the files *.ko in dir. It can include
// tiny.ProbeHeader. What building takes is put into the cache the first time.
func (s Store) BuildModule(ctx context.Context, name, dir string, p Progress) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = hasMakefile(dir)
	}
	if err != nil {
		return nil, err
	}
	t, err := s.tree(ctx, name, p)
	if err != nil {
		return nil, fmt.Errorf("what modules for %s are built with: %w", name, err)
	}
	args := append(t.args, "M="+dir, "modules", jobs(),
		"KCFLAGS=-I"+t.headers()+" -fdebug-prefix-map="+t.dir+"=. -fdebug-prefix-map="+dir+"=.")
	if err := runMake(ctx, t.dir, "building "+filepath.Base(dir), p, args...); err != nil {
		return nil, err
	}
	built, err := filepath.Glob(filepath.Join(dir, "*.ko"))
	if err == nil && len(built) == 0 {
		err = fmt.Errorf("%s: make has built no module: does the Makefile say obj-m := NAME.o?", dir)
	}
	return built, err
}

func hasMakefile(dir string) error {
	for _, name := range []string{"Kbuild", "Makefile"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: there is no Makefile for a module: one line will do, obj-m := NAME.o", dir)
}

// tree finds the tree of an image, or makes it.
func (s Store) tree(ctx context.Context, name string, p Progress) (tree, error) {
	spec, err := s.Open(name)
	if err != nil {
		return tree{}, err
	}
	im, ok := find(name)
	cache, err := s.Path()
	if err != nil {
		return tree{}, err
	}
	switch {
	case spec.State == File:
		return ownTree(spec.Kernel, cache)
	case !ok || im.origin == nil:
		return tree{}, errors.New("its kernel loads no modules")
	}
	image := s.dirOf(name)
	m, err := readManifest(image, name)
	if err != nil {
		return tree{}, err
	}
	root := filepath.Join(cache, treesDir)
	if err := os.MkdirAll(root, 0o755); err != nil {
		return tree{}, err
	}
	unlock, err := lock(ctx, filepath.Join(root, fileName(name)+".lock"), p)
	if err != nil {
		return tree{}, err
	}
	defer unlock()
	final := filepath.Join(root, fileName(name)+"@"+m.Version)
	if _, err := os.Stat(final); errors.Is(err, fs.ErrNotExist) {
		err = s.makeTree(ctx, im, m, image, root, final, p)
		if err != nil {
			return tree{}, explain(ctx, err, cache)
		}
	}
	t, err := im.origin.tree(m, final)
	if err != nil {
		return tree{}, err
	}
	return t, t.addHeader()
}

// ownTree is the tree that a kernel of the user's was built in: the directory above its file where make and
// the configuration are. Nothing is written there but what make leaves.
func ownTree(kernel, cache string) (tree, error) {
	path, err := filepath.Abs(kernel)
	if err != nil {
		return tree{}, err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isBuildTree(dir) {
			t := tree{dir: dir, include: filepath.Join(cache, treesDir, includeDir)}
			return t, t.addHeader()
		}
		if dir == filepath.Dir(dir) {
			return tree{}, errors.New("it does not lie in the directory that it was built in (one with Makefile and .config): name the vmlinux there")
		}
	}
}

// isBuildTree reports whether a kernel has been configured in a directory.
func isBuildTree(dir string) bool {
	for _, name := range []string{"Makefile", ".config"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// makeTree makes a tree, and takes those of the image's other versions away.
func (s Store) makeTree(ctx context.Context, im image, m manifest, image, root, final string, p Progress) error {
	if err := removeStale(root, fileName(im.spec.Name)+"@"); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(root, fileName(im.spec.Name)+"@tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dirs, err := makeDirs(tmp, "debs", "tree")
	if err != nil {
		return err
	}
	if err := im.origin.makeTree(ctx, s, m, image, tmp, dirs[0], dirs[1], p); err != nil {
		return err
	}
	if err := os.Rename(dirs[1], final); err != nil {
		return err
	}
	return os.RemoveAll(partsDir(tmp, m.Name))
}

// addHeader puts the header where includeDir says, if it is not there.
func (t tree) addHeader() error {
	header, err := fs.ReadFile(tiny.Source(), "src/"+tiny.ProbeHeader)
	if err != nil {
		return err
	}
	path := filepath.Join(t.headers(), tiny.ProbeHeader)
	if have, err := os.ReadFile(path); err == nil && slices.Equal(have, header) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, header, 0o644)
}
