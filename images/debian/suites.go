package debian

import (
	"cmp"
	"os"
	"regexp"
	"slices"
)

// The variables that say where Debian is. Packages are fetched from there, without apt.
const (
	// SiteVariable names the site with a release and its updates.
	SiteVariable = "TRAPLINE_DEBIAN"
	// SecurityVariable names the site with security updates, or "none".
	SecurityVariable = "TRAPLINE_DEBIAN_SECURITY"
)

// The sites where Debian is if neither the user nor the host says.
const (
	PublicSite     = "http://deb.debian.org/debian/"
	PublicSecurity = "http://deb.debian.org/debian-security/"
)

// defaultSuite is the release of an image that takes the host's, where the host is no Debian
// whose keys we have.
const defaultSuite = "bookworm"

// debianArchive is a release of Debian's at the sites that the user wants.
func (f Fetcher) archive(suite string) Archive {
	security := cmp.Or(os.Getenv(SecurityVariable), PublicSecurity)
	if security == "none" {
		security = ""
	}
	suites := Suites(cmp.Or(os.Getenv(SiteVariable), PublicSite), security, cmp.Or(suite, HostSuite("/etc/os-release")))
	if f.Keys != nil {
		return Archive{Suites: suites, Keys: *f.Keys}
	}
	return Archive{Suites: suites, Keys: ArchiveKeys()}
}

// HostSuite returns the release of a host without apt, as a file says what the host is
// (os-release(5)), or the default.
func HostSuite(osRelease string) string {
	text, err := os.ReadFile(osRelease)
	name := codename.FindSubmatch(text)
	if err == nil && name != nil && slices.Contains([]string{"bookworm", "trixie"}, string(name[1])) {
		return string(name[1])
	}
	return defaultSuite
}

// releases are Debian's, the oldest first: the programs of one do not run on those before it,
// whose C library is older.
var releases = []string{"buster", "bullseye", "bookworm", "trixie"}

var codename = regexp.MustCompile(`(?m)^VERSION_CODENAME="?(\w+)"?$`)

// Older reports whether the host's Debian is older than a release, and which it is. A file says
// what the host is (os-release(5)).
func Older(osRelease, suite string) (name string, older bool) {
	text, err := os.ReadFile(osRelease)
	found := codename.FindSubmatch(text)
	if err != nil || found == nil {
		return "", false
	}
	name = string(found[1])
	have := slices.Index(releases, name)
	return name, have >= 0 && have < slices.Index(releases, suite)
}
