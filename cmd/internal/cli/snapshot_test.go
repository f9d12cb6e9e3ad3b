package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snapshotFiles are the snapshots in the cache.
func snapshotFiles(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "trapline", "snapshots", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A guest that goes on from a snapshot is the one that was booted: the same output, the
// same state. So is a traced one, and one with its console shown.
func TestSnapshot(t *testing.T) {
	hermetic(t)
	for _, args := range [][]string{
		{"boot", "--stats", "-c", "shapes; forks 3"},
		{"dtrace", "--stats", "-c", "shapes; forks 3", "-n", "kinst::sys_*: { @[probefunc] = count(); }"},
		{"dtrace", "--stats", "--console", "-x", "patch=inplace", "-c", "forks 2", "-n", "kinst::sys_fork: { @ = count(); }"},
	} {
		if r := run("snapshot", "rm", "--all"); r.status != 0 {
			t.Fatal(r)
		}
		booted := run(append(args, "--no-snapshot")...)
		if got := snapshotFiles(t); len(got) != 0 {
			t.Errorf("--no-snapshot makes %v", got)
		}
		for _, how := range []string{"making", "using"} {
			r := run(args...)
			if r.status != 0 || r.stdout != booted.stdout || state(r) != state(booted) {
				t.Errorf("%s: %s a snapshot: %+v, want %+v", args, how, r, booted)
			}
			if got := snapshotFiles(t); len(got) != 1 {
				t.Errorf("%s: %s a snapshot: there are %v", args, how, got)
			}
		}
	}
}

// What the boot depends on makes another snapshot; what comes after it does not.
func TestSnapshotKey(t *testing.T) {
	hermetic(t)
	for n, args := range [][]string{
		{"boot", "-q", "-c", "true"},
		{"boot", "-q", "-c", "true", "--memory", "128"},
		{"boot", "-q", "-c", "true", "--append", "word"},
	} {
		run(args...)
		if got := snapshotFiles(t); len(got) != n+1 {
			t.Errorf("after %s: %d snapshots, want %d", args, len(got), n+1)
		}
	}
	run("boot", "-q", "-c", "false")
	run("dtrace", "-q", "-c", "forks 1", "-n", "BEGIN {}")
	if got := snapshotFiles(t); len(got) != 3 {
		t.Errorf("%d snapshots, want 3", len(got))
	}
}

// A damaged snapshot is reported in one line and made again.
func TestSnapshotDamaged(t *testing.T) {
	hermetic(t)
	args := []string{"boot", "-q", "--stats", "-c", "echo hello"}
	want := run(args...)
	file := snapshotFiles(t)[0]
	for name, damage := range map[string]func() error{
		"truncated": func() error { return os.Truncate(file, 1000) },
		"foreign":   func() error { return os.WriteFile(file, []byte("not a snapshot"), 0o644) },
		"empty":     func() error { return os.WriteFile(file, nil, 0o644) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		r := run(args...)
		line, rest, _ := strings.Cut(r.stderr, "\n")
		if !strings.Contains(line, "discarded: not a usable snapshot") {
			t.Errorf("%s: stderr %q", name, r.stderr)
		}
		r.stderr = rest
		if r.status != 0 || r.stdout != want.stdout || state(r) != state(want) {
			t.Errorf("%s: %+v, want %+v", name, r, want)
		}
		if again := run(args...); strings.Contains(again.stderr, "discarded") {
			t.Errorf("%s: it was not made again: %q", name, again.stderr)
		}
	}
}

func TestSnapshotCommand(t *testing.T) {
	hermetic(t)
	saved := run("snapshot", "save", "tiny/amd64")
	key := strings.TrimSpace(saved.stdout)
	if saved.status != 0 || len(key) != 32 {
		t.Fatal(saved)
	}
	if r := run("snapshot", "ls"); !strings.Contains(r.stdout, key) || !strings.Contains(r.stdout, "tiny/amd64") {
		t.Errorf("ls: %+v", r)
	}
	if r := run("snapshot", "info", key); !strings.Contains(r.stdout, "64 MiB") {
		t.Errorf("info: %+v", r)
	}
	if r := run("snapshot", "rm", key); r.status != 0 || len(snapshotFiles(t)) != 0 {
		t.Errorf("rm: %+v, left %v", r, snapshotFiles(t))
	}
	for _, args := range [][]string{{"info", key}, {"rm", key}} {
		if r := run(append([]string{"snapshot"}, args...)...); r.status != 1 || !strings.Contains(r.stderr, "there is no snapshot") {
			t.Errorf("%s of what is gone: %+v", args, r)
		}
	}
	for _, args := range [][]string{{}, {"ls", "x"}, {"save"}, {"rm"}, {"rm", "--all", key}} {
		if r := run(append([]string{"snapshot"}, args...)...); r.status != 2 {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
