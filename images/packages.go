package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// packages is a way to Debian's packages of one architecture: apt's, or straight to the archive.
type packages interface {
	// name is for progress.
	name() string
	// show returns what the lists say of packages, a map for each version that there is, the
	// newest of a package first.
	show(ctx context.Context, v versions, names ...string) ([]map[string]string, error)
	// download puts the .deb files of pkgs into dir, which holds nothing else.
	download(ctx context.Context, dir string, pkgs []Package, p Progress) error
}

// versions are those of a package that show returns.
type versions int

const (
	newest versions = iota
	every
)

// A resolver finds the packages that are wanted.
type resolver func(packages) ([]Package, error)

// hasApt reports whether packages are fetched by apt: where there is one, unless the user says
// where Debian is.
func hasApt() bool {
	if os.Getenv(siteVariable) != "" {
		return false
	}
	_, errCache := exec.LookPath("apt-cache")
	_, errGet := exec.LookPath("apt-get")
	return errCache == nil && errGet == nil
}

// A workplace is where an image, or what goes with it, is made. The directories are empty at
// first; what is in parts is kept for the next try if making fails.
type workplace struct{ tmp, debs, parts string }

// fetchPackages puts packages of an architecture and a release into w.debs.
func (s Store) fetchPackages(ctx context.Context, w workplace, arch, suite string, p Progress, resolve resolver) error {
	if !hasApt() {
		d, err := s.direct(ctx, w, arch, suite, p)
		if err != nil {
			return err
		}
		return fetchFrom(ctx, d, w.debs, p, resolve, nil)
	}
	if suite != "" {
		own, updateErr := suiteLists(ctx, filepath.Join(w.tmp, "apt-"+arch), arch, suite, p)
		return fetchFrom(ctx, own, w.debs, p, resolve, updateErr)
	}
	return hostPackages(ctx, w, arch, p, resolve)
}

// hostPackages puts packages into w.debs: those that resolve finds in the host's package
// lists, or, where that does not work, in fresh lists.
func hostPackages(ctx context.Context, w workplace, arch string, p Progress, resolve resolver) error {
	err := fetchFrom(ctx, apt{arch: arch}, w.debs, p, resolve, nil)
	if err == nil || ctx.Err() != nil || errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNetwork) {
		return err
	}
	// What came of the first try is of no use and may have the wrong version.
	if err := removeStale(w.debs, ""); err != nil {
		return err
	}
	own, updateErr := ownLists(ctx, filepath.Join(w.tmp, "apt"), arch, p)
	return fetchFrom(ctx, own, w.debs, p, resolve, updateErr)
}

// fetchFrom puts the packages that resolve finds into dir. If that fails, an error that the
// lists were made with is the better reason.
func fetchFrom(ctx context.Context, from packages, dir string, p Progress, resolve resolver, listsErr error) error {
	pkgs, err := resolve(from)
	if err == nil {
		err = from.download(ctx, dir, pkgs, p)
	}
	if err != nil && listsErr != nil {
		return listsErr
	}
	return err
}

// hostArch is Debian's name of the architecture whose programs the host runs.
func hostArch(ctx context.Context) (string, error) {
	if hasApt() {
		out, err := run(ctx, "", "dpkg", "--print-architecture")
		return strings.TrimSpace(out), err
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", err
	}
	machine := unix.ByteSliceToString(u.Machine[:])
	if arch := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[machine]; arch != "" {
		return arch, nil
	}
	return machine, nil
}

// resolve finds the newest kernel: its release and the packages that are wanted,
// in the order of debian.wants.
func (d *debian) resolve(ctx context.Context, a packages, p Progress) (release string, pkgs []Package, err error) {
	p.Start("asking "+a.name()+" for the newest kernel", -1)
	defer p.Done()
	stanzas, err := a.show(ctx, newest, d.kernel, busyboxPackage)
	if err != nil {
		return "", nil, err
	}
	depends, err := d.dependency(stanzas)
	if err != nil {
		return "", nil, err
	}
	release, version := depends[1], depends[2]
	// Every version: the newest may be another than the one that is depended on.
	kernels, err := a.show(ctx, every, "linux-image-"+release, "linux-image-"+release+"-dbg")
	if err != nil {
		return "", nil, err
	}
	for _, w := range d.wants(release) {
		of, in := version, kernels
		if w.pkg == busyboxPackage {
			of, in = "", stanzas
		}
		pkg, err := choose(in, w.pkg, of)
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

// choose returns the package of that name and, unless it is empty, that version.
func choose(stanzas []map[string]string, name, version string) (Package, error) {
	for _, st := range stanzas {
		if st["Package"] != name || version != "" && st["Version"] != version {
			continue
		}
		size, err := strconv.ParseInt(st["Size"], 10, 64)
		if err != nil || len(st["SHA256"]) != 64 {
			return Package{}, fmt.Errorf("package %s has no size or no SHA-256 in Debian's lists", name)
		}
		return Package{name, st["Version"], size, strings.ToLower(st["SHA256"])}, nil
	}
	return Package{}, fmt.Errorf("package %s is not in Debian's lists", strings.TrimSpace(name+" "+version))
}
