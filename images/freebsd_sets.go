package images

import (
	"archive/tar"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mikelolasagasti/xz"

	"trapline/images/job"
)

// The sets of a release that an image is made of, and the file that lists them: a line for each, with
// the name of the archive, its SHA-256 and the number of its entries, separated by tabs.
const (
	setManifest = "MANIFEST"
	setBase     = "base"
	setKernel   = "kernel"
	setDebug    = "kernel-dbg"
)

const (
	maxManifest = 1 << 20   // bytes
	maxSetFile  = 512 << 20 // bytes of a file in a set
	maxSet      = 8 << 30   // bytes of a set, unpacked
	setDict     = 64 << 20  // bytes
)

// sets are those of a release in a directory, as MANIFEST says they should be.
type sets struct {
	dir      string
	packages []Package
}

// readSets compares the sets in a directory with their MANIFEST.
func readSets(ctx context.Context, dir string, p Progress) (*sets, error) {
	sums, err := readSetManifest(filepath.Join(dir, setManifest))
	if err != nil {
		return nil, err
	}
	s := &sets{dir: dir}
	for _, name := range []string{setBase, setKernel, setDebug} {
		file := name + ".txz"
		want, ok := sums[file]
		if !ok {
			return nil, fmt.Errorf("%s does not list %s", filepath.Join(dir, setManifest), file)
		}
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		p.Start("checking "+file, info.Size())
		sum, err := job.Hash(ctx, filepath.Join(dir, file), p)
		p.Done()
		if err != nil {
			return nil, err
		}
		if sum != want {
			return nil, fmt.Errorf("%s is damaged or of another release: its SHA-256 begins with %.12s, and %s has %.12s",
				filepath.Join(dir, file), sum, setManifest, want)
		}
		s.packages = append(s.packages, Package{Name: file, Size: info.Size(), SHA256: sum})
	}
	return s, nil
}

// readSetManifest reads the sums of archives, by name.
func readSetManifest(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 3 || len(fields[1]) != 64 {
			return nil, fmt.Errorf("%s is not the MANIFEST of a release: %.40q is not a line with a name and a SHA-256", path, strings.TrimSpace(line))
		}
		if _, err := hex.DecodeString(fields[1]); err != nil {
			return nil, fmt.Errorf("%s: the SHA-256 of %s: %w", path, fields[0], err)
		}
		sums[fields[0]] = fields[1]
	}
	return sums, nil
}

// errFound ends a walk through a set.
var errFound = errors.New("found")

// file copies one file of a set.
func (s *sets) file(ctx context.Context, store Store, set, want, dir, name string, p Progress) (StoredFile, error) {
	var kept StoredFile
	err := s.walk(ctx, set, p, func(path string, h *tar.Header, r io.Reader) (err error) {
		if path != want || h.Typeflag != tar.TypeReg {
			return nil
		}
		if kept, err = store.store(ctx, r, dir, name, h.Size, NoProgress{}); err != nil {
			return err
		}
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return kept, nil
	case err == nil:
		return kept, fmt.Errorf("%s.txz has no %s", set, want)
	}
	return kept, err
}

// walk calls visit for each entry of a set; path is relative, and has no ".." in it.
func (s *sets) walk(ctx context.Context, set string, p Progress, visit func(path string, h *tar.Header, r io.Reader) error) error {
	file := set + ".txz"
	f, err := os.Open(filepath.Join(s.dir, file))
	if err != nil {
		return err
	}
	defer f.Close()
	p.Start("unpacking "+file, -1)
	defer p.Done()
	z, err := xz.NewReader(f, setDict)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	limited := &io.LimitedReader{R: z, N: maxSet}
	for t := tar.NewReader(limited); ; {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case limited.N == 0:
			return fmt.Errorf("%s has more than %d GiB in it", file, maxSet>>30)
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		case ctx.Err() != nil:
			return ctx.Err()
		case h.Size > maxSetFile:
			return fmt.Errorf("%s: %s has %d MiB (at most %d)", file, h.Name, h.Size>>20, maxSetFile>>20)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		if err := visit(name, h, t); err != nil {
			if errors.Is(err, errFound) {
				return err
			}
			return fmt.Errorf("%s: %w", file, err)
		}
		p.Add(h.Size)
	}
}
