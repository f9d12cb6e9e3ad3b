package images

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	archive "trapline/images/debian"
)

// The variables that say where Debian is. Packages are fetched from there, without apt.
const (
	// siteVariable names the site with a release and its updates.
	siteVariable = "TRAPLINE_DEBIAN"
	// securityVariable names the site with security updates, or "none".
	securityVariable = "TRAPLINE_DEBIAN_SECURITY"
)

// Where Debian is if neither the user nor the host says.
const (
	publicSite     = "http://deb.debian.org/debian/"
	publicSecurity = "http://deb.debian.org/debian-security/"
)

// defaultSuite is the release of an image that takes the host's, where the host is no Debian
// whose keys we have.
const defaultSuite = "bookworm"

// debianArchive is a release of Debian's at the sites that the user wants.
func (s Store) debianArchive(suite string) archive.Archive {
	security := cmp.Or(os.Getenv(securityVariable), publicSecurity)
	if security == "none" {
		security = ""
	}
	suites := archive.Suites(cmp.Or(os.Getenv(siteVariable), publicSite), security, cmp.Or(suite, hostSuite("/etc/os-release")))
	if s.keys != nil {
		return archive.Archive{Suites: suites, Keys: *s.keys}
	}
	return archive.Archive{Suites: suites, Keys: archive.ArchiveKeys()}
}

// hostSuite is the release that a host without apt has, of which a file tells what it is
// (os-release(5)), or the default.
func hostSuite(osRelease string) string {
	text, err := os.ReadFile(osRelease)
	name := codename.FindSubmatch(text)
	if err == nil && name != nil && slices.Contains([]string{"bookworm", "trixie"}, string(name[1])) {
		return string(name[1])
	}
	return defaultSuite
}

// A direct reads Debian's archive without a program of the host's.
type direct struct {
	archive archive.Archive
	index   *archive.Index
	parts   string
}

// direct reads the lists of an architecture.
func (s Store) direct(ctx context.Context, w workplace, arch, suite string, p Progress) (direct, error) {
	p.Start("reading Debian's package lists", -1)
	defer p.Done()
	a := s.debianArchive(suite)
	index, err := a.Packages(ctx, arch, p.Add)
	return direct{a, index, w.parts}, err
}

func (d direct) name() string { return "Debian's lists" }

func (d direct) show(_ context.Context, v versions, names ...string) ([]map[string]string, error) {
	var stanzas []map[string]string
	for _, name := range names {
		for i, e := range d.index.Lookup(name) {
			if i == 0 || v == every {
				stanzas = append(stanzas, e.Fields)
			}
		}
	}
	return stanzas, nil
}

func (d direct) download(ctx context.Context, dir string, pkgs []Package, p Progress) error {
	files, err := d.files(pkgs)
	if err != nil {
		return err
	}
	if err := removeOthers(d.parts, files); err != nil {
		return err
	}
	return fetchFiles(ctx, d.archive, d.parts, dir, files, p)
}

// A namedFile is a file of the archive, and the name that it is to have.
type namedFile struct {
	archive.File
	name string
}

// files finds the files of packages, of just the version and content that were chosen.
func (d direct) files(pkgs []Package) ([]namedFile, error) {
	var files []namedFile
	for _, pkg := range pkgs {
		entries := d.index.Lookup(pkg.Name)
		i := slices.IndexFunc(entries, func(e archive.Entry) bool {
			return e.Fields["Version"] == pkg.Version && strings.EqualFold(e.Fields["SHA256"], pkg.SHA256)
		})
		if i < 0 {
			return nil, errors.New("package " + pkg.Name + " is not in Debian's lists")
		}
		f, err := entries[i].File()
		if err != nil {
			return nil, err
		}
		files = append(files, namedFile{f, pkg.Name + "_" + pkg.SHA256 + ".deb"})
	}
	return files, nil
}

// removeOthers takes downloads away that are not wanted any more.
func removeOthers(parts string, wanted []namedFile) error {
	entries, err := os.ReadDir(parts)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		known := slices.ContainsFunc(wanted, func(f namedFile) bool { return f.SHA256 == e.Name() })
		if err == nil && !known {
			err = os.RemoveAll(filepath.Join(parts, e.Name()))
		}
	}
	return err
}

// fetchFiles puts files into dir. Those that have come, and the beginning of one that has not,
// stay in parts, too, if something goes wrong: by their SHA-256, which no two files share.
func fetchFiles(ctx context.Context, a archive.Archive, parts, dir string, files []namedFile, p Progress) error {
	if err := os.MkdirAll(parts, 0o755); err != nil {
		return err
	}
	defer os.Remove(parts) // if nothing has come
	var total int64
	for _, f := range files {
		total += f.Size
	}
	p.Start("downloading from Debian", total)
	defer p.Done()
	for _, f := range files {
		part := filepath.Join(parts, f.SHA256)
		if err := a.Fetch(ctx, f.File, part, p.Add); err != nil {
			removeEmpty(part)
			return err
		}
		if err := linkOrMove(part, filepath.Join(dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}

func removeEmpty(path string) {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		os.Remove(path)
	}
}

// linkOrMove gives a file a second name, or, where file systems have no links, another one.
func linkOrMove(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return os.Rename(from, to)
}
