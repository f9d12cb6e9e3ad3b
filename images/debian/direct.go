package debian

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"trapline/images/job"
)

// A direct reads Debian's archive without a program of the host's.
type direct struct {
	archive Archive
	index   *Index
	parts   string
}

// direct reads the lists of an architecture.
func (f Fetcher) direct(ctx context.Context, w Workplace, arch, suite string, p job.Progress) (direct, error) {
	p.Start("reading Debian's package lists", -1)
	defer p.Done()
	a := f.archive(suite)
	index, err := a.Packages(ctx, arch, p.Add)
	return direct{a, index, w.Parts}, err
}

func (d direct) Name() string { return "Debian's lists" }

func (d direct) Show(_ context.Context, v Versions, names ...string) ([]map[string]string, error) {
	var stanzas []map[string]string
	for _, name := range names {
		for i, e := range d.index.Lookup(name) {
			if i == 0 || v == Every {
				stanzas = append(stanzas, e.Fields)
			}
		}
	}
	return stanzas, nil
}

func (d direct) Download(ctx context.Context, dir string, pkgs []Listing, p job.Progress) error {
	files, err := d.files(pkgs)
	if err != nil {
		return err
	}
	if err := removeOthers(d.parts, files); err != nil {
		return err
	}
	return fetchFiles(ctx, d.archive, d.parts, dir, files, p)
}

// A namedFile is a file of the archive, and the name that it is to have.
type namedFile struct {
	File
	name string
}

// files finds the files of packages, of just the version and content that were chosen.
func (d direct) files(pkgs []Listing) ([]namedFile, error) {
	var files []namedFile
	for _, pkg := range pkgs {
		entries := d.index.Lookup(pkg.Name)
		i := slices.IndexFunc(entries, func(e Entry) bool {
			return e.Fields["Version"] == pkg.Version && strings.EqualFold(e.Fields["SHA256"], pkg.SHA256)
		})
		if i < 0 {
			return nil, errors.New("package " + pkg.Name + " is not in Debian's lists")
		}
		f, err := entries[i].File()
		if err != nil {
			return nil, err
		}
		files = append(files, namedFile{f, pkg.Name + "_" + pkg.SHA256 + ".deb"})
	}
	return files, nil
}

// removeOthers takes downloads away that are not wanted any more.
func removeOthers(parts string, wanted []namedFile) error {
	entries, err := os.ReadDir(parts)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		known := slices.ContainsFunc(wanted, func(f namedFile) bool { return f.SHA256 == e.Name() })
		if err == nil && !known {
			err = os.RemoveAll(filepath.Join(parts, e.Name()))
		}
	}
	return err
}

// fetchFiles puts files into dir. Those that have come, and the beginning of one that has not,
// stay in parts, too, if something goes wrong: by their SHA-256, which no two files share.
func fetchFiles(ctx context.Context, a Archive, parts, dir string, files []namedFile, p job.Progress) error {
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return err
	}
	defer os.Remove(parts) // if nothing has come
	var total int64
	for _, f := range files {
		total += f.Size
	}
	p.Start("downloading from Debian", total)
	defer p.Done()
	for _, f := range files {
		part := filepath.Join(parts, f.SHA256)
		if err := a.Fetch(ctx, f.File, part, p.Add); err != nil {
			removeEmpty(part)
			return err
		}
		if err := linkOrMove(part, filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func removeEmpty(path string) {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		os.Remove(path)
	}
}

// linkOrMove gives a file a second name, or, where file systems have no links, another one.
func linkOrMove(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return os.Rename(from, to)
}
