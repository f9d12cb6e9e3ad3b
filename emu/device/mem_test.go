package device

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A memRig is a device with registers in memory in a test machine of its own.
type memRig struct {
	rig
	mem Mem
}

// driveMem makes n random accesses of four bytes, with random pauses between them.
func (r *memRig) driveMem(rng *rand.Rand, n int, offsets []uint64) {
	for range n {
		r.clock += fakeClock(rng.ExpFloat64() * 300e3)
		if r.poll != nil {
			r.poll()
		}
		at := offsets[rng.IntN(len(offsets))]
		switch v := rng.Uint32(); {
		case r.prod != nil && rng.IntN(4) == 0:
			r.prod(rng)
		case rng.IntN(2) == 0:
			r.note("%#x -> %#x", at, r.mem.Load(at, 4))
		default:
			r.mem.Store(at, 4, v)
		}
	}
}

// testMemState is testState for a device in memory.
func testMemState(t *testing.T, offsets []uint64, build func(*memRig)) {
	t.Helper()
	for seed := range uint64(60) {
		var a, b memRig
		build(&a)
		build(&b)
		a.driveMem(rand.New(rand.NewPCG(seed, 1)), 300, offsets)
		saved := saveBytes(t, a.dev)
		b.clock = a.clock
		if err := restore(b.dev, bytes.NewReader(saved[:len(saved)-1]), a.clock.Now()); err == nil {
			t.Fatal("a truncated state is accepted")
		}
		if err := restore(b.dev, bytes.NewReader(saved), a.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if again := saveBytes(t, b.dev); !bytes.Equal(saved, again) {
			t.Fatalf("seed %d: saved again:\n%x\nwas\n%x", seed, again, saved)
		}
		a.log, b.log = nil, nil
		a.driveMem(rand.New(rand.NewPCG(seed, 2)), 300, offsets)
		b.driveMem(rand.New(rand.NewPCG(seed, 2)), 300, offsets)
		if diff := cmp.Diff(a.log, b.log); diff != "" {
			t.Fatalf("seed %d: goes on differently (-saved +loaded):\n%s", seed, diff)
		}
	}
}

// words are the offsets of n registers from base on.
func words(base uint64, n int) (offsets []uint64) {
	for i := range n {
		offsets = append(offsets, base+4*uint64(i))
	}
	return offsets
}

// mirror is a device whose registers hold their own offset, and remembers stores.
type mirror struct{ stored map[uint64]uint32 }

func (e mirror) Load(offset uint64, _ int) uint32          { return uint32(offset) | 0xabcd0000 }
func (e mirror) Store(offset uint64, _ int, v uint32)      { e.stored[offset] = v }
func (e mirror) In(offset uint16, _ int) uint32            { return uint32(offset) }
func (e mirror) Out(offset uint16, size int, value uint32) { e.stored[uint64(offset)] = value }

func TestMemBus(t *testing.T) {
	var b MemBus
	a, c := mirror{map[uint64]uint32{}}, mirror{map[uint64]uint32{}}
	b.Mount(0x1000, 0x100, a)
	b.Mount(0x2000, 0x100, InMemory(c))
	for _, tt := range []struct {
		addr uint64
		size int
		want uint32
	}{
		{0x1004, 4, 0xabcd0004}, {0x1004, 2, 4}, {0x10ff, 1, 0xff}, {0x1100, 4, 0}, {0xfff, 1, 0}, {0x2007, 1, 7},
	} {
		if got := b.Load(tt.addr, tt.size); got != tt.want {
			t.Errorf("load of %d bytes at %#x: %#x, want %#x", tt.size, tt.addr, got, tt.want)
		}
	}
	b.Store(0x1008, 1, 0x1234)
	b.Store(0x3000, 4, 1)
	b.Store(0x2001, 1, 5)
	if a.stored[8] != 0x34 || c.stored[1] != 5 || len(a.stored)+len(c.stored) != 2 {
		t.Errorf("stores %v, %v", a.stored, c.stored)
	}
	defer func() {
		if recover() == nil {
			t.Error("an address can be claimed twice")
		}
	}()
	b.Mount(0x10f0, 0x20, a)
}
