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
	"trapline/owned"
)

// snapshotCache is where snapshots are kept.
func snapshotCache() (snapshots.Cache, error) {
	dir, err := (images.Store{}).Path()
	return snapshots.Cache{Dir: filepath.Join(dir, "snapshots")}, err
}

// snapshotKey names the snapshot of this guest at the point where its init waits for a
// command; "" if it is to be booted.
func (g *guest) snapshotKey() (string, error) {
	if g.options.noSnapshot || g.options.until > 0 || g.options.command == "" {
		return "", nil
	}
	return g.key()
}

// key says all that a boot depends on: what would be placed in memory, the state of the rest of the
// machine (the console's input is in it), this program and the emulator library. Only before that is
// placed.
func (g *guest) key() (string, error) {
	kernel, err := g.Digest()
	if err != nil {
		return "", err
	}
	rest, err := g.machine.DeviceHash()
	if err != nil {
		return "", err
	}
	library, err := emu.LibraryVersion()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s %s %x %x %q %q", g.Arch(), g.machine.Memory(), library, programID(),
		rest, kernel, g.origin.root.ID(), g.origin.placing.CommandLine)
	if firmware := g.origin.placing.Firmware; firmware != nil {
		fmt.Fprintf(h, " %x", sha256.Sum256(firmware))
	}
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

// A saved is what there is of a guest's snapshot.
type saved struct {
	key     string // "" if the guest is to be booted
	file    *os.File
	snap    *emu.Snapshot // nil: there is none
	err     error         // why not, if there is a file
	foreign error         // why a file is not looked at
}

// look looks for the guest's snapshot, once, and has it compared with its checksums.
func (g *guest) look() (err error) {
	if g.origin.saved != nil {
		return nil
	}
	g.origin.saved = new(saved)
	if g.origin.saved.key, err = g.snapshotKey(); err != nil || g.origin.saved.key == "" {
		return err
	}
	cache, err := snapshotCache()
	if err != nil {
		return nil
	}
	g.origin.saved.file, err = cache.Open(g.origin.saved.key)
	if errors.Is(err, owned.ErrForeign) {
		g.origin.saved.foreign = err
	}
	if err != nil {
		return nil
	}
	g.Keep(g.origin.saved.file)
	g.origin.saved.snap, g.origin.saved.err = emu.OpenSnapshot(g.origin.saved.file)
	return nil
}

// load puts the machine where the snapshot was taken.
func (s *saved) load(m *emu.Machine) (n note, err error) {
	if s.err != nil {
		return n, s.err
	}
	if err := json.Unmarshal(s.snap.Note(), &n); err != nil {
		return n, fmt.Errorf("%w: its note: %w", emu.ErrSnapshot, err)
	}
	return n, m.Load(s.snap)
}

// restore goes on from the guest's snapshot. One that cannot be used is reported and discarded.
func (g *guest) restore(e *env) bool {
	if g.origin.saved.foreign != nil {
		g.passedOver(e, fmt.Errorf("snapshot %s not used: %w", g.origin.saved.key, g.origin.saved.foreign))
	}
	if g.origin.saved.file == nil {
		return false
	}
	n, err := g.origin.saved.load(g.machine)
	if err != nil {
		e.complain(fmt.Errorf("snapshot %s discarded: %w", g.origin.saved.key, err))
		if err := discard(g.origin.saved.key); err != nil {
			e.complain(err)
		}
		return false
	}
	g.origin.placed, g.origin.moves = true, n.Moves
	for _, b := range n.Console {
		g.console(b)
	}
	frame, err := control.Frame{Type: control.Ready}.Append(nil)
	for _, b := range frame {
		g.control(b)
	}
	return err == nil && g.init.command != nil
}

// discard removes a snapshot from the cache.
func discard(key string) error {
	cache, err := snapshotCache()
	if err == nil {
		err = cache.Remove(key)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else has
	}
	return err
}

// A note goes with a snapshot.
type note struct {
	Image   string
	Console []byte // what the guest has said so far
	Moves   bool   // the kernel decides where it runs
}

func (g *guest) writeSnapshot(f *os.File) error {
	text, err := json.Marshal(note{g.Spec.Name, g.log.said, g.origin.moves})
	if err != nil {
		return err
	}
	return g.machine.Save(f, text)
}

// save takes a snapshot for the next time. Where that fails the run goes on without, unless the
// snapshot is what it is for.
func (g *guest) save(e *env, key string) error {
	cache, err := snapshotCache()
	if err == nil {
		err = cache.Create(key, g.writeSnapshot)
	}
	if err == nil || g.config.mustSave {
		return err
	}
	if !errors.Is(err, owned.ErrForeign) { // which -v has reported
		e.complain(fmt.Errorf("%w (going on without; --no-snapshot does not try)", err))
	}
	return nil
}
