package images

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"trapline/images/job"
)

// manifestName is written last: a directory without it is not an image.
const manifestName = "manifest.json"

// manifestFormat counts up when a new trapline cannot use what an old one fetched.
const manifestFormat = 1

// A StoredFile is a file of a fetched image.
type StoredFile struct {
	Name   string `json:"name"`   // in the directory of the image
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // in hex
}

// manifest describes a fetched image; it pins what was fetched.
type manifest struct {
	Format   int          `json:"format"`
	Name     string       `json:"name"`
	Version  string       `json:"version"`
	Release  string       `json:"release"`
	Recipe   string       `json:"recipe,omitempty"` // how it was built: see origin
	Packages []Package    `json:"packages"`
	Files    []StoredFile `json:"files"`
}

func (m manifest) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), append(text, '\n'), 0o644)
}

// readManifest reads the manifest in dir and takes a quick look at the files: they
// are there, have the right size and begin as they should. It reads a few bytes of
// each, so it may be done at every start. The error wraps os.ErrNotExist if there
// is no manifest.
func readManifest(dir, name string) (manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return manifest{}, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return manifest{}, fmt.Errorf("%s: %v", manifestName, err)
	}
	if m.Format != manifestFormat || m.Name != name {
		return manifest{}, fmt.Errorf("%s is of another version of trapline", manifestName)
	}
	if len(m.Files) == 0 {
		return manifest{}, fmt.Errorf("%s lists no files", manifestName)
	}
	for _, f := range m.Files {
		if err := f.look(dir); err != nil {
			return m, err
		}
	}
	return m, nil
}

// magics are the first bytes of files that have some.
var magics = map[string]string{
	"vmlinux": "\x7fELF",
	"vmlinuz": "MZ",
	"busybox": "\x7fELF",
}

func (f StoredFile) look(dir string) error {
	file, err := os.Open(filepath.Join(dir, f.Name))
	if err != nil {
		return fmt.Errorf("%s is missing", f.Name)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	if st.Size() != f.Size {
		return fmt.Errorf("%s has %d bytes instead of %d", f.Name, st.Size(), f.Size)
	}
	start := make([]byte, len(magics[f.Name]))
	if _, err := io.ReadFull(file, start); err != nil || !bytes.Equal(start, []byte(magics[f.Name])) {
		return fmt.Errorf("%s is damaged", f.Name)
	}
	return nil
}

// verify reads every file of the image and compares it with the manifest.
func (m manifest) verify(ctx context.Context, dir string, p Progress) error {
	var total int64
	for _, f := range m.Files {
		total += f.Size
	}
	p.Start("checking "+m.Name, total)
	defer p.Done()
	for _, f := range m.Files {
		sum, err := job.Hash(ctx, filepath.Join(dir, f.Name), p)
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("%s is damaged", f.Name)
		}
	}
	return nil
}
