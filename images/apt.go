package images

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// An apt asks Debian's package tools. With dir empty it uses the host's package
// lists, which costs nothing but may find them missing, of another architecture or
// too old; otherwise it has lists of its own, below dir. Neither needs to be root,
// and neither changes what the host has installed.
type apt struct {
	dir     string
	arch    string
	sources string // directory with the servers to ask; empty for the host's
}

// options are the arguments that every call gets.
func (a apt) options() []string {
	// Downloads are done by the user who asks: another one, root's default, could
	// not write into the cache.
	opts := []string{"-q", "-o", "APT::Sandbox::User=root"}
	if a.dir == "" {
		return opts
	}
	if a.sources != "" {
		opts = append(opts, "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts="+a.sources)
	}
	for _, o := range []string{
		"Dir::State=" + filepath.Join(a.dir, "state"),
		"Dir::State::status=" + filepath.Join(a.dir, "status"),
		"Dir::Cache=" + filepath.Join(a.dir, "cache"),
		"APT::Architecture=" + a.arch,
		"APT::Architectures=" + a.arch,
		"Acquire::Languages=none",
		"Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
	} {
		opts = append(opts, "-o", o)
	}
	return opts
}

// ownLists makes an apt with fresh lists below dir, from the servers that the host
// is configured for.
func ownLists(ctx context.Context, dir, arch string, p Progress) (apt, error) {
	return ownListsFrom(ctx, dir, arch, "", p)
}

// ownListsFrom is ownLists for the servers in a directory like sources.list.d.
func ownListsFrom(ctx context.Context, dir, arch, sources string, p Progress) (apt, error) {
	p.Start("reading Debian's package lists", -1)
	defer p.Done()
	a := apt{dir: dir, arch: arch, sources: sources}
	for _, d := range []string{"state/lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return a, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "status"), nil, 0o644); err != nil {
		return a, err
	}
	// A server of the host's that has nothing to do with Debian may fail: what
	// matters is whether the packages are found afterwards, so that is where
	// this error is kept for.
	_, err := run(ctx, dir, "apt-get", append(a.options(), "update")...)
	return a, aptError(err)
}

// suiteSources is a server of Debian's with one release, in the format of deb822
// (sources.list(5)). The keyring is part of every Debian.
const suiteSources = `Types: deb
URIs: %s
Suites: %s
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

// publicSite is where Debian is if the host does not say.
const publicSite = "http://deb.debian.org/debian/"

// hostSite is the server from which the host has Debian: the first in its lists, without the
// security updates, which have a server of their own. A mirror has the other releases too.
func hostSite(ctx context.Context) string {
	out, err := run(ctx, "", "apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian")
	site, _, _ := strings.Cut(out, "\n")
	if err != nil || !strings.HasPrefix(site, "http") {
		return publicSite
	}
	return site
}

// suiteLists is ownLists for a release of Debian's that need not be the host's, from the
// host's server.
func suiteLists(ctx context.Context, dir, arch, suite string, p Progress) (apt, error) {
	parts := filepath.Join(dir, "sources.d")
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return apt{}, err
	}
	text := fmt.Sprintf(suiteSources, hostSite(ctx), suite)
	if err := os.WriteFile(filepath.Join(parts, "debian.sources"), []byte(text), 0o644); err != nil {
		return apt{}, err
	}
	return ownListsFrom(ctx, dir, arch, parts, p)
}

// resolve finds the newest kernel: its release and the packages that are wanted,
// in the order of debian.wants.
func (a apt) resolve(ctx context.Context, d *debian, p Progress) (release string, pkgs []Package, err error) {
	p.Start("asking apt for the newest kernel", -1)
	defer p.Done()
	stanzas, err := a.show(ctx, "--no-all-versions", d.kernel, busyboxPackage)
	if err != nil {
		return "", nil, err
	}
	depends, err := d.dependency(stanzas)
	if err != nil {
		return "", nil, err
	}
	release, version := depends[1], depends[2]
	// All versions: the one that apt would install may be another than the one
	// that is depended on.
	kernels, err := a.show(ctx, "--all-versions", "linux-image-"+release, "linux-image-"+release+"-dbg")
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

// show returns what the lists say of packages, a map for each version of each one
// that there is.
func (a apt) show(ctx context.Context, all string, names ...string) ([]map[string]string, error) {
	args := append(a.options(), "show", all)
	for _, name := range names {
		args = append(args, name+":"+a.arch)
	}
	out, err := run(ctx, "", "apt-cache", args...)
	if e, ok := err.(*commandError); ok && strings.Contains(e.stderr, "No packages found") {
		return nil, nil
	}
	if err != nil {
		return nil, aptError(err)
	}
	return parseStanzas(out), nil
}

// parseStanzas reads fields of one line; continued lines are left out.
func parseStanzas(text string) []map[string]string {
	var stanzas []map[string]string
	var current map[string]string
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		switch {
		case lines.Text() == "":
			current = nil
		case !ok || strings.HasPrefix(key, " "):
		case current == nil:
			current = map[string]string{}
			stanzas = append(stanzas, current)
			fallthrough
		default:
			current[key] = strings.TrimSpace(value)
		}
	}
	return stanzas
}

// download puts the .deb files of pkgs into dir, which holds nothing else.
func (a apt) download(ctx context.Context, dir string, pkgs []Package, p Progress) error {
	args := append(a.options(), "download")
	var total int64
	for _, pkg := range pkgs {
		args = append(args, pkg.Name+":"+a.arch+"="+pkg.Version)
		total += pkg.Size
	}
	p.Start("downloading from Debian", total)
	defer p.Done()
	stop := watchSize(dir, p)
	_, err := run(ctx, dir, "apt-get", args...)
	stop()
	return aptError(err)
}
