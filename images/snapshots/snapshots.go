// Package snapshots is the cache of machine snapshots: files under a key that says all
// that they depend on.
//
//	$XDG_CACHE_HOME/trapline/snapshots/
//	    0123abcd...        a whole snapshot, named by its key, renamed into place
//	    .new-*             one being written; its writer holds a lock (flock) on it
//
// Readers and writers of several processes do not disturb each other: a file is replaced
// by one rename, and an open one stays what it was. What a killed writer leaves behind
// is not locked and goes away with the next Create.
//
// A snapshot or a directory that another user owns, or that others can write to, is not used.
package snapshots

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"trapline/owned"
)

// DefaultLimit is the disk space that a cache may take, in bytes.
const DefaultLimit = 4 << 30

// A Cache is a directory with snapshots.
type Cache struct {
	Dir   string
	Limit int64 // bytes on disk; the least recently used go first. 0: DefaultLimit
}

// An Entry is a snapshot in the cache.
type Entry struct {
	Key  string
	Disk int64     // bytes on disk: holes do not count
	Used time.Time // when it was last made or opened
}

// Open opens a snapshot for reading and marks it as used. The error wraps fs.ErrNotExist
// if there is none, [owned.ErrForeign] if it or the directory is not this user's alone to write to.
func (c Cache) Open(key string) (*os.File, error) {
	f, err := c.Peek(key)
	if err == nil {
		now := time.Now()
		os.Chtimes(f.Name(), now, now) // a cache that cannot be written still serves
	}
	return f, err
}

// Peek opens a snapshot for reading and does not mark it.
func (c Cache) Peek(key string) (*os.File, error) {
	f, err := owned.Open(c.Dir, filepath.Base(key), owned.OthersWrite)
	if err != nil {
		return nil, fmt.Errorf("opening a snapshot: %w", err)
	}
	return f, nil
}

// Create makes a snapshot: write fills a new file, which takes its place when it is whole.
// Where there is no room the file is removed and the error says so. In a directory that others can
// write to nothing is made, and the error wraps [owned.ErrForeign].
func (c Cache) Create(key string, write func(*os.File) error) error {
	if err := owned.Create(c.path(key), write); err != nil {
		return fmt.Errorf("making a snapshot in %s: %w", c.Dir, err)
	}
	return c.shrink(key)
}

// Remove takes a snapshot out of the cache. The error wraps fs.ErrNotExist if there is none.
func (c Cache) Remove(key string) error {
	if err := os.Remove(c.path(key)); err != nil {
		return fmt.Errorf("removing a snapshot: %w", err)
	}
	return nil
}

// List lists the snapshots, the most recently used first.
func (c Cache) List() ([]Entry, error) {
	files, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing snapshots: %w", err)
	}
	var out []Entry
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(f.Name(), ".") {
			continue // gone meanwhile, or not one
		}
		disk := info.Size()
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			disk = st.Blocks * 512
		}
		out = append(out, Entry{f.Name(), disk, info.ModTime()})
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.Key, b.Key))
	})
	return out, nil
}

// path is where a snapshot is. A key is a name, not a path.
func (c Cache) path(key string) string { return filepath.Join(c.Dir, filepath.Base(key)) }

// shrink removes the least recently used until the rest fits; keep stays in any case.
func (c Cache) shrink(keep string) error {
	all, err := c.List()
	if err != nil {
		return err
	}
	limit := cmp.Or(c.Limit, DefaultLimit)
	var total int64
	for _, e := range all {
		if total += e.Disk; total > limit && e.Key != keep {
			if err := c.Remove(e.Key); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
