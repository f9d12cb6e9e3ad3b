package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ulikunitz/xz"

	"trapline/images/debian/debiantest"
)

const packages = "main/binary-amd64/Packages"

// testArchive is an archive with the packages a and b, read a day after it was made.
func testArchive(t *testing.T) (*debiantest.Archive, Archive) {
	t.Helper()
	site := debiantest.New(t)
	publish(site, debiantest.Suite{})
	return site, Archive{
		Suites: []Suite{{site.URL, "bookworm"}},
		Keys:   keyring(t, site.Key),
		Now:    func() time.Time { return debiantest.Day.AddDate(0, 0, 1) },
	}
}

func keyring(t *testing.T, key debiantest.Key) Keyring {
	t.Helper()
	k, err := ReadKeyring(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func publish(site *debiantest.Archive, s debiantest.Suite) {
	site.Publish(s, map[string]string{
		packages:              site.Package("a", "1.0-1", []byte("a one"), "Depends: b,", " c") + site.Package("b", "1:2", []byte("b")),
		"main/source/Sources": "Package: s\nVersion: 1\nDirectory: pool/s\nFiles:\n 00 1 s.dsc\nChecksums-Sha256:\n " + strings.Repeat("0", 64) + " 1 s.dsc\n",
	})
}

func nothing(int64) {}

func TestPackages(t *testing.T) {
	site, a := testArchive(t)
	site.Publish(debiantest.Suite{Codename: "bookworm-security", Plain: true}, map[string]string{
		packages: site.Package("a", "1.0-1~x", []byte("a old")) + site.Package("a", "1.0-1+deb12u1", []byte("a new")),
	})
	a.Suites = append(a.Suites, Suite{site.URL, "bookworm-security"})
	x, err := a.Packages(t.Context(), "amd64", nothing)
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, e := range x.Lookup("a") {
		versions = append(versions, e.Fields["Version"])
	}
	if want := []string{"1.0-1+deb12u1", "1.0-1", "1.0-1~x"}; !slices.Equal(versions, want) {
		t.Errorf("versions %v, want %v", versions, want)
	}
	if len(x.Lookup("c")) != 0 {
		t.Error("there is a package c")
	}
	if got := x.Lookup("a")[1].Fields["Depends"]; got != "b,\nc" {
		t.Errorf("Depends is %q", got)
	}
	f, err := x.Lookup("b")[0].File()
	if want := site.URL + "/pool/main/b_1:2.deb"; err != nil || f.URL != want || f.Size != 1 || len(f.SHA256) != 64 {
		t.Errorf("file %v, %v, want %s", f, err, want)
	}
	if asked := strings.Join(site.Requests(), " "); !strings.Contains(asked, "/by-hash/SHA256/") || !strings.Contains(asked, "bookworm-security/main/binary-amd64/Packages.xz") {
		t.Errorf("asked for %s", asked)
	}
}

func TestSources(t *testing.T) {
	site, a := testArchive(t)
	x, err := a.Sources(t.Context(), nothing)
	if err != nil {
		t.Fatal(err)
	}
	files, err := x.Lookup("s")[0].Files()
	if err != nil || len(files) != 1 || files[0].URL != site.URL+"/pool/s/s.dsc" {
		t.Errorf("files %v, %v", files, err)
	}
}

// Of a mirror that has no files by their sums, the others are taken.
func TestNoByHash(t *testing.T) {
	site, a := testArchive(t)
	site.Around = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/by-hash/") {
			http.NotFound(w, r)
			return true
		}
		return false
	}
	if _, err := a.Packages(t.Context(), "amd64", nothing); err != nil {
		t.Error(err)
	}
}

