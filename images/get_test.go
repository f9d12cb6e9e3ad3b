package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	archive "trapline/images/debian"
)

const fakeImage = "debian/amd64"

func newStore(t *testing.T) Store { return Store{Dir: filepath.Join(t.TempDir(), "cache")} }

// imageFile is the path of a file of the fetched image.
func imageFile(s Store, name string) string {
	return filepath.Join(s.Dir, "images", "debian-amd64", name)
}

// mustGet fetches and checks that nothing but the image stays in the cache.
func mustGet(t *testing.T, s Store) {
	t.Helper()
	if err := s.Get(t.Context(), fakeImage, NoProgress{}); err != nil {
		t.Fatal(err)
	}
	checkTidy(t, s, "debian-amd64", "debian-amd64.lock")
}

// checkTidy compares what is in the directory of all images.
func checkTidy(t *testing.T, s Store, want ...string) {
	t.Helper()
	entries, _ := os.ReadDir(filepath.Join(s.Dir, "images"))
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("cache holds %v, want %v", got, want)
	}
}

func TestGet(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	if spec, err := s.Lookup(fakeImage); err != nil || spec.State != NotFetched || spec.Version != "" {
		t.Errorf("before: %v, %v", spec.State, err)
	}
	mustGet(t, s)
	if log := fake.log(); downloads(log) != 1 || strings.Contains(log, "update") {
		t.Errorf("called:\n%s", log)
	}
	spec, err := s.Open(fakeImage)
	if err != nil {
		t.Fatal(err)
	}
	if spec.State != Fetched || spec.Version != fakeVersion || spec.Release != fakeRelease || len(spec.Packages) != 3 || len(spec.Files) != 5 {
		t.Errorf("%+v", spec)
	}
	if root, err := spec.Initrd.Data(); err != nil || !bytes.HasPrefix(root, []byte("070701")) {
		t.Errorf("initrd begins with %.10q: %v", root, err)
	}
	for path, want := range map[string]string{
		spec.Kernel:                "\x7fELF kernel ",
		spec.DebugFile:             "\x7fELF kernel ",
		spec.Compressed:            "MZ compressed kernel " + fakeVersion,
		imageFile(s, "System.map"): "0000 T start\n",
		imageFile(s, "config"):     "CONFIG_FAKE=y\n",
	} {
		if got, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %.40q, %v", path, got, err)
		}
	}
	mustGet(t, s) // nothing to do
	if log := fake.log(); log != "" {
		t.Errorf("called again:\n%s", log)
	}
}

func TestRefetch(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	mustGet(t, s)
	fake.publish("6.9.0-2-cloud-amd64", "6.9.2-1")
	mustGet(t, s)
	if spec, _ := s.Lookup(fakeImage); spec.Version != fakeVersion {
		t.Errorf("Get has changed the version to %s", spec.Version)
	}
	if err := s.Refetch(t.Context(), fakeImage, NoProgress{}); err != nil {
		t.Fatal(err)
	}
	if spec, err := s.Open(fakeImage); err != nil || spec.Version != "6.9.2-1" || spec.Release != "6.9.0-2-cloud-amd64" {
		t.Errorf("%s %s, %v", spec.Version, spec.Release, err)
	}
	checkTidy(t, s, "debian-amd64", "debian-amd64.lock")

	// What cannot be replaced stays.
	fake.write("fail", "E: Failed to fetch http://pool/x  Temporary failure resolving 'pool'\n")
	if err := s.Refetch(t.Context(), fakeImage, NoProgress{}); !errors.Is(err, ErrNetwork) {
		t.Errorf("error %v", err)
	}
	mustGet(t, s)
}

// TestGetLists has host lists that are of no use: fresh ones are got.
func TestGetLists(t *testing.T) {
	for name, spoil := range map[string]func(fakeDebian){
		"missing": func(d fakeDebian) { d.remove("lists") },
		"old": func(d fakeDebian) {
			d.publish("6.8.0-1-cloud-amd64", "6.8.1-1")
			old, _ := os.ReadFile(filepath.Join(d.dir, "lists"))
			d.publish(fakeRelease, fakeVersion)
			d.write("lists", string(old))
			d.remove("pool/linux-image-6.8.0-1-cloud-amd64-dbg_6.8.1-1_amd64.deb")
		},
		"foreign": func(d fakeDebian) { d.write("lists", "Package: other\nVersion: 1\n") },
	} {
		t.Run(name, func(t *testing.T) {
			fake, s := newFakeDebian(t), newStore(t)
			spoil(fake)
			mustGet(t, s)
			if spec, err := s.Open(fakeImage); err != nil || spec.Version != fakeVersion {
				t.Errorf("%s, %v", spec.Version, err)
			}
			if log := fake.log(); strings.Count(log, " update\n") != 1 {
				t.Errorf("called:\n%s", log)
			}
		})
	}
}

