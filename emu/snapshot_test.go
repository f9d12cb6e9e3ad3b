package emu

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"trapline/kernel/arch"
)

// save runs a guest for half its way, saves it to a file and runs it to its end.
func save(t testing.TB, a *arch.Arch) (file, state string) {
	t.Helper()
	g := start(t, a, Config{}, workload)
	g.SetLimit(20_000_000)
	g.run(t, Limit)
	file = filepath.Join(t.TempDir(), "snapshot")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := g.Save(f, []byte("note")); err != nil {
		t.Fatal(err)
	}
	g.Flush()
	g.SetLimit(60e9)
	g.runOff(t)
	state = g.state(t)
	g.Close()
	return file, state
}

func load(t testing.TB, a *arch.Arch, memory uint64, file string) (*guest, error) {
	t.Helper()
	g := &guest{}
	var err error
	if g.Machine, err = New(a, Config{Memory: memory, Console: func(b byte) { g.console.WriteByte(b) }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := OpenSnapshot(f)
	if err != nil {
		return g, err
	}
	if note := string(s.Note()); note != "note" {
		t.Errorf("note %q", note)
	}
	return g, g.Load(s)
}

// A restored guest goes on as the saved one did, as often as one likes.
func TestSnapshot(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		file, want := save(t, a)
		for range 2 {
			g, err := load(t, a, 64<<20, file)
			if err != nil {
				t.Fatal(err)
			}
			g.runOff(t)
			if got := g.state(t); got != want {
				t.Errorf("state %s, want %s", got, want)
			}
			g.Close()
		}
	})
}

func TestSnapshotDamaged(t *testing.T) {
	file, _ := save(t, arch.AMD64)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	used := headerRoom + 0x100000 // the kernel's text
	for name, change := range map[string]func([]byte) []byte{
		"empty":     func(b []byte) []byte { return nil },
		"foreign":   func(b []byte) []byte { return []byte("#!/bin/sh\nexit 0\n") },
		"truncated": func(b []byte) []byte { return b[:len(b)-1] },
		"header":    func(b []byte) []byte { b[100] ^= 1; return b },
		"memory":    func(b []byte) []byte { b[used] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			bad := filepath.Join(t.TempDir(), "bad")
			if err := os.WriteFile(bad, change(append([]byte(nil), whole...)), 0o644); err != nil {
				t.Fatal(err)
			}
			g, err := load(t, arch.AMD64, 64<<20, bad)
			if !errors.Is(err, ErrSnapshot) {
				t.Errorf("error %v, want ErrSnapshot", err)
			}
			g.Close()
		})
	}
	g, err := load(t, arch.AMD64, 128<<20, file)
	if !errors.Is(err, ErrSnapshot) {
		t.Errorf("another size of memory: %v, want ErrSnapshot", err)
	}
	g.Close()
}

func BenchmarkLoad(b *testing.B) {
	file, _ := save(b, arch.AMD64)
	info, _ := os.Stat(file)
	b.ReportMetric(float64(info.Size()>>20), "MiB")
	for b.Loop() {
		g, err := load(b, arch.AMD64, 64<<20, file)
		if err != nil {
			b.Fatal(err)
		}
		g.Close()
	}
}
