package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// linuxSourcePackage depends on the package of the newest source.
const linuxSourcePackage = "linux-source"

var linuxSourceDependency = regexp.MustCompile(`\b(linux-source-[0-9.]+)`)

// sources puts the newest source of Linux into the directory linux.
func (b *built) sources(ctx context.Context, s Store, w workplace, linux string, p Progress) ([]Package, error) {
	host, err := hostArch(ctx)
	if err != nil {
		return nil, err
	}
	var pkgs []Package
	err = s.fetchPackages(ctx, w, host, "", p, func(from packages) ([]Package, error) {
		pkg, err := linuxSource(ctx, from, p)
		pkgs = []Package{pkg}
		return pkgs, err
	})
	if err != nil {
		return nil, err
	}
	deb, err := findDeb(w.debs, pkgs[0])
	if err != nil {
		return nil, err
	}
	if err := checkDeb(ctx, deb, pkgs[0], p); err != nil {
		return nil, err
	}
	const tarball = "linux.tar.xz"
	wanted := want{pkgs[0].Name, map[string]string{"usr/src/" + pkgs[0].Name + ".tar.xz": tarball}}
	if _, err := s.unpack(ctx, deb, w.tmp, wanted, p); err != nil {
		return nil, err
	}
	os.Remove(deb)
	return pkgs, untar(ctx, filepath.Join(w.tmp, tarball), linux, "unpacking the source of Linux", p)
}

// linuxSource finds the package with the newest source.
func linuxSource(ctx context.Context, from packages, p Progress) (Package, error) {
	p.Start("asking "+from.name()+" for the newest source of Linux", -1)
	defer p.Done()
	stanzas, err := from.show(ctx, newest, linuxSourcePackage)
	if err != nil {
		return Package{}, err
	}
	if len(stanzas) == 0 {
		return Package{}, fmt.Errorf("package %s is not in Debian's lists", linuxSourcePackage)
	}
	name := linuxSourceDependency.FindString(stanzas[0]["Depends"])
	if name == "" {
		return Package{}, fmt.Errorf("package %s depends on no source: %q", linuxSourcePackage, stanzas[0]["Depends"])
	}
	stanzas, err = from.show(ctx, newest, name)
	if err != nil {
		return Package{}, err
	}
	return choose(stanzas, name, "")
}

// untar unpacks an archive whose files all lie in one directory, and removes it.
func untar(ctx context.Context, archive, dir, what string, p Progress) error {
	p.Start(what, -1)
	defer p.Done()
	if _, err := run(ctx, "", "tar", "-C", dir, "--strip-components=1", "-xf", archive); err != nil {
		return err
	}
	return os.Remove(archive)
}

const busyboxSourcePackage = "busybox"

// busyboxSource unpacks Debian's source of busybox, with Debian's patches, into
// dir/source.
func (s Store) busyboxSource(ctx context.Context, w workplace, dir string, p Progress) (Package, error) {
	if hasApt() {
		return aptSource(ctx, w.tmp, dir, p)
	}
	return s.directSource(ctx, w, dir, busyboxSourcePackage, p)
}

// aptSource is busyboxSource by apt. The host's lists seldom know of sources, so lists of our
// own are made from its servers.
func aptSource(ctx context.Context, tmp, dir string, p Progress) (Package, error) {
	a, updateErr := sourceLists(ctx, filepath.Join(tmp, "apt-source"), "/etc/apt", p)
	p.Start("downloading the source of busybox", -1)
	defer p.Done()
	args := append(a.options(), "source", "--download-only", busyboxSourcePackage)
	if _, err := run(ctx, dir, "apt-get", args...); err != nil {
		if updateErr != nil {
			err = updateErr
		}
		return Package{}, aptError(err)
	}
	dscs, err := filepath.Glob(filepath.Join(dir, "*.dsc"))
	if err == nil && len(dscs) != 1 {
		err = fmt.Errorf("apt-get: the source of %s was not downloaded", busyboxSourcePackage)
	}
	if err != nil {
		return Package{}, err
	}
	// apt has compared the files with its signed lists; not every host has the key
	// of the developer who signed the .dsc file.
	if _, err := run(ctx, dir, "dpkg-source", "--no-check", "-x", dscs[0], "source"); err != nil {
		return Package{}, err
	}
	return describeSource(ctx, dscs[0])
}

// describeSource describes a source package by its .dsc file, which holds the
// checksums of all others.
func describeSource(ctx context.Context, dsc string) (Package, error) {
	text, err := os.ReadFile(dsc)
	if err != nil {
		return Package{}, err
	}
	sum, err := hashFile(ctx, dsc, NoProgress{})
	if err != nil {
		return Package{}, err
	}
	for _, st := range parseStanzas(string(text)) {
		if v := st["Version"]; v != "" {
			return Package{st["Source"] + " (source)", v, int64(len(text)), sum}, nil
		}
	}
	return Package{}, fmt.Errorf("%s has no version", filepath.Base(dsc))
}

// sourceLists makes an apt with lists of source packages below dir, from the
// servers in the host's configuration, which is in etc.
func sourceLists(ctx context.Context, dir, etc string, p Progress) (apt, error) {
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
	host, err := hostArch(ctx)
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
