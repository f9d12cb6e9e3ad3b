package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	archive "trapline/images/debian"
)

// headerDependency finds, in what Debian's headers of a kernel depend on, the packages with
// the rest: common headers, and the programs of the host that build with them.
var headerDependency = regexp.MustCompile(`\blinux-(?:headers|kbuild)-[a-z0-9.+-]+`)

func headersPackage(m manifest) string { return "linux-headers-" + m.Release }

// makeTree unpacks Debian's headers of the kernel.
func (d *debian) makeTree(ctx context.Context, s Store, m manifest, _, tmp, debs, out string, p Progress) error {
	if err := d.runsHere(m, "/etc/os-release"); err != nil {
		return err
	}
	host, err := archive.HostArch(ctx)
	if err != nil {
		return err
	}
	var others []string
	w, files := archive.Workplace{Tmp: tmp, Debs: debs, Parts: partsDir(tmp, m.Name)}, archive.NewExtractor(out)
	for _, arch := range []string{d.arch, host} {
		var names []string
		resolve := func(from archive.Lists) (pkgs []Package, err error) {
			names, pkgs, err = headers(ctx, from, m, others)
			return pkgs, err
		}
		if err := s.fetcher().Packages(ctx, w, arch, d.suite, p, resolve); err != nil {
			return err
		}
		if err := unpackAll(ctx, debs, files, p); err != nil {
			return err
		}
		others = names
	}
	if err := files.Finish(); err != nil {
		return err
	}
	return d.relocate(m, out)
}

// runsHere says why the programs that build with the headers would not run on this host. A file says
// what the host is (os-release(5)).
func (d *debian) runsHere(m manifest, osRelease string) error {
	name, older := archive.Older(osRelease, d.suite)
	if !older {
		return nil
	}
	return fmt.Errorf("programs of Debian %s, which do not run on %s: build the module on such a host, by 'make -C /usr/src/%s M=DIR modules', and give its file with --module",
		d.suite, name, headersPackage(m))
}

// headers finds the headers' own package and the names of the others that are needed, or
// these others if they are known.
func headers(ctx context.Context, from archive.Lists, m manifest, others []string) (names []string, pkgs []Package, err error) {
	if others == nil {
		own := headersPackage(m)
		stanzas, err := from.Show(ctx, archive.Every, own)
		if err != nil {
			return nil, nil, err
		}
		pkg, err := archive.Choose(stanzas, own, m.Version)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: a newer image may have its headers: 'trapline image get --again %s'", err, m.Name)
		}
		for _, st := range stanzas {
			if st["Package"] == own && st["Version"] == m.Version {
				names = headerDependency.FindAllString(st["Depends"], -1)
			}
		}
		return names, []Package{pkg}, nil
	}
	stanzas, err := from.Show(ctx, archive.Every, others...)
	for _, name := range others {
		if err != nil {
			break
		}
		var pkg Package
		pkg, err = archive.Choose(stanzas, name, m.Version)
		pkgs = append(pkgs, pkg)
	}
	return nil, pkgs, err
}

// unpackAll unpacks the packages in debs, and removes them.
func unpackAll(ctx context.Context, debs string, out *archive.Extractor, p Progress) error {
	p.Start("unpacking headers", -1)
	defer p.Done()
	files, err := filepath.Glob(filepath.Join(debs, "*.deb"))
	for _, deb := range files {
		if err == nil {
			err = withPackage(deb, func(pkg *archive.Package) error {
				return out.Extract(ctx, pkg, archive.SameName)
			})
		}
		if err == nil {
			err = os.Remove(deb)
		}
	}
	return err
}

// headersDir is where Debian's headers lie in a tree.
func headersDir(m manifest, dir string) string {
	return filepath.Join(dir, "usr/src", headersPackage(m))
}

// relocate makes the headers' makefile include the common one from the tree: it names it by
// where the package would be installed. In the place of /usr it says where it is itself.
func (d *debian) relocate(m manifest, dir string) error {
	path := filepath.Join(headersDir(m, dir), "Makefile")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	here := "$(dir $(lastword $(MAKEFILE_LIST)))../"
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/src/", here)), 0o644)
}

// cross has the names of the cross tools for an architecture of Debian's.
var cross = map[string]string{"amd64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}

// tree has modules built without BTF: that would need one more program, pahole, for what nothing here reads.
func (d *debian) tree(m manifest, dir string) (tree, error) {
	return tree{dir: headersDir(m, dir), args: []string{"CROSS_COMPILE=" + cross[d.arch], "CONFIG_DEBUG_INFO_BTF_MODULES="}}, nil
}
