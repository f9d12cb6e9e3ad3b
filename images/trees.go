package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"trapline/images/job"
)

// A Tree is what modules for an image's kernel are built in, kept in the cache.
type Tree struct {
	Name string // of the image and its version: "debian/amd64@6.1.192-2"
	Dir  string
	Size int64 // bytes of its files
}

// treesDir is where the cache has trees.
const treesDir = "trees"

// Trees lists the trees in the cache, by name.
func (s Store) Trees() ([]Tree, error) {
	cache, err := s.Path()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(cache, treesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Tree
	for _, e := range entries {
		file, version, ok := strings.Cut(e.Name(), "@")
		i := slices.IndexFunc(known, func(im image) bool { return fileName(im.spec.Name) == file })
		if !ok || i < 0 || strings.HasPrefix(version, "tmp-") {
			continue
		}
		dir := filepath.Join(cache, treesDir, e.Name())
		all = append(all, Tree{Name: known[i].spec.Name + "@" + version, Dir: dir, Size: job.SizeOf(dir)})
	}
	slices.SortFunc(all, func(a, b Tree) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// RemoveTree removes a tree by its name. It waits for who builds in it.
func (s Store) RemoveTree(ctx context.Context, name string, p Progress) error {
	all, err := s.Trees()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t Tree) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no tree %q: 'trapline image ls' lists them", name)
	}
	image, _, _ := strings.Cut(name, "@")
	unlock, err := lock(ctx, filepath.Join(filepath.Dir(all[i].Dir), fileName(image)+".lock"), p)
	if err != nil {
		return err
	}
	defer unlock()
	return os.RemoveAll(all[i].Dir)
}

// prune takes out of a kernel's prepared source what building modules does not use: all but its
// makefiles, headers and scripts, and what it has for one architecture.
func prune(dir, arch string) error {
	for _, part := range []struct {
		dir  string
		keep []string
	}{{dir, []string{"arch", "include", "scripts"}}, {filepath.Join(dir, "arch"), []string{arch}}} {
		entries, err := os.ReadDir(part.dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if !e.IsDir() || slices.Contains(part.keep, e.Name()) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(part.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
