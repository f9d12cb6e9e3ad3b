package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	archive "trapline/images/debian"
	"trapline/images/job"
)

// linuxSourcePackage depends on the package of the newest source.
const linuxSourcePackage = "linux-source"

var linuxSourceDependency = regexp.MustCompile(`\b(linux-source-[0-9.]+)`)

// sources puts the newest source of Linux into the directory linux.
func (b *built) sources(ctx context.Context, s Store, w archive.Workplace, linux string, p Progress) ([]Package, error) {
	host, err := archive.HostArch(ctx)
	if err != nil {
		return nil, err
	}
	var pkgs []Package
	err = s.fetcher().Packages(ctx, w, host, "", p, func(from archive.Lists) ([]Package, error) {
		pkg, err := linuxSource(ctx, from, p)
		pkgs = []Package{pkg}
		return pkgs, err
	})
	if err != nil {
		return nil, err
	}
	deb, err := pkgs[0].In(w.Debs)
	if err != nil {
		return nil, err
	}
	if err := pkgs[0].Check(ctx, deb, p); err != nil {
		return nil, err
	}
	const tarball = "linux.tar.xz"
	wanted := want{pkgs[0].Name, map[string]string{"usr/src/" + pkgs[0].Name + ".tar.xz": tarball}}
	if _, err := s.unpack(ctx, deb, w.Tmp, wanted, p); err != nil {
		return nil, err
	}
	os.Remove(deb)
	return pkgs, untar(ctx, filepath.Join(w.Tmp, tarball), linux, "unpacking the source of Linux", p)
}

// linuxSource finds the package with the newest source.
func linuxSource(ctx context.Context, from archive.Lists, p Progress) (Package, error) {
	p.Start("asking "+from.Name()+" for the newest source of Linux", -1)
	defer p.Done()
	stanzas, err := from.Show(ctx, archive.Newest, linuxSourcePackage)
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
	stanzas, err = from.Show(ctx, archive.Newest, name)
	if err != nil {
		return Package{}, err
	}
	return archive.Choose(stanzas, name, "")
}

// untar unpacks an archive whose files all lie in one directory, and removes it.
func untar(ctx context.Context, file, dir, what string, p Progress) error {
	p.Start(what, -1)
	defer p.Done()
	if _, err := job.Run(ctx, "", "tar", "-C", dir, "--strip-components=1", "-xf", file); err != nil {
		return err
	}
	return os.Remove(file)
}

const busyboxSourcePackage = "busybox"
