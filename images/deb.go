package images

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	archive "trapline/images/debian"
	"trapline/images/job"
)

// unpack takes the files that w wants out of a .deb file and writes them into dir.
// The package may hold gigabytes: they stream through, and once the wanted files
// are there the rest is not unpacked at all.
func (s Store) unpack(ctx context.Context, deb, dir string, w want, p Progress) (files []StoredFile, err error) {
	err = withPackage(deb, func(pkg *archive.Package) error {
		files, err = s.extract(ctx, pkg, dir, w, p)
		return err
	})
	return files, err
}

// withPackage calls f with a .deb file.
func withPackage(deb string, f func(*archive.Package) error) error {
	file, err := os.Open(deb)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	pkg, err := archive.OpenPackage(file, st.Size())
	if err == nil {
		defer pkg.Close()
		err = f(pkg)
	}
	if err != nil && !errors.Is(err, errNotThere) {
		name, _, _ := strings.Cut(filepath.Base(deb), "_")
		err = fmt.Errorf("unpacking %s: %w", name, err)
	}
	return err
}

// errNotThere is for a package that lacks a file.
var errNotThere = errors.New("is not in the package")

// extract reads a package up to the last of the wanted files.
func (s Store) extract(ctx context.Context, pkg *archive.Package, dir string, w want, p Progress) ([]StoredFile, error) {
	missing := map[string]bool{}
	for _, name := range w.files {
		missing[name] = true
	}
	var files []StoredFile
	for len(missing) > 0 {
		hdr, err := pkg.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("%s %w %s", firstKey(missing), errNotThere, w.pkg)
		}
		if err != nil {
			return nil, err
		}
		name, ok := w.files[path.Clean(hdr.Name)]
		if !ok || hdr.Typeflag != tar.TypeReg || !missing[name] {
			continue
		}
		delete(missing, name)
		f, err := s.store(ctx, pkg, dir, name, hdr.Size, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// store writes one file of the image.
func (s Store) store(ctx context.Context, r io.Reader, dir, name string, size int64, p Progress) (StoredFile, error) {
	p.Start("unpacking "+name, size)
	defer p.Done()
	out, err := s.createFile(filepath.Join(dir, name))
	if err != nil {
		return StoredFile{}, err
	}
	hash := sha256.New()
	err = job.Copy(ctx, io.MultiWriter(out, hash), r, p.Add)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return StoredFile{name, size, hex.EncodeToString(hash.Sum(nil))}, err
}

func firstKey(m map[string]bool) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys[0]
}
