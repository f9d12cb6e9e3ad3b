package debian

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"trapline/images/job"
)

// Lists are a way to Debian's packages of one architecture: apt's, or straight to the archive.
type Lists interface {
	// Name is for progress.
	Name() string
	// Show returns what the lists say of packages, a map for each version that there is, the
	// newest of a package first.
	Show(ctx context.Context, v Versions, names ...string) ([]map[string]string, error)
	// Download puts the .deb files of pkgs into dir, which holds nothing else.
	Download(ctx context.Context, dir string, pkgs []Listing, p job.Progress) error
}

// Versions are those of a package that Show returns.
type Versions int

const (
	Newest Versions = iota
	Every
)

// A Resolver finds the packages that are wanted.
type Resolver func(Lists) ([]Listing, error)

// HasApt reports whether packages are fetched by apt: where there is one, unless the user says
// where Debian is.
func HasApt() bool {
	if os.Getenv(SiteVariable) != "" {
		return false
	}
	_, errCache := exec.LookPath("apt-cache")
	_, errGet := exec.LookPath("apt-get")
	return errCache == nil && errGet == nil
}

// A Workplace is where packages are fetched to. The directories are empty at first; what is in Parts
// is kept for the next try if something goes wrong.
type Workplace struct {
	Tmp   string // lists
	Debs  string // packages
	Parts string // downloads
}

// A Fetcher fetches packages: by apt where the host has it, or straight from the archive.
type Fetcher struct {
	Keys *Keyring // that the archive is signed with; nil: Debian's
}

// Packages puts packages of an architecture and a release, by default the host's, into w.Debs.
func (f Fetcher) Packages(ctx context.Context, w Workplace, arch, suite string, p job.Progress, resolve Resolver) error {
	if !HasApt() {
		d, err := f.direct(ctx, w, arch, suite, p)
		if err != nil {
			return err
		}
		return fetchFrom(ctx, d, w.Debs, p, resolve, nil)
	}
	if suite != "" {
		own, updateErr := suiteLists(ctx, filepath.Join(w.Tmp, "apt-"+arch), arch, suite, p)
		return fetchFrom(ctx, own, w.Debs, p, resolve, updateErr)
	}
	return hostPackages(ctx, w, arch, p, resolve)
}

// hostPackages puts packages into w.Debs: those that resolve finds in the host's package
// lists, or, where that does not work, in fresh lists.
func hostPackages(ctx context.Context, w Workplace, arch string, p job.Progress, resolve Resolver) error {
	err := fetchFrom(ctx, apt{arch: arch}, w.Debs, p, resolve, nil)
	if err == nil || ctx.Err() != nil || errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrNetwork) {
		return err
	}
	// What came of the first try is of no use and may have the wrong version.
	if err := empty(w.Debs); err != nil {
		return err
	}
	own, updateErr := ownLists(ctx, filepath.Join(w.Tmp, "apt"), arch, p)
	return fetchFrom(ctx, own, w.Debs, p, resolve, updateErr)
}

// fetchFrom puts the packages that resolve finds into dir. If that fails, an error that the
// lists were made with is the better reason.
func fetchFrom(ctx context.Context, from Lists, dir string, p job.Progress, resolve Resolver, listsErr error) error {
	pkgs, err := resolve(from)
	if err == nil {
		err = from.Download(ctx, dir, pkgs, p)
	}
	if err != nil && listsErr != nil {
		return listsErr
	}
	return err
}

// HostArch is Debian's name of the architecture whose programs the host runs.
func HostArch(ctx context.Context) (string, error) {
	if HasApt() {
		out, err := job.Run(ctx, "", "dpkg", "--print-architecture")
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

// empty makes a directory anew.
func empty(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o755)
}
