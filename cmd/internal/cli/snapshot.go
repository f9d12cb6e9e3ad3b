package cli

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"trapline/emu"
	"trapline/images"
	"trapline/images/control"
	"trapline/images/snapshots"
)

// snapshotCache is where snapshots are kept.
func snapshotCache() (snapshots.Cache, error) {
	dir, err := (images.Store{}).Path()
	return snapshots.Cache{Dir: filepath.Join(dir, "snapshots")}, err
}

// snapshotKey names the snapshot of this guest at the point where its init waits for a
// command; "" if it is to be booted. What the boot depends on is the state in which the
// machine starts (kernel, initrd, command line, memory, input), this program and the
// emulator library.
func (g *guest) snapshotKey() (string, error) {
	if g.options.noSnapshot || g.options.until > 0 || g.options.command == "" {
		return "", nil
	}
	state, err := g.machine.StateHash()
	if err != nil {
		return "", err
	}
	library, err := emu.LibraryVersion()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %s %d %s %s", state, g.arch(), g.machine.Memory(), library, programID())
	return fmt.Sprintf("%x", h.Sum(nil)[:16]), nil
}

// programID changes with every build of this program that could matter.
func programID() string {
	exe, err := os.Executable()
	if err != nil {
		return Version
	}
	if f, err := elf.Open(exe); err == nil {
		defer f.Close()
		if s := f.Section(".note.go.buildid"); s != nil {
			if id, err := s.Data(); err == nil {
				return string(id)
			}
		}
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		return Version
	}
	return info.String()
}

// restore puts the machine where the snapshot was taken. A snapshot that cannot be used
// is told of and discarded.
func (g *guest) restore(e *env, key string) bool {
	cache, err := snapshotCache()
	if err != nil {
		return false
	}
	f, err := cache.Open(key)
	if err != nil {
		return false
	}
	defer f.Close()
	var n note
	text, err := g.machine.Load(f)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		e.complain(fmt.Errorf("snapshot %s discarded: %w", key, err))
		if err := cache.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.complain(err)
		}
		return false
	}
	for _, b := range n.Console {
		g.console(b)
	}
	frame, err := control.Frame{Type: control.Ready}.Append(nil)
	for _, b := range frame {
		g.control(b)
	}
	return err == nil && g.command != nil
}

// A note goes with a snapshot.
type note struct {
	Image   string
	Console []byte // what the guest has said so far
}

func (g *guest) writeSnapshot(f *os.File) error {
	text, err := json.Marshal(note{g.spec.Name, g.said})
	if err != nil {
		return err
	}
	return g.machine.Save(f, text)
}

// save takes a snapshot for the next time. Where that fails the run goes on without.
func (g *guest) save(e *env, key string) {
	cache, err := snapshotCache()
	if err == nil {
		err = cache.Create(key, g.writeSnapshot)
	}
	if err != nil {
		e.complain(fmt.Errorf("%w (going on without; --no-snapshot does not try)", err))
	}
}