// TestGetDamaged spoils a fetched image in every file: the damage is seen, and Get
// puts it right.
func TestGetDamaged(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	mustGet(t, s)
	truncate := func(f string) error { return os.Truncate(f, 5) }
	overwrite := func(f string) error { // same size, same start
		return rewrite(f, func(p []byte) { p[len(p)-1] ^= 1 })
	}
	for _, tt := range []struct {
		file  string
		spoil func(string) error
		quick string // the problem, if it is seen without reading all of it
	}{
		{"vmlinux", truncate, "vmlinux has 5 bytes instead of 100012"},
		{"vmlinux", os.Remove, "vmlinux is missing"},
		{"vmlinux", overwrite, ""},
		{"vmlinux", func(f string) error { return rewrite(f, func(p []byte) { clear(p[:100]) }) }, "vmlinux is damaged"},
		{"vmlinuz", overwrite, ""},
		{"busybox", truncate, "busybox has 5 bytes"},
		{"System.map", overwrite, ""},
		{"config", os.Remove, "config is missing"},
		{manifestName, truncate, "manifest.json"},
		{manifestName, os.Remove, "not fetched"},
		{manifestName, func(f string) error { return os.WriteFile(f, []byte("{}"), 0o644) }, "another version"},
		{"", func(f string) error { return os.RemoveAll(f) }, "not fetched"},
		{"", func(f string) error { os.RemoveAll(f); return os.WriteFile(f, nil, 0o644) }, "not a directory"},
	} {
		if err := tt.spoil(imageFile(s, tt.file)); err != nil {
			t.Fatal(err)
		}
		_, err := s.Open(fakeImage)
		if tt.quick != "" && (!errors.Is(err, ErrNotFetched) || !strings.Contains(err.Error(), tt.quick)) {
			t.Errorf("%s: error %v, want %q", tt.file, err, tt.quick)
		}
		fake.log()
		mustGet(t, s)
		if downloads(fake.log()) != 1 {
			t.Errorf("%s: not fetched again", tt.file)
		}
		if _, err := s.Open(fakeImage); err != nil {
			t.Errorf("%s: after Get: %v", tt.file, err)
		}
	}
}

func rewrite(file string, change func([]byte)) error {
	p, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	change(p)
	return os.WriteFile(file, p, 0o644)
}

// TestGetErrors fails in every way that a host has: one line, and no trace.
func TestGetErrors(t *testing.T) {
	fake := newFakeDebian(t)
	pool := filepath.Join(fake.dir, "pool")
	kernelDeb := filepath.Join(pool, "linux-image-"+fakeRelease+"_"+fakeVersion+"_amd64.deb")
	for _, tt := range []struct {
		name  string
		spoil func()
		want  string
		is    error
	}{
		{"no network", func() {
			fake.write("fail", "W: noise\nE: Failed to fetch http://pool/a.deb  Could not connect to pool:80 (10.0.0.1), connection timed out\nE: Some files failed to download\n")
		}, "fetching debian/amd64: cannot reach the Debian package server", ErrNetwork},
		{"disk full in apt", func() {
			fake.write("fail", "E: Write error - write (28: No space left on device)\n")
		}, "fetching debian/amd64: no space left in the cache ", syscall.ENOSPC},
		{"apt fails", func() { fake.write("fail", "W: noise\nE: The sky is falling\nE: more\n") },
			"fetching debian/amd64: apt-get: The sky is falling", nil},
		{"apt is silent", func() { fake.write("fail", "") }, "fetching debian/amd64: apt-get: exit status 100", nil},
		{"no such package", func() { fake.write("archive", "Package: other\n"); fake.remove("lists") },
			"fetching debian/amd64: package linux-image-cloud-amd64 is not in Debian's lists", nil},
		{"no dependency", func() {
			fake.write("archive", "Package: linux-image-cloud-amd64\nDepends: libc6\n")
			fake.remove("lists")
		},
			`depends on no kernel: "libc6"`, nil},
		{"no debug package", func() {
			fake.write("archive", "Package: linux-image-cloud-amd64\nDepends: linux-image-1 (= 2)\n\nPackage: busybox-static\nVersion: 1\nSize: 1\nSHA256: "+strings.Repeat("0", 64)+"\n")
			fake.remove("lists")
		}, "package linux-image-1 2 is not in Debian's lists", nil},
		{"no hash", func() {
			text, _ := os.ReadFile(filepath.Join(fake.dir, "archive"))
			fake.write("archive", strings.ReplaceAll(string(text), "SHA256", "MD5"))
			fake.remove("lists")
		}, "package busybox-static has no size or no SHA-256", nil},
		{"damaged on its way", func() { rewrite(kernelDeb, func(p []byte) { p[len(p)/2] ^= 1 }) },
			"package linux-image-" + fakeRelease + " was damaged on its way", nil},
		{"file missing", func() {
			entry := fake.deb("amd64", "linux-image-"+fakeRelease, fakeVersion, map[string][]byte{"boot/config-" + fakeRelease: nil})
			fake.replace("linux-image-"+fakeRelease, fakeVersion, entry)
		}, "vmlinuz is not in the package linux-image-" + fakeRelease, nil},
		{"not a package", func() {
			os.WriteFile(kernelDeb, []byte("garbage"), 0o644)
			fake.replace("linux-image-"+fakeRelease, fakeVersion, stanzaOf(t, "linux-image-"+fakeRelease, fakeVersion, kernelDeb))
		}, "unpacking linux-image-" + fakeRelease + ": it is not a Debian package", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			fake.remove("fail")
			fake.publish(fakeRelease, fakeVersion)
			tt.spoil()
			err := s.Get(t.Context(), fakeImage, NoProgress{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v is not %v", err, tt.is)
			}
			checkTidy(t, s, "debian-amd64.lock")
		})
	}
}

