package device

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeClock is a clock that the test sets.
type fakeClock uint64

func (c *fakeClock) Now() uint64 { return uint64(*c) }

// wire is an interrupt line that counts its rises.
type wire struct {
	high  bool
	rises int
}

func (w *wire) Set(high bool) {
	if high && !w.high {
		w.rises++
	}
	w.high = high
}

// in and out make accesses of one byte.
func in(p Ports, offset uint16) uint8 { return uint8(p.In(offset, 1)) }

func out(p Ports, offset uint16, v ...uint8) {
	for _, b := range v {
		p.Out(offset, 1, uint32(b))
	}
}

// A rig is a device in a test machine of its own. Everything that can be seen of it from
// outside goes to log.
type rig struct {
	clock fakeClock
	bus   PortBus
	dev   State
	poll  func()           // of a Timer, or nil
	prod  func(*rand.Rand) // what reaches the device by other ways than its ports, or nil
	log   []string
}

func (r *rig) note(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// A noteLine notes the changes of a line.
type noteLine struct {
	r    *rig
	name string
	high *bool
}

func (r *rig) line(name string) Line { return noteLine{r, name, new(bool)} }

func (l noteLine) Set(high bool) {
	if high != *l.high {
		l.r.note("%s=%v", l.name, high)
	}
	*l.high = high
}

// drive makes n random accesses to ports, with random pauses between them.
func (r *rig) drive(rng *rand.Rand, n int, ports []uint16) {
	for range n {
		r.clock += fakeClock(rng.ExpFloat64() * 300e3)
		if r.poll != nil {
			r.poll()
		}
		port := ports[rng.IntN(len(ports))]
		switch v := rng.Uint32() & 0xff; {
		case r.prod != nil && rng.IntN(4) == 0:
			r.prod(rng)
		case rng.IntN(2) == 0:
			r.note("%#x -> %#x", port, r.bus.In(port, 1))
		default:
			r.bus.Out(port, 1, v)
		}
	}
}

// testState checks that a device which is saved and loaded into a fresh one goes on as
// the one that was saved. Every State has a test that calls it.
func testState(t *testing.T, ports []uint16, build func(*rig)) {
	t.Helper()
	for seed := range uint64(60) {
		var a, b rig
		build(&a)
		build(&b)
		a.drive(rand.New(rand.NewPCG(seed, 1)), 300, ports)
		saved := saveBytes(t, a.dev)
		b.clock = a.clock
		if err := restore(b.dev, bytes.NewReader(saved), a.clock.Now()); err != nil {
			t.Fatal(err)
		}
		if again := saveBytes(t, b.dev); !bytes.Equal(saved, again) {
			t.Fatalf("seed %d: saved again:\n%x\nwas\n%x", seed, again, saved)
		}
		if err := restore(b.dev, bytes.NewReader(saved[:len(saved)-1]), a.clock.Now()); err == nil {
			t.Fatal("a truncated state is accepted")
		}
		if err := restore(b.dev, bytes.NewReader(saved), a.clock.Now()); err != nil {
			t.Fatal(err)
		}
		a.log, b.log = nil, nil
		a.drive(rand.New(rand.NewPCG(seed, 2)), 300, ports)
		b.drive(rand.New(rand.NewPCG(seed, 2)), 300, ports)
		if diff := cmp.Diff(a.log, b.log); diff != "" {
			t.Fatalf("seed %d: goes on differently (-saved +loaded):\n%s", seed, diff)
		}
		if !bytes.Equal(saveBytes(t, a.dev), saveBytes(t, b.dev)) {
			t.Fatalf("seed %d: states differ in the end", seed)
		}
	}
}

// restore makes what Save has written the state of a device.
func restore(s State, r io.Reader, now uint64) error {
	set, err := s.Parse(r, now)
	if err == nil {
		set()
	}
	return err
}

func saveBytes(t *testing.T, s State) []byte {
	t.Helper()
	var w bytes.Buffer
	if err := s.Save(&w); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}
