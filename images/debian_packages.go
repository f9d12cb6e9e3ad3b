package images

import (
	"context"
	"fmt"
	"regexp"

	archive "trapline/images/debian"
)

// resolve finds the newest kernel: its release and the packages that are wanted,
// in the order of debian.wants.
func (d *debian) resolve(ctx context.Context, a archive.Lists, p Progress) (release string, pkgs []Package, err error) {
	p.Start("asking "+a.Name()+" for the newest kernel", -1)
	defer p.Done()
	stanzas, err := a.Show(ctx, archive.Newest, d.kernel, busyboxPackage)
	if err != nil {
		return "", nil, err
	}
	depends, err := d.dependency(stanzas)
	if err != nil {
		return "", nil, err
	}
	release, version := depends[1], depends[2]
	// Every version: the newest may be another than the one that is depended on.
	kernels, err := a.Show(ctx, archive.Every, "linux-image-"+release, "linux-image-"+release+"-dbg")
	if err != nil {
		return "", nil, err
	}
	for _, w := range d.wants(release) {
		of, in := version, kernels
		if w.pkg == busyboxPackage {
			of, in = "", stanzas
		}
		pkg, err := archive.Choose(in, w.pkg, of)
		if err != nil {
			return "", nil, err
		}
		pkgs = append(pkgs, pkg)
	}
	return release, pkgs, nil
}

// dependency finds the kernel that d.kernel depends on: its release is element 1
// and its version element 2 of the result.
func (d *debian) dependency(stanzas []map[string]string) ([]string, error) {
	for _, st := range stanzas {
		if st["Package"] != d.kernel {
			continue
		}
		if m := kernelDependency.FindStringSubmatch(st["Depends"]); m != nil {
			return m, nil
		}
		return nil, fmt.Errorf("package %s depends on no kernel: %q", d.kernel, st["Depends"])
	}
	return nil, fmt.Errorf("package %s is not in Debian's lists", d.kernel)
}

// kernelDependency finds the kernel in a Depends field, with its exact version.
var kernelDependency = regexp.MustCompile(`\blinux-image-([^ ,]+) \(= ([^)]+)\)`)
