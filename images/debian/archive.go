package debian

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	version "github.com/knqyf263/go-deb-version"
	"github.com/mikelolasagasti/xz"
)

// A Suite is a part of Debian's archive with a signature of its own.
type Suite struct {
	Site     string // URL of what has dists and pool: "http://deb.debian.org/debian"
	Codename string // "bookworm", "bookworm-updates", "bookworm-security"
}

// Suites returns the suites of a release: its own and that of updates at a site, and the one
// of security updates at another, unless that is "".
func Suites(site, security, codename string) []Suite {
	suites := []Suite{{site, codename}, {site, codename + "-updates"}}
	if security != "" {
		suites = append(suites, Suite{security, codename + "-security"})
	}
	return suites
}

// An Archive is suites that are read as one.
type Archive struct {
	Suites []Suite
	Keys   Keyring
	Client *http.Client     // nil: one that uses the proxy of the environment
	Now    func() time.Time // nil: time.Now
	// Patience is how long a site may be silent in the middle of a file; 0: a minute.
	Patience time.Duration
}

// Packages reads what there is for an architecture of Debian's. Bytes that have come are
// added up by add. The error wraps ErrNetwork or is a *SiteError.
func (a Archive) Packages(ctx context.Context, arch string, add func(int64)) (*Index, error) {
	return a.index(ctx, "main/binary-"+arch+"/Packages.xz", "Package", add)
}

// Sources is Packages for source packages.
func (a Archive) Sources(ctx context.Context, add func(int64)) (*Index, error) {
	return a.index(ctx, "main/source/Sources.xz", "Package", add)
}

// Limits of what is read into memory: Debian's are 0.2, 10 and 60 MB.
const (
	maxRelease  = 4 << 20
	maxIndex    = 128 << 20
	maxUnpacked = 512 << 20
)

// index reads one index of every suite. Its stanzas are known by the field key.
func (a Archive) index(ctx context.Context, path, key string, add func(int64)) (*Index, error) {
	x := &Index{entries: map[string][]Entry{}}
	for _, s := range a.Suites {
		dists, err := siteURL(s.Site, "dists", s.Codename)
		if err != nil {
			return nil, err
		}
		r, err := a.release(ctx, dists, s.Codename, add)
		if err != nil {
			return nil, err
		}
		text, err := a.indexText(ctx, dists, path, r, add)
		if err != nil {
			return nil, err
		}
		x.add(s.Site, key, text)
	}
	return x, nil
}

// siteURL is the address of something below a site.
func siteURL(site string, elem ...string) (string, error) {
	u, err := url.Parse(site)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &SiteError{site, fmt.Errorf("it is not the address of a site (want http://HOST/debian)")}
	}
	return u.JoinPath(elem...).String(), nil
}

// release reads what a suite's site has signed.
func (a Archive) release(ctx context.Context, dists, codename string, add func(int64)) (release, error) {
	address := dists + "/InRelease"
	message, err := a.read(ctx, address, maxRelease, add)
	if err != nil {
		return release{}, err
	}
	now := time.Now()
	if a.Now != nil {
		now = a.Now()
	}
	text, err := a.Keys.open(message)
	if err != nil {
		return release{}, &SiteError{address, err}
	}
	r, err := parseRelease(text)
	if err == nil {
		err = r.check(codename, now)
	}
	if err != nil {
		return release{}, &SiteError{address, err}
	}
	return r, nil
}

// indexText reads a file that a release lists and unpacks it.
func (a Archive) indexText(ctx context.Context, dists, path string, r release, add func(int64)) ([]byte, error) {
	address := dists + "/" + path
	want, ok := r.files[path]
	if !ok {
		return nil, &SiteError{address, fmt.Errorf("the suite %s has no such index", r.codename)}
	}
	if want.size > maxIndex {
		return nil, &SiteError{address, fmt.Errorf("it has %d bytes, more than %d", want.size, maxIndex)}
	}
	var packed []byte
	var err error
	if r.byHash {
		dir := path[:strings.LastIndexByte(path, '/')]
		packed, err = a.read(ctx, dists+"/"+dir+"/by-hash/SHA256/"+want.sha256, want.size, add)
	}
	if !r.byHash || isNotFound(err) {
		packed, err = a.read(ctx, address, want.size, add)
	}
	if err == nil {
		err = want.check(address, packed)
	}
	if err != nil {
		return nil, err
	}
	text, err := unpackXZ(packed)
	if err != nil {
		return nil, &SiteError{address, err}
	}
	return text, nil
}

func unpackXZ(packed []byte) ([]byte, error) {
	r, err := xz.NewReader(bytes.NewReader(packed), maxDictionary)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(text) > maxUnpacked {
		err = fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
	}
	return text, err
}

// An Index is what an archive has.
type Index struct{ entries map[string][]Entry }

// An Entry is a package of one version.
type Entry struct {
	Fields Fields
	site   string
	text   []byte
}

// add puts what a site has into x. Fields are read when they are asked for: there are tens of
// thousands of packages.
func (x *Index) add(site, key string, text []byte) {
	start := []byte(key + ":")
	eachStanza(text, func(stanza []byte) {
		line, _, _ := bytes.Cut(stanza, []byte("\n"))
		if value, ok := bytes.CutPrefix(line, start); ok {
			name := string(bytes.TrimSpace(value))
			x.entries[name] = append(x.entries[name], Entry{site: site, text: stanza})
		}
	})
}

// Lookup returns all versions of a package, the newest first; none if there is no such package
// or its versions are none of Debian's (Debian Policy, section 5.6.12).
func (x *Index) Lookup(name string) []Entry {
	type ranked struct {
		Entry
		version version.Version
	}
	var all []ranked
	for _, e := range x.entries[name] {
		e.Fields = parseFields(string(e.text))
		if v, err := version.NewVersion(e.Fields["Version"]); err == nil {
			all = append(all, ranked{e, v})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return b.version.Compare(a.version) })
	entries := make([]Entry, len(all))
	for i, r := range all {
		entries[i] = r.Entry
	}
	return entries
}

// File returns the file of a package.
func (e Entry) File() (File, error) {
	name, s, ok := parseSum(e.Fields["SHA256"] + " " + e.Fields["Size"] + " " + e.Fields["Filename"])
	if !ok {
		return File{}, fmt.Errorf("package %s has no file, size or SHA-256 in Debian's lists", e.Fields["Package"])
	}
	address, err := siteURL(e.site, name)
	return File{address, s.size, s.sha256}, err
}

// Files returns the files of a source package, the .dsc file among them.
func (e Entry) Files() ([]File, error) {
	var files []File
	for line := range strings.Lines(e.Fields["Checksums-Sha256"]) {
		name, s, ok := parseSum(line)
		if !ok || strings.Contains(name, "/") {
			continue
		}
		address, err := siteURL(e.site, e.Fields["Directory"], name)
		if err != nil {
			return nil, err
		}
		files = append(files, File{address, s.size, s.sha256})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("source package %s has no files with a SHA-256 in Debian's lists", e.Fields["Package"])
	}
	return files, nil
}
