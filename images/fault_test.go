package images

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	archive "trapline/images/debian"
	"trapline/internal/hostile"
)

// A victim gets or builds an image, in this process or in one of its own that is killed.
type victim struct {
	Store
	image string
	verb  func(Store, context.Context, string, Progress) error
}

// Names of the environment of such a process.
const (
	faultDir   = "TRAPLINE_TEST_FAULT"
	faultImage = "TRAPLINE_TEST_FAULT_IMAGE"
	faultKeys  = "TRAPLINE_TEST_FAULT_KEYS" // a file, "" for those of Debian
)

func newVictim(s Store, image string) victim {
	v := victim{s, image, Store.Get}
	if image == builtImage {
		v.verb = Store.Build
	}
	return v
}

func (v victim) run(ctx context.Context) error { return v.verb(v.Store, ctx, v.image, NoProgress{}) }

// victimOfFaults is the one of this process, by its environment.
func victimOfFaults(dir string) victim {
	s := Store{Dir: dir}
	if file, err := os.ReadFile(os.Getenv(faultKeys)); err == nil {
		if keys, err := archive.ReadKeyring(file); err == nil {
			s.keys = &keys
		}
	}
	return newVictim(s, os.Getenv(faultImage))
}

// start starts a process that does it.
func (v victim) start(t *testing.T, keys string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), faultDir+"="+v.Dir, faultImage+"="+v.image, faultKeys+"="+keys)
	cmd.Stderr = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// files is what there is of the image, by the names of its files.
func (v victim) files(t *testing.T) map[string]string {
	t.Helper()
	return filesBelow(t, filepath.Join(v.Dir, "images", fileName(v.image)))
}

// TestFaultKilled kills processes that get an image, by apt and from a site, and that build one (what
// compiles it is fake), at any moment, some of them on what others have left. What is done after that makes
// the image that was made at first, and leaves nothing else.
func TestFaultKilled(t *testing.T) {
	for name, setup := range map[string]func(t *testing.T) (s Store, image, keys string){
		"apt": func(t *testing.T) (Store, string, string) {
			newFakeDebian(t)
			return newStore(t), fakeImage, ""
		},
		"site": func(t *testing.T) (Store, string, string) {
			_, site, s := newFakeSite(t)
			return s, fakeImage, keysFile(t, site.Key.Public())
		},
		"build": func(t *testing.T) (Store, string, string) {
			newFakeBuildHost(t)
			return newStore(t), builtImage, ""
		},
		"build from a site": func(t *testing.T) (Store, string, string) {
			_, site, s := newFakeBuildSite(t)
			return s, builtImage, keysFile(t, site.Key.Public())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, image, keys := setup(t)
			newVictim(s, image).killed(t, keys)
		})
	}
}

func keysFile(t *testing.T, keys []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, keys, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func (v victim) killed(t *testing.T, keys string) {
	began := time.Now()
	if cmd := v.start(t, keys); cmd.Wait() != nil {
		t.Fatalf("%s", cmd.Stderr)
	}
	takes, want := time.Since(began), v.files(t)
	if len(want) < 5 {
		t.Fatalf("%d files", len(want))
	}
	rng := rand.New(rand.NewPCG(18, 0))
	early := 0
	for left := hostile.Kills(t, 10); left > 0; {
		v.spoil(t, rng, slices.Sorted(maps.Keys(want)))
		for n := 1 + rng.IntN(3); n > 0 && left > 0; n, left = n-1, left-1 {
			cmd := v.start(t, keys)
			time.Sleep(time.Duration(rng.Int64N(int64(takes))))
			cmd.Process.Kill()
			if cmd.Wait() != nil {
				early++
			}
		}
		if err := v.run(t.Context()); err != nil {
			t.Fatalf("with %d kills left: %v", left, err)
		}
		if got := v.files(t); !maps.Equal(got, want) {
			t.Fatalf("with %d kills left there are %v, want %v", left, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		checkTidy(t, v.Store, fileName(v.image), fileName(v.image)+".lock")
	}
	t.Logf("%d processes were killed before their end, in up to %v", early, takes)
	if early == 0 {
		t.Error("no process was killed before its end")
	}
}

// spoil removes the image, or changes one of its files.
func (v victim) spoil(t *testing.T, rng *rand.Rand, names []string) {
	t.Helper()
	dir := filepath.Join(v.Dir, "images", fileName(v.image))
	err := os.RemoveAll(filepath.Join(dir, names[rng.IntN(len(names))]))
	if rng.IntN(4) > 0 {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Downloads that a process has left which was killed when the image was whole are removed by the next.
func TestPartsOfWhole(t *testing.T) {
	newFakeDebian(t)
	s := newStore(t)
	mustGet(t, s)
	left := filepath.Join(partsDir(imageFile(s, ""), fakeImage), "linux.deb")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o755), os.WriteFile(left, []byte("part"), 0o644)); err != nil {
		t.Fatal(err)
	}
	mustGet(t, s)
	checkTidy(t, s, "debian-amd64", "debian-amd64.lock")
}
