package images

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"trapline/images/initramfs"
)

// An Initrd is an initial root file system, which is made when it is asked for: a guest that
// goes on from a snapshot has it in its memory. The zero value is none.
type Initrd struct {
	id   string
	make func() ([]byte, error)
}

// NewInitrd is one that is there already.
func NewInitrd(data []byte) Initrd {
	return Initrd{fmt.Sprintf("%x", sha256.Sum256(data)), func() ([]byte, error) { return data, nil }}
}

// ID differs from that of any other that this program makes. It is "" for none.
func (i Initrd) ID() string { return i.id }

// Data makes it; nil for none.
func (i Initrd) Data() ([]byte, error) {
	if i.make == nil {
		return nil, nil
	}
	return i.make()
}

// With gives it with more files behind it, as initramfs.Append does.
func (i Initrd) With(files []initramfs.File) Initrd {
	h := sha256.New()
	fmt.Fprintf(h, "%q", i.id)
	for _, f := range files {
		fmt.Fprintf(h, "%q %x", f.Path, sha256.Sum256(f.Contents))
	}
	return Initrd{fmt.Sprintf("%x", h.Sum(nil)), func() ([]byte, error) {
		data, err := i.Data()
		if err != nil {
			return nil, err
		}
		return initramfs.Append(data, files)
	}}
}

// initrd is that of an image in dir whose init this is: what is not in this program is its
// busybox.
func (s Store) initrd(dir string, init []byte) (Initrd, error) {
	return s.fileInitrd(filepath.Join(dir, fileBusybox), func(path string) ([]byte, error) {
		busybox, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return initramfs.Builder{Init: init, Busybox: busybox}.Build()
	})
}

// fileInitrd is one that make makes of a file.
func (s Store) fileInitrd(path string, make func(path string) ([]byte, error)) (Initrd, error) {
	f, err := os.Open(path)
	if err != nil {
		return Initrd{}, err
	}
	defer f.Close()
	sum, err := s.Digest(f)
	if err != nil {
		return Initrd{}, err
	}
	return Initrd{fmt.Sprintf("%x", sum), func() ([]byte, error) { return make(path) }}, nil
}
