package debian

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"trapline/images/job"
)

// directSource fetches the newest version of a source package from the archive and unpacks it
// into dir/source.
func (f Fetcher) directSource(ctx context.Context, w Workplace, dir, name string, p job.Progress) (Listing, error) {
	files, err := f.fetchSource(ctx, w, dir, name, p)
	if err != nil {
		return Listing{}, err
	}
	p.Start("unpacking the source of "+name, -1)
	defer p.Done()
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		return Listing{}, err
	}
	if err := unpackSource(ctx, files, source); err != nil {
		return Listing{}, fmt.Errorf("unpacking the source of %s: %w", name, err)
	}
	return describeSource(ctx, files[".dsc"])
}

// fetchSource puts the files of a source package into dir, and returns their paths by what
// their names end in.
func (f Fetcher) fetchSource(ctx context.Context, w Workplace, dir, name string, p job.Progress) (map[string]string, error) {
	a := f.archive("")
	p.Start("reading Debian's lists of sources", -1)
	index, err := a.Sources(ctx, p.Add)
	p.Done()
	if err != nil {
		return nil, err
	}
	entries := index.Lookup(name)
	if len(entries) == 0 {
		return nil, fmt.Errorf("source package %s is not in Debian's lists", name)
	}
	list, err := entries[0].Files()
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	var files []namedFile
	for _, f := range list {
		file := path.Base(f.URL)
		files = append(files, namedFile{f, file})
		for _, part := range []string{".orig.tar.", ".debian.tar.", ".dsc"} {
			if strings.Contains(file, part) && !strings.HasSuffix(file, ".asc") {
				paths[part] = filepath.Join(dir, file)
			}
		}
	}
	if len(paths) != 3 {
		return nil, fmt.Errorf("source package %s is not in the format 3.0 (quilt)", name)
	}
	return paths, fetchFiles(ctx, a, w.Parts, dir, files, p)
}

// unpackSource unpacks a source package of the format 3.0 (quilt) (dpkg-source(1)) into a
// directory: the original, the directory debian, and its patches.
func unpackSource(ctx context.Context, files map[string]string, source string) error {
	if _, err := job.Run(ctx, "", "tar", "-C", source, "--strip-components=1", "-xf", files[".orig.tar."]); err != nil {
		return err
	}
	if _, err := job.Run(ctx, "", "tar", "-C", source, "-xf", files[".debian.tar."]); err != nil {
		return err
	}
	const patches = "debian/patches"
	series, err := os.ReadFile(filepath.Join(source, patches, "series"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for line := range strings.Lines(string(series)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name[0] == '#' {
			continue
		}
		// No questions, no fuzz, no backups, and nothing that is applied already.
		if _, err := job.Run(ctx, source, "patch", "-t", "-N", "-F0", "-s", "-p1", "--no-backup-if-mismatch", "-i", filepath.Join(patches, name)); err != nil {
			return err
		}
	}
	return nil
}