// fullDisk takes n bytes and then fails as a full disk does.
type fullDisk struct {
	io.WriteCloser
	left *int
}

func (d fullDisk) Write(p []byte) (int, error) {
	if len(p) > *d.left {
		return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	*d.left -= len(p)
	return d.WriteCloser.Write(p)
}

func TestGetDiskFull(t *testing.T) {
	newFakeDebian(t)
	for _, size := range []int{0, 3000, 50_000} {
		s := newStore(t)
		left := size
		s.create = func(path string) (io.WriteCloser, error) {
			f, err := os.Create(path)
			return fullDisk{f, &left}, err
		}
		err := s.Get(t.Context(), fakeImage, NoProgress{})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left in the cache "+s.Dir) {
			t.Errorf("after %d bytes: error %v", size, err)
		}
		checkTidy(t, s, "debian-amd64.lock")
		s.create = nil
		mustGet(t, s)
	}
}

// waitFor polls for a file: the fake apt-get has come so far.
func waitFor(t *testing.T, path string) []byte {
	t.Helper()
	for range 1000 {
		if text, err := os.ReadFile(path); err == nil && bytes.HasSuffix(text, []byte("\n")) {
			return text
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
	return nil
}

// waitGone waits until a process is no more.
func waitGone(t *testing.T, pid []byte) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("apt-get (process %d) is still there", n)
}

func TestGetInterrupted(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	fake.write("slow", "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Get(ctx, fakeImage, NoProgress{}) }()
	pid := waitFor(t, filepath.Join(fake.dir, "pid"))
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || err.Error() != "fetching debian/amd64: interrupted" {
		t.Errorf("error %v", err)
	}
	waitGone(t, pid)
	checkTidy(t, s, "debian-amd64.lock")
	fake.remove("slow")
	mustGet(t, s)
}

// TestGetKilled kills another process (this program, see TestMain) while it fetches.
func TestGetKilled(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	fake.write("slow", "")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TRAPLINE_TEST_GET="+s.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := waitFor(t, filepath.Join(fake.dir, "pid"))
	cmd.Process.Kill()
	cmd.Wait()
	waitGone(t, pid)
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "images", ".get-*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := s.Open(fakeImage); !errors.Is(err, ErrNotFetched) {
		t.Errorf("error %v", err)
	}
	fake.remove("slow")
	mustGet(t, s)
}

func TestMain(m *testing.M) {
	if dir := os.Getenv("TRAPLINE_TEST_GET"); dir != "" {
		fmt.Println(Store{Dir: dir}.Get(context.Background(), fakeImage, NoProgress{}))
		return
	}
	if dir := os.Getenv("TRAPLINE_TEST_FAULT"); dir != "" {
		if err := victimOfFaults(dir).run(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestGetTogether fetches one image from several sides at once: it is done once.
func TestGetTogether(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := s.Get(t.Context(), fakeImage, NoProgress{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := downloads(fake.log()); n != 1 {
		t.Errorf("downloaded %d times", n)
	}
	checkTidy(t, s, "debian-amd64", "debian-amd64.lock")
}

// TestGetWaiting stops waiting for the lock when it is cancelled.
func TestGetWaiting(t *testing.T) {
	newFakeDebian(t)
	s := newStore(t)
	mustGet(t, s)
	unlock, err := lock(t.Context(), filepath.Join(s.Dir, "images", "debian-amd64.lock"), NoProgress{})
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Get(ctx, fakeImage, NoProgress{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// An image of a release of its own is looked up there, even where the host's lists have
// a kernel of that name.
func TestGetSuite(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	fake.write("lists", "")
	if err := s.Get(t.Context(), "debian13/amd64", NoProgress{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(fake.log()) {
		if !strings.Contains(line, " Dir::Etc::SourceParts=") && !strings.Contains(line, " indextargets ") {
			t.Errorf("asked of the host's lists: %s", line)
		}
	}
	if spec, err := s.Open("debian13/amd64"); err != nil || spec.Version != fakeVersion {
		t.Errorf("version %q, %v", spec.Version, err)
	}
	fake.write("fail", "E: Failed to fetch http://a/b.deb  Could not connect to a:80 (1.2.3.4). - connect (111)")
	if err := s.Refetch(t.Context(), "debian13/amd64", NoProgress{}); !errors.Is(err, ErrNetwork) {
		t.Errorf("error %v", err)
	}
}

// A release of its own comes from the server from which the host has Debian.
func TestGetSuiteSite(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	for targets, want := range map[string]string{
		"":                                      archive.PublicSite,
		"cdrom://disc/\n":                       archive.PublicSite,
		"http://mirror/debian/\nhttp://b/\n":    "http://mirror/debian/",
		"https://mirror.example:8000/debian/\n": "https://mirror.example:8000/debian/",
	} {
		fake.write("targets", targets)
		if err := s.Refetch(t.Context(), "debian13/amd64", NoProgress{}); err != nil {
			t.Fatal(err)
		}
		sources, err := os.ReadFile(filepath.Join(fake.dir, "sources"))
		if err != nil || !strings.Contains(string(sources), "\nURIs: "+want+"\nSuites: trixie trixie-updates\n") {
			t.Errorf("%q: %s, %v", targets, sources, err)
		}
		if !strings.Contains(string(sources), "\nURIs: "+archive.PublicSecurity+"\nSuites: trixie-security\n") {
			t.Errorf("no security updates: %s", sources)
		}
	}
}

// A recorder checks that steps do not overlap and are as long as they said.
type recorder struct {
	t      *testing.T
	steps  []string
	total  int64
	n      int64
	inStep bool
}

func (r *recorder) Start(what string, total int64) {
	if r.inStep {
		r.t.Errorf("step %q begins inside another", what)
	}
	r.inStep, r.total, r.n = true, total, 0
	r.steps = append(r.steps, what)
}
func (r *recorder) Add(n int64) { r.n += n }
func (r *recorder) Done() {
	if r.total >= 0 && r.n != r.total {
		r.t.Errorf("step %q: %d of %d", r.steps[len(r.steps)-1], r.n, r.total)
	}
	r.inStep = false
}

func TestGetProgress(t *testing.T) {
	newFakeDebian(t)
	s, r := newStore(t), &recorder{t: t}
	for range 2 {
		if err := s.Get(t.Context(), fakeImage, r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"asking apt for the newest kernel", "downloading from Debian",
		"checking busybox-static", "unpacking busybox",
		"checking linux-image-" + fakeRelease, "unpacking config", "unpacking vmlinuz",
		"checking linux-image-" + fakeRelease + "-dbg", "unpacking System.map", "unpacking vmlinux",
		"checking debian/amd64",
	}
	if fmt.Sprintf("%q", r.steps) != fmt.Sprintf("%q", want) || r.inStep {
		t.Errorf("steps %q", r.steps)
	}
}

// What is left of an image that was being made is taken away; what is being made of another
// whose name begins alike is not.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	left, err := os.MkdirTemp(dir, workPrefix("linux/riscv64"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.MkdirTemp(dir, workPrefix("linux/riscv64-full"))
	if err != nil {
		t.Fatal(err)
	}
	if err := removeStale(dir, workPrefix("linux/riscv64")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left is still there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("another image's directory is gone")
	}
}