// TestPackagesErrors: what can be wrong with a site, its signature, its dates and its lists.
func TestPackagesErrors(t *testing.T) {
	const inRelease = "dists/bookworm/InRelease"
	change := func(site *debiantest.Archive, name, from, to string) {
		site.Put(name, bytes.Replace(site.File(name), []byte(from), []byte(to), 1))
	}
	year := 365 * 24 * time.Hour
	for _, test := range []struct {
		name  string
		spoil func(*debiantest.Archive, *Archive)
		want  string
	}{
		{"no release", func(s *debiantest.Archive, a *Archive) { s.Put(inRelease, nil) }, inRelease + ": the site answers 404 Not Found"},
		{"another page", func(s *debiantest.Archive, a *Archive) { s.Put(inRelease, []byte("<html>log in</html>")) }, "it is not a signed release"},
		{"no signature", func(s *debiantest.Archive, a *Archive) { s.Put(inRelease, []byte("Codename: bookworm\n")) }, "it is not a signed release"},
		{"empty signature", func(s *debiantest.Archive, a *Archive) {
			text, _, _ := bytes.Cut(s.File(inRelease), []byte("-----BEGIN PGP SIGNATURE-----"))
			s.Put(inRelease, append(text, "-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n"...))
		}, "it is not signed by a key of Debian"},
		{"changed", func(s *debiantest.Archive, a *Archive) { change(s, inRelease, "Origin: Debian", "Origin: debian") }, "its signature is wrong"},
		{"text before it", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Codename: "other"})
			s.Put(inRelease, append([]byte("Codename: bookworm\n"), s.File("dists/other/InRelease")...))
		}, `it is of "other", not of bookworm`},
		{"unknown key", func(s *debiantest.Archive, a *Archive) {
			s.Key = debiantest.NewKey(t, 0)
			publish(s, debiantest.Suite{})
		}, "it is not signed by a key of Debian 12's or 13's"},
		{"expired key", func(s *debiantest.Archive, a *Archive) {
			s.Key = debiantest.NewKey(t, year/2)
			a.Keys = keyring(t, s.Key)
			publish(s, debiantest.Suite{})
		}, "it is signed by a key that had expired"},
		{"clock far behind", func(s *debiantest.Archive, a *Archive) {
			a.Now = func() time.Time { return time.Unix(0, 0) }
		}, "it is of 4 May 2026, and the clock of this host says 1 January 1970: set the clock"},
		{"clock behind", func(s *debiantest.Archive, a *Archive) {
			a.Now = func() time.Time { return debiantest.Day.AddDate(0, 0, -3) }
		}, "it is of 4 May 2026, and the clock of this host says 1 May 2026: set the clock"},
		{"expired", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{ValidUntil: debiantest.Day.AddDate(0, 0, 1).Add(-time.Second)})
		}, "it was valid until 5 May 2026, and the clock of this host says 5 May 2026: the site is out of date"},
		{"no date", func(s *debiantest.Archive, a *Archive) {
			s.Put(inRelease, s.Key.Sign("Codename: bookworm\nDate: yesterday\n", debiantest.Day))
		}, `it has no Date that can be read: "yesterday"`},
		{"zone", func(s *debiantest.Archive, a *Archive) {
			s.Put(inRelease, s.Key.Sign("Codename: bookworm\nDate: Mon, 04 May 2026 12:00:00 CEST\n", debiantest.Day))
		}, `it has no Date that can be read`},
		{"bad Valid-Until", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Fields: "Valid-Until: tomorrow\n"})
		}, `it has no Valid-Until that can be read: "tomorrow"`},
		{"no files", func(s *debiantest.Archive, a *Archive) {
			s.Put(inRelease, s.Key.Sign("Codename: bookworm\nDate: Mon, 04 May 2026 12:00:00 UTC\n", debiantest.Day))
		}, "it lists no files"},
		{"another release", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Codename: "trixie"})
			s.Put(inRelease, s.File("dists/trixie/InRelease"))
		}, `it is of "trixie", not of bookworm`},
		{"no such architecture", func(s *debiantest.Archive, a *Archive) {
			s.Publish(debiantest.Suite{}, map[string]string{"main/binary-arm64/Packages": ""})
		}, packages + ".xz: the suite bookworm has no such index"},
		{"damaged index", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Plain: true})
			s.Put("dists/bookworm/"+packages+".xz", []byte("other"))
		}, packages + ".xz: 5 bytes with a SHA-256 that begins with d9298a10d1b0, where "},
		{"index too long", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Plain: true})
			s.Put("dists/bookworm/"+packages+".xz", make([]byte, 1000))
		}, packages + ".xz: it is longer than "},
		{"huge index", func(s *debiantest.Archive, a *Archive) {
			s.Put(inRelease, s.Key.Sign("Codename: bookworm\nDate: Mon, 04 May 2026 12:00:00 UTC\nSHA256:\n "+strings.Repeat("0", 64)+" 999999999999 "+packages+".xz\n", debiantest.Day))
		}, packages + ".xz: it has 999999999999 bytes, more than "},
		{"missing index", func(s *debiantest.Archive, a *Archive) {
			publish(s, debiantest.Suite{Plain: true})
			s.Put("dists/bookworm/"+packages+".xz", nil)
		}, packages + ".xz: the site answers 404 Not Found"},
		{"no site", func(s *debiantest.Archive, a *Archive) { a.Suites[0].Site = "/mnt/debian" }, "/mnt/debian: it is not the address of a site (want http://HOST/debian)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			site, a := testArchive(t)
			test.spoil(site, &a)
			_, err := a.Packages(t.Context(), "amd64", nothing)
			var se *SiteError
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || !errors.As(err, &se) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// An index that is signed but cannot be unpacked.
func TestUnpackIndex(t *testing.T) {
	if _, err := unpackXZ([]byte("not xz")); err == nil {
		t.Error("unpacked what is not packed")
	}
	packed := debiantest.Compress(t, ".xz", []byte("text"))
	if _, err := unpackXZ(packed[:len(packed)-20]); err == nil {
		t.Error("unpacked a part")
	}
}

func TestNetworkError(t *testing.T) {
	_, a := testArchive(t)
	for _, url := range []string{"http://127.0.0.1:1/debian", "http://name.invalid/debian"} {
		a.Suites[0].Site = url
		_, err := a.Packages(t.Context(), "amd64", nothing)
		if !errors.Is(err, ErrNetwork) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "cannot reach the Debian package server ") {
			t.Errorf("%s: error %v", url, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Packages(ctx, "amd64", nothing); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

// TestArchiveKeys reads a release that Debian has signed, with the keys of the program. The
// fingerprints are those of https://ftp-master.debian.org/keys.html.
func TestArchiveKeys(t *testing.T) {
	var have []string
	for _, e := range ArchiveKeys().entities {
		have = append(have, fmt.Sprintf("%X", e.PrimaryKey.Fingerprint))
	}
	slices.Sort(have)
	want := []string{
		"04B54C3CDCA79751B16BC6B5225629DF75B188BD", // Debian 13
		"05AB90340C0C5E797F44A8C8254CF3B5AEC0A8F0", // Debian 12, security
		"41587F7DB8C774BCCF131416762F67A0B2C39DE4", // Debian 13, stable
		"4D64FEC119C2029067D6E791F8D2585B8783D481", // Debian 12, stable
		"5E04A1E3223A19A20706E20F9904613D4CCE68C6", // Debian 13, security
		"B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8", // Debian 12
	}
	if !slices.Equal(have, want) {
		t.Errorf("keys %v, want %v", have, want)
	}
	message := unpackFile(t, "testdata/bookworm-security.InRelease.xz")
	for _, test := range []struct {
		at   string
		want string
	}{
		{"2026-11-22", ""},
		{"2026-12-24", "it was valid until 28 November 2026"},
		{"2026-11-01", "it is of 21 November 2026"},
		{"2040-01-01", "it was valid until 28 November 2026"},
	} {
		now, err := time.Parse(time.DateOnly, test.at)
		if err != nil {
			t.Fatal(err)
		}
		text, err := ArchiveKeys().open(message)
		if err == nil {
			var r release
			if r, err = parseRelease(text); err == nil {
				err = r.check("bookworm-security", now)
			}
			if s := r.files[packages+".xz"]; s.size != 378100 || !r.byHash {
				t.Errorf("%s: %v", test.at, r)
			}
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.at, err, test.want)
		}
	}
	message[len(message)/2] ^= 1
	if _, err := ArchiveKeys().open(message); err == nil {
		t.Error("a changed release is believed")
	}
}

func unpackFile(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := xz.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEntryErrors(t *testing.T) {
	x := &Index{entries: map[string][]Entry{}}
	sum := strings.Repeat("0", 64)
	x.add("http://site/debian", "Package", []byte(
		"Package: size\nVersion: 1\nSize: -1\nFilename: x\nSHA256: "+sum+"\n\n"+
			"Package: sum\nVersion: 1\nSize: 1\nFilename: x\nSHA256: 12\n\n"+
			"Package: name\nVersion: 1\nSize: 1\nSHA256: "+sum+"\n\n"+
			"Package: version\nVersion: none\nSize: 1\nFilename: x\nSHA256: "+sum+"\n\n"+
			"Package: up\nVersion: 1\nSize: 1\nFilename: ../../etc/x?y\nSHA256: "+sum+"\n\n"+
			"Version: 1\nPackage: later\n"))
	for _, name := range []string{"size", "sum", "name"} {
		e := x.Lookup(name)[0]
		if _, err := e.File(); err == nil || !strings.Contains(err.Error(), "package "+name+" has no file, size or SHA-256") {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := e.Files(); err == nil {
			t.Errorf("%s: has source files", name)
		}
	}
	if len(x.Lookup("version"))+len(x.Lookup("later")) != 0 {
		t.Error("there are packages without a version or a name")
	}
	if f, err := x.Lookup("up")[0].File(); err != nil || f.URL != "http://site/etc/x%3Fy" {
		t.Errorf("%v, %v", f, err)
	}
}

func FuzzRelease(f *testing.F) {
	f.Add("Codename: x\nDate: Mon, 04 May 2026 12:00:00 UTC\nSHA256:\n " + strings.Repeat("0", 64) + " 1 a/b\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRelease(text)
		if err != nil {
			return
		}
		for name, s := range r.files {
			if name == "" || s.size < 0 || len(s.sha256) != 64 {
				t.Errorf("file %q: %v", name, s)
			}
		}
		if r.check(r.codename, r.date) != nil && (r.validUntil.IsZero() || r.validUntil.After(r.date)) {
			t.Errorf("not good at its own date: %v", r)
		}
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("Package: a\nVersion: 1\nSize: 1\nFilename: x\n\nPackage: a\nVersion: 2~\n x\n"), "a")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		x := &Index{entries: map[string][]Entry{}}
		x.add("http://site", "Package", text)
		for _, e := range x.Lookup(name) {
			if e.Fields["Package"] == "" && name != "" || e.Fields["Version"] == "" {
				t.Errorf("%q: %v", name, e.Fields)
			}
			if file, err := e.File(); err == nil && (file.Size < 0 || len(file.SHA256) != 64) {
				t.Errorf("file %v", file)
			}
			e.Files()
		}
	})
}

func FuzzSigned(f *testing.F) {
	key := debiantest.NewKey(f, 0)
	k, err := ReadKeyring(key.Public())
	if err != nil {
		f.Fatal(err)
	}
	const text = "Codename: bookworm\n- dashed\n"
	f.Add(key.Sign(text, debiantest.Day))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := k.open(message)
		if err == nil && strings.TrimRight(got, "\n") != strings.TrimRight(text, "\n") {
			t.Errorf("believes %q", got)
		}
	})
}

// Of several signatures one that is good and of a key that is known is enough.
func TestSeveralSignatures(t *testing.T) {
	site, a := testArchive(t)
	both := debiantest.Sign(t, "text\n", debiantest.Day, debiantest.NewKey(t, 0), site.Key)
	if _, err := a.Keys.open(both); err != nil {
		t.Error(err)
	}
	if _, err := keyring(t, debiantest.NewKey(t, 0)).open(both); err == nil {
		t.Error("believed without a key")
	}
}
