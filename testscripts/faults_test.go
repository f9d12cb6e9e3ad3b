package testscripts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"trapline/internal/hostile"
)

// faulty is a user with a cache to which things happen. Every run of his prints what the first has.
type faulty struct {
	t    *testing.T
	dir  string
	want string
}

// A run that makes a snapshot and translations, or goes on from them.
var faultyRun = []string{"dtrace", "-c", "forks 2", "-n", "kinst::sys_*:0 { @[probefunc, timestamp] = count(); }"}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{t: t, dir: t.TempDir()}
	f.want = f.run()
	if !strings.Contains(f.want, "sys_fork") {
		t.Fatalf("the first run prints %q", f.want)
	}
	f.clear()
	return f
}

func (f *faulty) cache() string { return filepath.Join(f.dir, "cache", "trapline") }

func (f *faulty) clear() {
	if err := os.RemoveAll(filepath.Join(f.dir, "cache")); err != nil {
		f.t.Fatal(err)
	}
}

// command is trapline, started by a shell that has been prepared.
func (f *faulty) command(prepare string) *exec.Cmd {
	c := exec.Command("sh", append([]string{"-c", prepare + ` exec trapline "$@"`, "sh"}, faultyRun...)...)
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"), "XDG_STATE_HOME="+filepath.Join(f.dir, "state"))
	return c
}

func (f *faulty) run() string {
	f.t.Helper()
	c := f.command("")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		f.t.Fatalf("%v: %s", err, &stderr)
	}
	if text := stderr.String(); strings.Contains(text, "discarded") || strings.Contains(text, "panic") {
		f.t.Errorf("it says %s", text)
	}
	return stdout.String()
}

// check runs it twice: from what is there, and from what that leaves.
func (f *faulty) check(after string) {
	f.t.Helper()
	for range 2 {
		if got := f.run(); got != f.want {
			f.t.Errorf("%s it prints\n%s\nwant\n%s", after, got, f.want)
		}
	}
}

// Processes that are killed at any moment, while they make a snapshot or while they learn translations,
// leave nothing behind that a later one could take for whole.
func TestFaultKilled(t *testing.T) {
	for name, prepare := range map[string]func(*faulty, *rand.Rand){
		"snapshot": func(f *faulty, rng *rand.Rand) {
			if rng.IntN(3) > 0 {
				f.clear()
			}
		},
		"translations": func(f *faulty, rng *rand.Rand) {
			if rng.IntN(3) > 0 {
				os.RemoveAll(filepath.Join(f.cache(), "translations"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) { newFaulty(t).killed(prepare) })
	}
}

// killed kills processes in what prepare leaves, or in what those have left that were killed before.
func (f *faulty) killed(prepare func(*faulty, *rand.Rand)) {
	f.t.Helper()
	rng := rand.New(rand.NewPCG(18, 0))
	f.run()
	prepare(f, rng)
	began := time.Now()
	f.run()
	takes, early := time.Since(began), 0
	for left := hostile.Kills(f.t, 12); left > 0; {
		prepare(f, rng)
		for n := 1 + rng.IntN(3); n > 0 && left > 0; n, left = n-1, left-1 {
			c := f.command("")
			if err := c.Start(); err != nil {
				f.t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(takes))))
			c.Process.Kill()
			if c.Wait() != nil {
				early++
			}
		}
		f.check(fmt.Sprintf("with %d kills left", left))
	}
	f.t.Logf("%d processes were killed before their end, in up to %v", early, takes)
	left, err := filepath.Glob(filepath.Join(f.cache(), "*", ".new-*"))
	if err != nil || len(left) > 2 {
		f.t.Errorf("%d files are left of writers that are gone", len(left))
	}
	if early == 0 {
		f.t.Error("no process was killed before its end")
	}
}

// Several processes begin on one cold cache.
func TestFaultTogether(t *testing.T) {
	f := newFaulty(t)
	for n := 2; n <= 8; n++ {
		f.clear()
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				if got, err := f.command("").Output(); err != nil || string(got) != f.want {
					t.Errorf("of %d: %v\n%s\nwant\n%s", n, err, got, f.want)
				}
			})
		}
		wg.Wait()
		f.check(fmt.Sprintf("after %d together", n))
	}
}

// Where there is no room for a file at its nth KiB the run goes on, and the next one, which has room,
// is as ever.
func TestFaultFull(t *testing.T) {
	f := newFaulty(t)
	for _, kib := range []int{0, 1, 4, 16, 64, 300, 600, 1023, 1024, 1040, 1100, 2000, 20000, 66000} {
		f.clear()
		got, err := f.command(fmt.Sprintf("trap '' XFSZ; ulimit -f %d;", 2*kib)).Output()
		if err != nil || string(got) != f.want {
			t.Errorf("with files of %d KiB: %v\n%s", kib, err, got)
		}
		f.check(fmt.Sprintf("after a disk that was full at %d KiB", kib))
	}
}

// A file system that is full, or cannot be written to at all.
func TestFaultMounted(t *testing.T) {
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", t.TempDir()).Run() != nil {
		return // only root can mount; TestFaultFull is for everybody
	}
	f := newFaulty(t)
	for _, options := range []string{"size=4k", "size=64k", "size=256k", "size=600k", "size=1m", "size=1500k", "ro"} {
		c := f.command("")
		c.Args = append([]string{"unshare", "-m", "sh", "-c", `mkdir -p "$XDG_CACHE_HOME" && mount -t tmpfs -o ` + options + ` none "$XDG_CACHE_HOME" && exec trapline "$@"`, "sh"}, faultyRun...)
		c.Path, _ = exec.LookPath("unshare")
		if got, err := c.Output(); err != nil || string(got) != f.want {
			t.Errorf("%s: %v\n%s", options, err, got)
		}
	}
	f.check("after that")
	c := f.command("")
	c.Args = []string{"unshare", "-m", "sh", "-c", `mount --bind "$XDG_CACHE_HOME" "$XDG_CACHE_HOME" && mount -o remount,bind,ro "$XDG_CACHE_HOME" && exec trapline "$@"`, "sh"}
	c.Args = append(c.Args, faultyRun...)
	c.Path, _ = exec.LookPath("unshare")
	if got, err := c.Output(); err != nil || string(got) != f.want {
		t.Errorf("from a cache that is read-only: %v\n%s", err, got)
	}
	f.check("after a cache that was read-only")
}

// The host's clock has been set back, or the files come from a host where it is ahead.
func TestFaultClock(t *testing.T) {
	f := newFaulty(t)
	f.check("at first")
	for _, year := range []int{1971, 2100} {
		files, err := filepath.Glob(filepath.Join(f.cache(), "*", "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, name := range files {
			when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			if err := os.Chtimes(name, when, when); err != nil {
				t.Fatal(err)
			}
		}
		f.check(fmt.Sprintf("with files of %d", year))
	}
}
