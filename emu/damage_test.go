package emu

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// A forged is a snapshot that is changed as whoever means harm would change it: the checksums are
// made right again.
type forged struct {
	h       header
	devices []byte
	ram     map[int]byte // bytes to be stored at offsets in RAM, whatever the checksums say
}

// forge writes the snapshot in a file to a new file, changed.
func forge(t testing.TB, file string, change func(s *forged)) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := readHeader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	at := h.devicesAt()
	s := &forged{h: *h, devices: slices.Clone(b[at:]), ram: map[int]byte{}}
	change(s)
	s.h.Devices = part{int64(len(s.devices)), crc32.Checksum(s.devices, castagnoli)}
	b = append(b[:at:at], s.devices...)
	for i, v := range s.ram {
		b[headerRoom+i] = v
	}
	name := filepath.Join(t.TempDir(), "forged")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := writeHeader(f, &s.h); err != nil {
		t.Fatal(err)
	}
	return name
}

// everything is all there is of a machine, as text.
func (g *guest) everything(t testing.TB) string {
	t.Helper()
	var cpus [][]byte
	for _, c := range g.cpus {
		b, err := c.SaveCPU()
		if err != nil {
			t.Fatal(err)
		}
		cpus = append(cpus, b)
	}
	hash, err := g.StateHash()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x\n%x\n%v %x %d %d %v", hash, cpus, g.text, g.slots, g.engine.ID(), g.engine.Seen(), g.engine.Line())
}

// damages are snapshots that Load must refuse.
var damages = map[string]func(s *forged){
	"CPU short":      func(s *forged) { c := &s.h.CPUs[0]; c.State = c.State[:len(c.State)-8] },
	"CPU long":       func(s *forged) { c := &s.h.CPUs[0]; c.State = append(c.State, 0) },
	"CPU with head":  func(s *forged) { c := &s.h.CPUs[0]; c.State = append([]byte{0, 0, 0, 4, 0, 0, 0, 0}, c.State...) },
	"CPU idle":       func(s *forged) { s.h.CPUs[0].Idle = true },
	"clock":          func(s *forged) { s.h.CPUs[0].State[7] = 0x80 },
	"no CPU":         func(s *forged) { s.h.CPUs = nil },
	"other CPU":      func(s *forged) { s.h.Current = 1 },
	"time read":      func(s *forged) { s.h.Seen = Never },
	"slots":          func(s *forged) { s.h.Slots = 4096 },
	"devices short":  func(s *forged) { s.devices = s.devices[:len(s.devices)-3] },
	"devices long":   func(s *forged) { s.devices = append(s.devices, 0) },
	"no devices":     func(s *forged) { s.devices = nil },
	"a hole":         func(s *forged) { s.ram[40<<20+5] = 1 },
	"the last byte":  func(s *forged) { s.ram[64<<20-1] = 1 },
	"no chunk":       func(s *forged) { s.h.RAM[64] = 0 },
	"chunk below":    func(s *forged) { s.h.RAM[-1] = 0 },
	"chunk far away": func(s *forged) { s.h.RAM[1<<60] = 0 },
}

// A snapshot that is refused leaves the machine as new, and a run on it is that of a new one.
func TestSnapshotForged(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		file, _ := save(t, a)
		fresh := start(t, a, Config{}, workload)
		want := fresh.everything(t)
		fresh.runOff(t)
		end := fresh.everything(t)
		fresh.Close()
		for name, change := range damages {
			t.Run(name, func(t *testing.T) {
				bad := forge(t, file, change)
				g := start(t, a, Config{}, workload)
				defer g.Close()
				f, err := os.Open(bad)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				s, err := OpenSnapshot(f)
				if err == nil {
					err = g.Load(s)
				}
				if !errors.Is(err, ErrSnapshot) {
					t.Fatalf("error %v, want ErrSnapshot", err)
				}
				if got := g.everything(t); got != want {
					t.Errorf("the machine has changed:\n%s\nwas\n%s", got, want)
				}
				if strings.HasSuffix(name, "short") {
					if g.runOff(t); g.everything(t) != end {
						t.Error("it runs otherwise")
					}
				}
			})
		}
	})
}

// What is zero in a file need not be a hole.
func TestSnapshotWithoutHoles(t *testing.T) {
	file, want := save(t, arch.AMD64)
	g, err := load(t, arch.AMD64, 64<<20, forge(t, file, func(*forged) {}))
	if err != nil {
		t.Fatal(err)
	}
	g.runOff(t)
	if got := g.state(t); got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}
