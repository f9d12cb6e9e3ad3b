package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"trapline/images/job"
)

// Source unpacks the newest source package of a name, with Debian's patches, into dir/source.
func (f Fetcher) Source(ctx context.Context, w Workplace, dir, name string, p job.Progress) (Listing, error) {
	if HasApt() {
		return aptSource(ctx, w.Tmp, dir, name, p)
	}
	return f.directSource(ctx, w, dir, name, p)
}

// aptSource is Source by apt. The host's lists seldom know of sources, so lists of our
// own are made from its servers.
func aptSource(ctx context.Context, tmp, dir, name string, p job.Progress) (Listing, error) {
	a, updateErr := sourceLists(ctx, filepath.Join(tmp, "apt-source"), "/etc/apt", p)
	p.Start("downloading the source of "+name, -1)
	defer p.Done()
	args := append(a.options(), "source", "--download-only", name)
	if _, err := job.Run(ctx, dir, "apt-get", args...); err != nil {
		if updateErr != nil {
			err = updateErr
		}
		return Listing{}, aptError(err)
	}
	dscs, err := filepath.Glob(filepath.Join(dir, "*.dsc"))
	if err == nil && len(dscs) != 1 {
		err = fmt.Errorf("apt-get: the source of %s was not downloaded", name)
	}
	if err != nil {
		return Listing{}, err
	}
	// apt has compared the files with its signed lists; not every host has the key
	// of the developer who signed the .dsc file.
	if _, err := job.Run(ctx, dir, "dpkg-source", "--no-check", "-x", dscs[0], "source"); err != nil {
		return Listing{}, err
	}
	return describeSource(ctx, dscs[0])
}

// describeSource describes a source package by its .dsc file, which holds the
// checksums of all others.
func describeSource(ctx context.Context, dsc string) (Listing, error) {
	text, err := os.ReadFile(dsc)
	if err != nil {
		return Listing{}, err
	}
	sum, err := job.Hash(ctx, dsc, job.NoProgress{})
	if err != nil {
		return Listing{}, err
	}
	for _, st := range parseStanzas(string(text)) {
		if v := st["Version"]; v != "" {
			return Listing{st["Source"] + " (source)", v, int64(len(text)), sum}, nil
		}
	}
	return Listing{}, fmt.Errorf("%s has no version", filepath.Base(dsc))
}

// sourceLists makes an apt with lists of source packages below dir, from the
// servers in the host's configuration, which is in etc.
func sourceLists(ctx context.Context, dir, etc string, p job.Progress) (apt, error) {
	parts := filepath.Join(dir, "sources.d")
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return apt{}, err
	}
	files, err := filepath.Glob(filepath.Join(etc, "sources.list.d", "*.*"))
	if err != nil {
		return apt{}, err
	}
	for _, path := range append(files, filepath.Join(etc, "sources.list")) {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // no such file, or none that apt could read
		}
		name := filepath.Base(path)
		if name == "sources.list" {
			name = "main.list"
		}
		if err := os.WriteFile(filepath.Join(parts, name), []byte(asSources(string(text))), 0o644); err != nil {
			return apt{}, err
		}
	}
	host, err := HostArch(ctx)
	if err != nil {
		return apt{}, err
	}
	return ownListsFrom(ctx, dir, host, parts, p)
}

// asSources turns a list of servers for programs into one for sources, in both of
// apt's formats (sources.list(5)).
func asSources(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "deb-src"): // would be there twice
		case strings.HasPrefix(line, "deb "), strings.HasPrefix(line, "deb\t"):
			out.WriteString("deb-src" + line[len("deb"):])
		case strings.HasPrefix(line, "Types:"):
			out.WriteString("Types: deb-src\n")
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}
