package debian

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// An Extractor unpacks packages, as files of the user's, into a directory that is empty at
// first. Nothing is written outside of it: links are made when all files are there, so that no
// file is written through one.
type Extractor struct {
	dir   string
	links []*tar.Header
}

// NewExtractor unpacks into a directory.
func NewExtractor(dir string) *Extractor { return &Extractor{dir: dir} }

// A TarReader gives files one after the other, as a Package and a tar.Reader do.
type TarReader interface {
	Next() (*tar.Header, error)
	io.Reader
}

// Extract unpacks the files of r whose names, in what name makes of them, are not "". They have
// to be files, directories and links.
func (x *Extractor) Extract(ctx context.Context, r TarReader, name func(string) string) error {
	for {
		hdr, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if hdr.Name = name(hdr.Name); hdr.Name == "" {
			continue
		}
		if hdr.Typeflag == tar.TypeLink {
			hdr.Linkname = name(hdr.Linkname)
		}
		if !filepath.IsLocal(hdr.Name) {
			return fmt.Errorf("%q lies outside of the archive it is in", hdr.Name)
		}
		if err := x.extract(hdr, r); err != nil {
			return err
		}
	}
}

// SameName is for packages that are unpacked with the names that they have.
func SameName(name string) string { return filepath.Clean(name) }

func (x *Extractor) extract(hdr *tar.Header, r io.Reader) error {
	path := filepath.Join(x.dir, hdr.Name)
	switch hdr.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o755)
	case tar.TypeSymlink, tar.TypeLink:
		x.links = append(x.links, hdr)
		return nil
	case tar.TypeReg:
		return writeFile(path, r, fs.FileMode(hdr.Mode)&0o111|0o644)
	}
	return fmt.Errorf("%q is neither a file nor a directory nor a link", hdr.Name)
}

func writeFile(path string, r io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Finish makes the links: after all directories, so that none is made through another one, and
// hard ones first, so that what they name is a file.
func (x *Extractor) Finish() error {
	for _, make := range []func(*tar.Header, string) error{x.parent, x.hardLink, x.symlink} {
		for _, hdr := range x.links {
			if err := make(hdr, filepath.Join(x.dir, hdr.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Extractor) parent(_ *tar.Header, path string) error {
	return os.MkdirAll(filepath.Dir(path), 0o755)
}

func (x *Extractor) hardLink(hdr *tar.Header, path string) error {
	if hdr.Typeflag != tar.TypeLink {
		return nil
	}
	if !filepath.IsLocal(hdr.Linkname) {
		return fmt.Errorf("%q is a link to what lies outside of the archive", hdr.Name)
	}
	return os.Link(filepath.Join(x.dir, hdr.Linkname), path)
}

func (x *Extractor) symlink(hdr *tar.Header, path string) error {
	if hdr.Typeflag != tar.TypeSymlink {
		return nil
	}
	return os.Symlink(hdr.Linkname, path)
}
