// Package owned reads and writes files that are this user's alone: what is found in the cache is used
// only where nobody else could have put it there.
package owned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrForeign is wrapped by the errors for a file or a directory that is not used because others than
// this user could have written it.
var ErrForeign = errors.New("another user owns it or could write to it")

// private returns an error that wraps ErrForeign unless this user (the effective one) owns what info
// is of, and nobody else has any of the rights in others.
func private(name string, info fs.FileInfo, others fs.FileMode) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() || info.Mode()&others != 0 {
		return fmt.Errorf("%s: %w", name, ErrForeign)
	}
	return nil
}

// Rights of others, in a file's mode.
const (
	OthersWrite fs.FileMode = 0o022
	OthersAny   fs.FileMode = 0o077
)

// Open opens a regular file in a directory for reading, if others have none of those rights in it and
// cannot write to the directory. It follows no symbolic link to the file.
func Open(dir, name string, others fs.FileMode) (*os.File, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", f.Name(), fs.ErrInvalid)
	}
	if err == nil {
		err = private(f.Name(), info, others)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Dir returns an error that wraps ErrForeign for a directory that others can write to.
func Dir(dir string) error {
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	return root.Close()
}

func openRoot(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = private(dir, info, OthersWrite)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// ReadFile reads a file that only this user can write to.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(filepath.Dir(path), filepath.Base(path), OthersWrite)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
