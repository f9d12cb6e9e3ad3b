package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	archive "trapline/images/debian"
	"trapline/images/debian/debiantest"
)

const fakeDebug = "linux-image-" + fakeRelease + "-dbg_" + fakeVersion + "_amd64.deb"

// newFakeSite is a host without apt: what the fake Debian has is on a site. The store believes
// its key.
func newFakeSite(t *testing.T) (fakeDebian, *debiantest.Archive, Store) {
	t.Helper()
	d := newFakeDebian(t)
	site, s := d.site()
	return d, site, s
}

// site makes this host one without apt.
func (d fakeDebian) site() (*debiantest.Archive, Store) {
	d.t.Helper()
	site := debiantest.New(d.t)
	keys, err := archive.ReadKeyring(site.Key.Public())
	if err != nil {
		d.t.Fatal(err)
	}
	d.serve(site)
	d.t.Setenv(archive.SiteVariable, site.URL)
	d.t.Setenv(archive.SecurityVariable, site.URL)
	s := newStore(d.t)
	s.keys = &keys
	return site, s
}

// serve puts the archive on a site.
func (d fakeDebian) serve(site *debiantest.Archive) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "archive"))
	if err != nil {
		d.t.Fatal(err)
	}
	pool, err := filepath.Glob(filepath.Join(d.dir, "pool", "*"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, path := range pool {
		deb, err := os.ReadFile(path)
		if err != nil {
			d.t.Fatal(err)
		}
		site.Put("pool/"+filepath.Base(path), deb)
	}
	for _, release := range []string{"bookworm", "trixie"} {
		for suffix, list := range map[string]string{"": string(text), "-updates": "", "-security": ""} {
			site.Publish(debiantest.Suite{Codename: release + suffix}, map[string]string{
				"main/binary-amd64/Packages": list, "main/binary-arm64/Packages": list,
				"main/binary-riscv64/Packages": list,
			})
		}
	}
}

// filesBelow returns the content of all files below a directory.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// An image is the same, byte for byte, with apt and without.
func TestDirect(t *testing.T) {
	fake, withApt := newFakeDebian(t), newStore(t)
	mustGet(t, withApt)
	fake.log()
	site, without := fake.site()
	mustGet(t, without)
	if log := fake.log(); log != "" {
		t.Errorf("called:\n%s", log)
	}
	have := filesBelow(t, filepath.Join(without.Dir, "images", "debian-amd64"))
	want := filesBelow(t, filepath.Join(withApt.Dir, "images", "debian-amd64"))
	if len(want) != 6 || !maps.Equal(have, want) {
		t.Errorf("files %v, want %v", slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
	site.Requests()
	mustGet(t, without) // nothing to do
	if asked := site.Requests(); len(asked) != 0 {
		t.Errorf("asked again: %v", asked)
	}
	fake.publish("6.9.0-2-cloud-amd64", "6.9.2-1")
	fake.serve(site)
	if err := without.Refetch(t.Context(), fakeImage, NoProgress{}); err != nil {
		t.Fatal(err)
	}
	if spec, err := without.Open(fakeImage); err != nil || spec.Version != "6.9.2-1" {
		t.Errorf("version %s, %v", spec.Version, err)
	}
}

func TestDirectProgress(t *testing.T) {
	_, _, s := newFakeSite(t)
	r := &recorder{t: t}
	if err := s.Get(t.Context(), fakeImage, r); err != nil {
		t.Fatal(err)
	}
	want := []string{"reading Debian's package lists", "asking Debian's lists for the newest kernel", "downloading from Debian"}
	if len(r.steps) != 11 || !slices.Equal(r.steps[:3], want) || r.inStep {
		t.Errorf("steps %q", r.steps)
	}
}

// Security updates and other updates count; an image of a release of its own is of that release.
func TestDirectSuites(t *testing.T) {
	fake, site, s := newFakeSite(t)
	site.Requests()
	fake.publish("6.9.0-3-cloud-amd64", "6.9.3-1")
	text, err := os.ReadFile(filepath.Join(fake.dir, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	debs, _ := filepath.Glob(filepath.Join(fake.dir, "pool", "*6.9.3-1*"))
	for _, path := range debs {
		deb, _ := os.ReadFile(path)
		site.Put("pool/"+filepath.Base(path), deb)
	}
	site.Publish(debiantest.Suite{Codename: "trixie-security"}, map[string]string{"main/binary-amd64/Packages": string(text)})
	get := func(version string) {
		t.Helper()
		if err := s.Refetch(t.Context(), "debian13/amd64", NoProgress{}); err != nil {
			t.Fatal(err)
		}
		if spec, err := s.Open("debian13/amd64"); err != nil || spec.Version != version {
			t.Errorf("version %s, want %s: %v", spec.Version, version, err)
		}
	}
	get("6.9.3-1")
	for _, r := range site.Requests() {
		if strings.HasPrefix(r, "dists/") && !strings.HasPrefix(r, "dists/trixie") {
			t.Errorf("asked for %s", r)
		}
	}
	t.Setenv(archive.SecurityVariable, "none")
	get(fakeVersion)
}

// A download whose connection is lost goes on, and nothing is fetched twice.
func TestDirectResume(t *testing.T) {
	_, site, s := newFakeSite(t)
	deb := site.File("pool/" + fakeDebug)
	site.Around = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, fakeDebug) {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(deb)))
		w.Write(deb[:200])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	err := s.Get(t.Context(), fakeImage, NoProgress{})
	if err == nil || !strings.Contains(err.Error(), "was lost (unexpected EOF): the next try goes on from there") {
		t.Errorf("error %v", err)
	}
	checkTidy(t, s, ".parts-debian-amd64", "debian-amd64.lock")
	site.Around = nil
	site.Requests()
	mustGet(t, s)
	var asked []string
	for _, r := range site.Requests() {
		if strings.HasPrefix(r, "pool/") {
			asked = append(asked, r)
		}
	}
	if want := []string{"pool/" + fakeDebug + " bytes=200-"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %v, want %v", asked, want)
	}
}

// What was downloaded of a version that is not wanted any more goes away.
func TestDirectStaleParts(t *testing.T) {
	fake, site, s := newFakeSite(t)
	site.Put("pool/"+fakeDebug, nil)
	if err := s.Get(t.Context(), fakeImage, NoProgress{}); err == nil {
		t.Fatal("no error")
	}
	parts := filepath.Join(s.Dir, "images", ".parts-debian-amd64")
	if entries, err := os.ReadDir(parts); err != nil || len(entries) != 2 {
		t.Errorf("parts %v, %v", entries, err)
	}
	fake.publish("6.9.0-2-cloud-amd64", "6.9.2-1")
	fake.serve(site)
	site.Put("pool/linux-image-6.9.0-2-cloud-amd64_6.9.2-1_amd64.deb", nil)
	if err := s.Get(t.Context(), fakeImage, NoProgress{}); err == nil {
		t.Fatal("no error")
	}
	if entries, err := os.ReadDir(parts); err != nil || len(entries) != 1 { // busybox
		t.Errorf("parts %v, %v", entries, err)
	}
}

// TestDirectErrors fails in every way that a site has: one line, and the next try works.
func TestDirectErrors(t *testing.T) {
	release := "dists/" + archive.HostSuite("/etc/os-release") + "/InRelease"
	for _, test := range []struct {
		name  string
		spoil func(fakeDebian, *debiantest.Archive)
		want  string
		is    error
	}{
		{"no network", func(d fakeDebian, a *debiantest.Archive) { t.Setenv(archive.SiteVariable, "http://127.0.0.1:1/debian") },
			"fetching debian/amd64: cannot reach the Debian package server 127.0.0.1:1 (", ErrNetwork},
		{"not an address", func(d fakeDebian, a *debiantest.Archive) { t.Setenv(archive.SiteVariable, "mirror") },
			"fetching debian/amd64: mirror: it is not the address of a site (want http://HOST/debian) (TRAPLINE_DEBIAN and TRAPLINE_DEBIAN_SECURITY name other sites)", nil},
		{"not Debian", func(d fakeDebian, a *debiantest.Archive) { t.Setenv(archive.SiteVariable, a.URL+"/other") },
			"/other/" + release + ": the site answers 404 Not Found (TRAPLINE_DEBIAN and TRAPLINE_DEBIAN_SECURITY name other sites)", nil},
		{"another key", func(d fakeDebian, a *debiantest.Archive) { a.Key = debiantest.NewKey(t, 0); d.serve(a) },
			"InRelease: it is not signed by a key of Debian 12's or 13's", nil},
		{"changed", func(d fakeDebian, a *debiantest.Archive) {
			a.Put(release, bytes.Replace(a.File(release), []byte("Origin: Debian"), []byte("Origin: Ubuntu"), 1))
		}, "InRelease: its signature is wrong", nil},
		{"damaged on its way", func(d fakeDebian, a *debiantest.Archive) {
			deb := slices.Clone(a.File("pool/" + fakeDebug))
			deb[200] ^= 1
			a.Put("pool/"+fakeDebug, deb)
		}, fakeDebug + ": it was damaged on its way", nil},
		{"gone", func(d fakeDebian, a *debiantest.Archive) { a.Put("pool/"+fakeDebug, nil) },
			fakeDebug + ": the site answers 404 Not Found", nil},
		{"no such package", func(d fakeDebian, a *debiantest.Archive) {
			d.write("archive", "Package: other\nVersion: 1\n")
			d.serve(a)
		},
			"fetching debian/amd64: package linux-image-cloud-amd64 is not in Debian's lists", nil},
		{"no file", func(d fakeDebian, a *debiantest.Archive) {
			text, _ := os.ReadFile(filepath.Join(d.dir, "archive"))
			d.write("archive", strings.ReplaceAll(string(text), "Filename:", "File:"))
			d.serve(a)
		}, "package busybox-static has no file, size or SHA-256 in Debian's lists", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, site, s := newFakeSite(t)
			test.spoil(d, site)
			err := s.Get(t.Context(), fakeImage, NoProgress{})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
			if left, _ := filepath.Glob(filepath.Join(s.Dir, "images", ".get-*")); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A full disk, while downloading or unpacking, leaves what has come for the next try.
func TestDirectDiskFull(t *testing.T) {
	_, site, s := newFakeSite(t)
	deb := site.File("pool/" + fakeDebug)
	parts := filepath.Join(s.Dir, "images", ".parts-debian-amd64")
	full := filepath.Join(parts, fmt.Sprintf("%x", sha256.Sum256(deb)))
	if err := os.MkdirAll(parts, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", full); err != nil {
		t.Fatal(err)
	}
	get := func() {
		t.Helper()
		err := s.Get(t.Context(), fakeImage, NoProgress{})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left in the cache "+s.Dir) {
			t.Errorf("error %v", err)
		}
		checkTidy(t, s, ".parts-debian-amd64", "debian-amd64.lock")
	}
	get()
	if err := os.RemoveAll(full); err != nil {
		t.Fatal(err)
	}
	left := 50_000
	s.create = func(path string) (io.WriteCloser, error) {
		f, err := os.Create(path)
		return fullDisk{f, &left}, err
	}
	get()
	s.create = nil
	site.Requests()
	mustGet(t, s)
	for _, r := range site.Requests() {
		if strings.HasPrefix(r, "pool/") {
			t.Errorf("asked for %s again", r)
		}
	}
}

func TestDirectInterrupted(t *testing.T) {
	_, site, s := newFakeSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	site.Around = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, fakeDebug) {
			w.Write(make([]byte, 10))
			w.(http.Flusher).Flush()
			cancel()
			<-r.Context().Done()
			return true
		}
		return false
	}
	if err := s.Get(ctx, fakeImage, NoProgress{}); !errors.Is(err, context.Canceled) || err.Error() != "fetching debian/amd64: interrupted" {
		t.Errorf("error %v", err)
	}
	checkTidy(t, s, ".parts-debian-amd64", "debian-amd64.lock")
	site.Around = nil
	mustGet(t, s)
}

// What modules are built with comes from the site, too, and needs no program to unpack it.
func TestDirectTree(t *testing.T) {
	fake, withApt := newFakeDebian(t), newStore(t)
	fake.script("dpkg", "#!/bin/sh\necho amd64\n")
	const headers = "linux-headers-" + fakeRelease
	list, err := os.ReadFile(filepath.Join(fake.dir, "archive"))
	if err != nil {
		t.Fatal(err)
	}
	depends := "Depends: linux-headers-6.9-common (= " + fakeVersion + "), linux-kbuild-6.9, gcc-9\n\n"
	text := string(list) +
		strings.TrimSuffix(fake.deb("amd64", headers, fakeVersion, map[string][]byte{
			"usr/src/" + headers + "/Makefile": []byte("include /usr/src/linux-headers-6.9-common/Makefile\n"),
		}), "\n") + depends +
		fake.deb("amd64", "linux-headers-6.9-common", fakeVersion, map[string][]byte{"usr/src/linux-headers-6.9-common/Makefile": []byte("all:\n")}) +
		fake.deb("amd64", "linux-kbuild-6.9", fakeVersion, map[string][]byte{"usr/lib/linux-kbuild-6.9/scripts/x": []byte("x")})
	fake.write("archive", text)
	fake.write("lists", text)
	tree := func(s Store) map[string]string {
		t.Helper()
		mustGet(t, s)
		tr, err := s.tree(t.Context(), fakeImage, NoProgress{})
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(filepath.Join(s.Dir, "trees")); err != nil || len(entries) != 2 {
			t.Errorf("trees: %v, %v", entries, err)
		}
		return filesBelow(t, filepath.Join(tr.dir, "../../.."))
	}
	want := tree(withApt)
	_, without := fake.site()
	if have := tree(without); len(want) != 4 || !maps.Equal(have, want) {
		t.Errorf("files %v, want %v", slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(want)))
	}
}

const fakePatch = `#!/bin/sh
echo "patch $*" >> "$FAKE/log"
if test -e "$FAKE/rejects"; then
	echo "1 out of 1 hunk FAILED"
	exit 1
fi
`

// newFakeBuildSite is a build host without apt, and a site with the sources.
func newFakeBuildSite(t *testing.T) (fakeDebian, *debiantest.Archive, Store) {
	t.Helper()
	d := newFakeBuildHost(t)
	d.script("patch", fakePatch)
	d.remove("bin/dpkg-source")
	lists, err := os.ReadFile(filepath.Join(d.dir, "lists"))
	if err != nil {
		t.Fatal(err)
	}
	d.write("archive", string(lists))
	site, s := d.site()
	entry := "Package: busybox\nVersion: 1:1.35.0-4\nDirectory: pool/busybox\nChecksums-Sha256:\n"
	for name, data := range map[string][]byte{
		"busybox_1.35.0-4.dsc":       []byte("Source: busybox\nVersion: 1:1.35.0-4\n"),
		"busybox_1.35.0.orig.tar.gz": debiantest.Compress(t, ".gz", debiantest.Tar(t, nil, nil)),
		"busybox_1.35.0-4.debian.tar.gz": debiantest.Compress(t, ".gz", tarOf(t, map[string]string{
			"debian/config/pkg/static": "CONFIG_STATIC=y\n",
			"debian/patches/series":    "# first\none.patch\n\ntwo.patch -p1\n",
		})),
	} {
		site.Put("pool/busybox/"+name, data)
		entry += fmt.Sprintf(" %x %d %s\n", sha256.Sum256(data), len(data), name)
	}
	for suffix, list := range map[string]string{"": entry, "-updates": "", "-security": ""} {
		indexes := map[string]string{"main/source/Sources": list}
		for _, arch := range []string{"amd64", "arm64", "riscv64"} {
			indexes["main/binary-"+arch+"/Packages"] = ""
			if suffix == "" {
				indexes["main/binary-"+arch+"/Packages"] = string(lists)
			}
		}
		site.Publish(debiantest.Suite{Codename: archive.HostSuite("/etc/os-release") + suffix}, indexes)
	}
	return d, site, s
}

func tarOf(t *testing.T, files map[string]string) []byte {
	var headers []tar.Header
	for _, name := range slices.Sorted(maps.Keys(files)) {
		headers = append(headers, tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))})
	}
	return debiantest.Tar(t, headers, func(h tar.Header) []byte { return []byte(files[h.Name]) })
}

