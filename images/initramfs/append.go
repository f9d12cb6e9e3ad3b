package initramfs

import (
	"bytes"
	"fmt"

	"github.com/u-root/u-root/pkg/cpio"
)

// A File is one to be added to an archive, readable by all.
type File struct {
	Path     string // without the leading slash, in a directory that is there
	Contents []byte
}

// Append gives an archive with more files: another archive behind it, which the kernel
// unpacks, too, even if the first is compressed. That may be empty.
func Append(archive []byte, files []File) ([]byte, error) {
	const align = 4 // of an archive behind another
	var buf bytes.Buffer
	buf.Write(archive)
	buf.Write(make([]byte, -len(archive)&(align-1)))
	w := cpio.Newc.Writer(&buf)
	for i, f := range files {
		r := cpio.StaticRecord(f.Contents, cpio.Info{Name: f.Path, Mode: cpio.S_IFREG | 0o644, Ino: uint64(i) + 1})
		if err := w.WriteRecord(r); err != nil {
			return nil, fmt.Errorf("adding %s to an initramfs: %w", f.Path, err)
		}
	}
	if err := cpio.WriteTrailer(w); err != nil {
		return nil, fmt.Errorf("adding to an initramfs: %w", err)
	}
	return buf.Bytes(), nil
}
