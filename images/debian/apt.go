package debian

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"trapline/images/job"
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
func ownLists(ctx context.Context, dir, arch string, p job.Progress) (apt, error) {
	return ownListsFrom(ctx, dir, arch, "", p)
}

// ownListsFrom is ownLists for the servers in a directory like sources.list.d.
func ownListsFrom(ctx context.Context, dir, arch, sources string, p job.Progress) (apt, error) {
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
	_, err := job.Run(ctx, dir, "apt-get", append(a.options(), "update")...)
	return a, aptError(err)
}

// suiteSources is a server of Debian's with one release and one with its security updates, in
// the format of deb822 (sources.list(5)). The keyring is part of every Debian.
const suiteSources = `Types: deb
URIs: %[1]s
Suites: %[3]s %[3]s-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: %[2]s
Suites: %[3]s-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

// hostSite is the server from which the host has Debian: the first in its lists, without the
// security updates, which have a server of their own. A mirror has the other releases too.
func hostSite(ctx context.Context) string {
	out, err := job.Run(ctx, "", "apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian")
	site, _, _ := strings.Cut(out, "\n")
	if err != nil || !strings.HasPrefix(site, "http") {
		return PublicSite
	}
	return site
}

// suiteLists is ownLists for a release of Debian's that need not be the host's, from the
// host's server.
func suiteLists(ctx context.Context, dir, arch, suite string, p job.Progress) (apt, error) {
	parts := filepath.Join(dir, "sources.d")
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return apt{}, err
	}
	text := fmt.Sprintf(suiteSources, hostSite(ctx), PublicSecurity, suite)
	if err := os.WriteFile(filepath.Join(parts, "debian.sources"), []byte(text), 0o644); err != nil {
		return apt{}, err
	}
	return ownListsFrom(ctx, dir, arch, parts, p)
}

func (a apt) Name() string { return "apt" }

func (a apt) Show(ctx context.Context, v Versions, names ...string) ([]map[string]string, error) {
	all := map[Versions]string{Newest: "--no-all-versions", Every: "--all-versions"}[v]
	args := append(a.options(), "show", all)
	for _, name := range names {
		args = append(args, name+":"+a.arch)
	}
	out, err := job.Run(ctx, "", "apt-cache", args...)
	if e, ok := err.(*job.Error); ok && strings.Contains(e.Stderr, "No packages found") {
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

func (a apt) Download(ctx context.Context, dir string, pkgs []Listing, p job.Progress) error {
	args := append(a.options(), "download")
	var total int64
	for _, pkg := range pkgs {
		args = append(args, pkg.Name+":"+a.arch+"="+pkg.Version)
		total += pkg.Size
	}
	p.Start("downloading from Debian", total)
	defer p.Done()
	stop := job.WatchSize(dir, p)
	_, err := job.Run(ctx, dir, "apt-get", args...)
	stop()
	return aptError(err)
}

// aptError turns what apt says into an error that the caller can act on: a full
// disk, no network, or its first line.
func aptError(err error) error {
	e, ok := err.(*job.Error)
	if !ok {
		return err
	}
	has := func(texts ...string) bool {
		for _, t := range texts {
			if strings.Contains(e.Stderr, t) {
				return true
			}
		}
		return false
	}
	switch {
	case has("No space left on device", "enough free space"):
		return syscall.ENOSPC
	case has("Temporary failure resolving", "Could not resolve", "Could not connect", "Unable to connect",
		"Cannot initiate the connection", "Connection failed", "onnection timed out", "Network is unreachable"):
		return ErrNetwork
	}
	return e
}