func TestDirectBuild(t *testing.T) {
	fake, _, s := newFakeBuildSite(t)
	if err := s.Build(t.Context(), builtImage, NoProgress{}); err != nil {
		t.Fatal(err)
	}
	checkTidy(t, s, "linux-riscv64", "linux-riscv64.lock")
	spec, err := s.Open(builtImage)
	if err != nil {
		t.Fatal(err)
	}
	if p := spec.Packages; len(p) != 2 || p[0].Version != "6.9.1-1" || p[1].Name != "busybox (source)" || p[1].Version != "1:1.35.0-4" {
		t.Errorf("packages %v", p)
	}
	log := fake.log()
	if one, two := strings.Index(log, "debian/patches/one.patch"), strings.Index(log, "debian/patches/two.patch"); one < 0 || two < one {
		t.Errorf("called:\n%s", log)
	}
	if strings.Contains(log, "apt-") {
		t.Errorf("called apt:\n%s", log)
	}
}

func TestDirectBuildErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(fakeDebian, *debiantest.Archive)
		want  string
	}{
		{"needs", func(d fakeDebian, a *debiantest.Archive) {
			t.Setenv("PATH", filepath.Join(d.dir, "bin"))
			d.remove("bin/flex")
			d.remove("bin/patch")
			d.remove("bin/riscv64-linux-gnu-gcc-12")
		}, "programs are missing here: patch, flex, riscv64-linux-gnu-gcc, libc.a of riscv64-linux-gnu-gcc"},
		{"patch", func(d fakeDebian, a *debiantest.Archive) { d.write("rejects", "") },
			"unpacking the source of busybox: patch: "},
		{"tarball gone", func(d fakeDebian, a *debiantest.Archive) { a.Put("pool/busybox/busybox_1.35.0.orig.tar.gz", nil) },
			"busybox_1.35.0.orig.tar.gz: the site answers 404 Not Found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, site, s := newFakeBuildSite(t)
			test.spoil(d, site)
			err := s.Build(t.Context(), builtImage, NoProgress{})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestHasApt: a host without both programs has none, and who names a site wants no apt.
func TestHasApt(t *testing.T) {
	d := newFakeDebian(t)
	if !archive.HasApt() {
		t.Error("a Debian has no apt")
	}
	t.Setenv(archive.SiteVariable, "http://mirror/debian")
	if archive.HasApt() {
		t.Error("apt is asked where the user names a site")
	}
	t.Setenv(archive.SiteVariable, "")
	t.Setenv("PATH", filepath.Join(d.dir, "bin"))
	d.remove("bin/apt-cache")
	if archive.HasApt() {
		t.Error("apt without apt-cache")
	}
}
