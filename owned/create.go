package owned

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// newPrefix begins the names of files that are being written. Their writers hold a lock (flock) on them.
const newPrefix = ".new-"

// Create makes a file of which others see all or nothing: write fills a new one, which takes the name
// path when it is whole. The directory is made if it is not there; it has to be one that only this
// user can write to. What a killed writer has left in it goes away.
func Create(path string, write func(*os.File) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := Dir(dir); err != nil {
		return err
	}
	f, err := newFile(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = write(f); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// WriteFile is Create with the content of the file.
func WriteFile(path string, data []byte) error {
	return Create(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// newFile makes a locked file and clears away what is left of others. The lock of the directory keeps
// a file from being seen before it is locked.
func newFile(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	if err := removeStale(d); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, newPrefix)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeStale removes what writers that are no longer there have left in a directory.
func removeStale(dir *os.File) error {
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, newPrefix) {
			removeUnlocked(filepath.Join(dir.Name(), name))
		}
	}
	return err
}

func removeUnlocked(name string) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if lock(f) == nil {
		os.Remove(name)
	}
}

// lock takes the lock of a file without waiting. It goes with the process.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
