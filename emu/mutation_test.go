package emu

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"trapline/internal/hostile"
	"trapline/kernel/arch"
)

// A victim is a snapshot in a file, to be changed again and again.
type victim struct {
	a       *arch.Arch
	cpus    int
	f       *os.File
	h       header
	devices []byte
	ram     map[int64]byte // what has been changed of its memory, as it was
}

const victimMemory = MinMemory

// newVictim saves a guest in the middle of its work.
func newVictim(t testing.TB, a *arch.Arch, cpus int) *victim {
	t.Helper()
	g := start(t, a, Config{Memory: victimMemory, CodeBuffer: 16 << 20, CPUs: cpus}, workload)
	defer g.Close()
	g.SetLimit(12_000_000)
	g.run(t, Limit)
	f, err := os.Create(filepath.Join(t.TempDir(), "victim"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := g.Save(f, []byte("note")); err != nil {
		t.Fatal(err)
	}
	h, err := readHeader(f)
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{a: a, cpus: cpus, f: f, h: *h, ram: map[int64]byte{}}
	v.devices, err = io.ReadAll(io.NewSectionReader(f, h.devicesAt(), h.Devices.Size))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A mutation is 14 bytes: what, where, and a value.
const mutationSize = 14

// values that are at the edge of something.
var values = []uint64{0, 1, 2, 7, 8, 15, 16, 31, 64, 127, 128, 255, 1 << 12, 1<<16 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1<<61 - 1, 1 << 61, 1 << 62, 1 << 63, 1<<64 - 1}

// write writes the snapshot to its file, changed as mutations say, with right checksums.
func (v *victim) write(t testing.TB, mutations []byte) {
	h, devices := v.h, slices.Clone(v.devices)
	h.RAM = map[int]uint32{}
	for k, sum := range v.h.RAM {
		h.RAM[k] = sum
	}
	h.CPUs = slices.Clone(v.h.CPUs)
	for i := range h.CPUs {
		h.CPUs[i].State = slices.Clone(h.CPUs[i].State)
	}
	v.undo(t)
	for ; len(mutations) >= mutationSize; mutations = mutations[mutationSize:] {
		what, which, at := mutations[0], int(mutations[1]), int(binary.LittleEndian.Uint32(mutations[2:]))
		value := mutations[6:mutationSize]
		if which&1 != 0 {
			value = binary.LittleEndian.AppendUint64(nil, values[int(value[0])%len(values)])
		}
		cpu := &h.CPUs[which>>4%len(h.CPUs)]
		switch what % 16 {
		case 0, 1, 2, 3, 4: // a word of a CPU, or a part of it
			replace(cpu.State, at, value[:1<<(which>>1&3)])
		case 5, 6, 7, 8, 9, 10:
			replace(devices, at, value[:1<<(which>>1&3)])
		case 11:
			cpu.Idle = value[0]&1 != 0
		case 12:
			cpu.Off = value[0]&1 != 0
		case 13:
			h.Seen = binary.LittleEndian.Uint64(value)
		case 14:
			h.Current = int(value[0] % 3)
			h.Text.Virt += uint64(at)
		default: // what the guest is about to execute, for one
			v.store(t, int64(at)%victimMemory, value[:1<<(which>>1&3)], &h)
		}
	}
	h.Devices = part{int64(len(devices)), crc32.Checksum(devices, castagnoli)}
	_, err := v.f.WriteAt(devices, h.devicesAt())
	if err := errors.Join(err, writeHeader(v.f, &h)); err != nil {
		t.Fatal(err)
	}
}

func replace(b []byte, at int, value []byte) {
	if len(b) > 0 {
		copy(b[at%len(b):], value)
	}
}

// store changes memory, and the checksum of its chunk.
func (v *victim) store(t testing.TB, at int64, value []byte, h *header) {
	value = value[:min(int64(len(value)), victimMemory-at)]
	was := make([]byte, len(value))
	if _, err := v.f.ReadAt(was, headerRoom+at); err != nil {
		t.Fatal(err)
	}
	for i, b := range was {
		if _, ok := v.ram[at+int64(i)]; !ok {
			v.ram[at+int64(i)] = b
		}
	}
	if _, err := v.f.WriteAt(value, headerRoom+at); err != nil {
		t.Fatal(err)
	}
	for k := at / chunk; k <= (at+int64(len(value))-1)/chunk; k++ {
		b := make([]byte, chunk)
		if _, err := v.f.ReadAt(b, headerRoom+k*chunk); err != nil {
			t.Fatal(err)
		}
		h.RAM[int(k)] = crc32.Checksum(b, castagnoli)
	}
}

func (v *victim) undo(t testing.TB) {
	for at, b := range v.ram {
		if _, err := v.f.WriteAt([]byte{b}, headerRoom+at); err != nil {
			t.Fatal(err)
		}
	}
	clear(v.ram)
}

// attack loads the snapshot as mutations change it, and runs the guest a little if that is possible.
// It reports whether it is.
func (v *victim) attack(t testing.TB, mutations []byte) bool {
	v.write(t, mutations)
	m, err := New(v.a, Config{Memory: victimMemory, CodeBuffer: 16 << 20, CPUs: v.cpus})
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{Machine: m}
	defer g.Close()
	before := g.quick(t)
	s, err := OpenSnapshot(v.f)
	if err == nil {
		err = g.Load(s)
	}
	if err != nil {
		if !errors.Is(err, ErrSnapshot) {
			t.Errorf("error %v, want ErrSnapshot", err)
		}
		if got := g.quick(t); got != before {
			t.Errorf("%v: the machine has changed:\n%s\nwas\n%s", err, got, before)
		}
		return false
	}
	g.goOn(t)
	return true
}

// goOn runs the guest for some thousand instructions, or until it is stopped: where one CPU's clock is
// far behind, the limit is far away. However it ends, it ends.
func (g *guest) goOn(t testing.TB) {
	stop := time.AfterFunc(200*time.Millisecond, g.Stop)
	defer stop.Stop()
	stuck := time.AfterFunc(30*time.Second, func() { panic("the guest cannot be stopped") })
	defer stuck.Stop()
	g.SetLimit(g.Now() + 20_000)
	g.Run() // an error is the library's, which gives up on a guest that leads it astray
	if _, err := g.DeviceHash(); err != nil {
		t.Error(err)
	}
}

// quick is what there is of a machine without its memory.
func (g *guest) quick(t testing.TB) string {
	hash, err := g.DeviceHash()
	if err != nil {
		t.Fatal(err)
	}
	page := g.engine.RAM()[:pageSize]
	return string(hash[:]) + string(page)
}

// victims are the machines whose snapshots are attacked.
func victims(t testing.TB) (all []*victim) {
	for _, a := range arch.All {
		all = append(all, newVictim(t, a, 1), newVictim(t, a, 2))
	}
	return all
}

// random is some mutations of a seed.
func random(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 18))
	b := make([]byte, mutationSize*(1+rng.IntN(4)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// A snapshot that somebody has changed, with checksums that are right, is refused, or is that of a
// guest as any other: no run of it does harm.
func TestMutations(t *testing.T) {
	all := victims(t)
	ran, tries := 0, hostile.Mutations(t, 300)
	for seed := range uint64(tries) {
		if all[seed%uint64(len(all))].attack(t, random(seed)) {
			ran++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d of %d could be run", ran, tries)
	if ran == 0 || ran == tries {
		t.Errorf("%d of %d snapshots could be run", ran, tries)
	}
}

func FuzzRestore(f *testing.F) {
	all := victims(f)
	for seed := range uint64(24) {
		f.Add(uint8(seed), random(seed))
	}
	f.Fuzz(func(t *testing.T, which uint8, mutations []byte) {
		all[int(which)%len(all)].attack(t, mutations)
	})
}
