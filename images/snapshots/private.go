package snapshots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	othersWrite fs.FileMode = 0o022
	othersAny   fs.FileMode = 0o077
)

// openPrivate opens a regular file in a directory for reading, if both are this user's alone to
// write to. It follows no symbolic link to the file.
func openPrivate(dir, name string, others fs.FileMode) (*os.File, error) {
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

// openRoot opens a directory that only this user can write to.
func openRoot(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = private(dir, info, othersWrite)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}
