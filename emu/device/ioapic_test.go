package device

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// redirect writes an entry of the table, the upper half first.
func redirect(a *IOAPIC, pin int, entry uint64) {
	for half := 1; half >= 0; half-- {
		a.Store(ioapicSelect, 4, uint32(ioapicTable+2*pin+half))
		a.Store(ioapicWindow, 4, uint32(entry>>(32*half)))
	}
}

func readIOAPIC(a *IOAPIC, register uint32) uint32 {
	a.Store(ioapicSelect, 4, register)
	return a.Load(ioapicWindow, 4)
}

func TestIOAPICDelivery(t *testing.T) {
	const to = redirectTo
	for _, tt := range []struct {
		name  string
		entry uint64
		want  [3][]int // vectors for each CPU
	}{
		{"physical", 1<<to | 0x41, [3][]int{1: {0x41}}},
		{"physical, to all", 0xff<<to | 0x42, [3][]int{{0x42}, {0x42}, {0x42}}},
		{"logical", 5<<to | redirectLogical | 0x43, [3][]int{0: {0x43}, 2: {0x43}}},
		{"lowest priority", 7<<to | redirectLogical | deliverLowest<<8 | 0x44, [3][]int{1: {0x44}}},
		{"nobody", 9<<to | 0x45, [3][]int{}},
		{"masked", 1<<to | redirectMasked | 0x46, [3][]int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newLAPICs(3)
			r.set(0, lapicTPR, 0x20)
			r.set(2, lapicTPR, 0x30)
			a := NewIOAPIC(r.all)
			redirect(a, 4, tt.entry)
			a.Line(4).Set(true)
			a.Line(4).Set(true) // it has not fallen: nothing new
			a.Line(5).Set(true) // masked as it was made
			for cpu, want := range tt.want {
				wantVectors(t, r.acks(cpu), want...)
			}
		})
	}
}

// A pin that rises again is served again; one that is high when it is unmasked is served then.
func TestIOAPICEdges(t *testing.T) {
	r := newLAPICs(1)
	a := NewIOAPIC(r.all)
	a.Line(3).Set(true)
	wantVectors(t, r.acks(0))
	if !a.Masked(3) {
		t.Error("a new entry is not masked")
	}
	redirect(a, 3, 0x61)
	wantVectors(t, r.acks(0), 0x61)
	r.set(0, lapicEOI, 0)
	redirect(a, 3, 0x61) // it was not masked
	wantVectors(t, r.acks(0))
	a.Line(3).Set(false)
	a.Line(3).Set(true)
	wantVectors(t, r.acks(0), 0x61)
}

func TestIOAPICRegisters(t *testing.T) {
	a := NewIOAPIC(newLAPICs(2).all)
	if id, version := readIOAPIC(a, ioapicID), readIOAPIC(a, ioapicVersion); id != 2<<24 || version != 0x170011 {
		t.Errorf("ID %#x, version %#x", id, version)
	}
	redirect(a, 23, ^uint64(0))
	if lo, hi := readIOAPIC(a, ioapicTable+46), readIOAPIC(a, ioapicTable+47); lo != 0x1afff || hi != 0xff000000 {
		t.Errorf("entry %#x, %#x: want no bits that cannot be written", lo, hi)
	}
	if v := readIOAPIC(a, ioapicTable+48); v != 0 {
		t.Errorf("behind the table: %#x", v)
	}
	a.Store(ioapicSelect, 4, ioapicTable+48)
	a.Store(ioapicWindow, 4, 1)
	a.Store(0x20, 4, 1)
	if v := a.Load(ioapicSelect, 4); v != ioapicTable+48 {
		t.Errorf("selected: %#x", v)
	}
}

func TestIOAPICState(t *testing.T) {
	testState(t, []uint16{0}, func(r *rig) {
		l := newLAPICs(2)
		a := NewIOAPIC(l.all)
		r.dev = a
		r.prod = func(rng *rand.Rand) {
			if pin := rng.IntN(IOAPICPins); rng.IntN(2) == 0 {
				redirect(a, pin, rng.Uint64()&^(3<<57|7<<8)) // to either CPU, fixed
			} else {
				a.Line(pin).Set(rng.IntN(2) == 0)
			}
			for cpu := range l.cpus {
				r.note("%d: %v", cpu, l.acks(cpu))
				l.set(cpu, lapicEOI, 0)
			}
			r.note("%#x", readIOAPIC(a, uint32(rng.IntN(0x40))))
		}
	})
	a, b := NewIOAPIC(newLAPICs(2).all), NewIOAPIC(newLAPICs(2).all)
	rnd := rand.New(rand.NewPCG(1, 2))
	for pin := range IOAPICPins {
		redirect(a, pin, rnd.Uint64())
		a.Line(pin).Set(rnd.IntN(2) == 0)
	}
	saved := saveBytes(t, a)
	if err := restore(b, bytes.NewReader(saved), 0); err != nil || !bytes.Equal(saved, saveBytes(t, b)) {
		t.Errorf("restored: %v", err)
	}
	binary.LittleEndian.PutUint32(saved[5:], 1<<IOAPICPins)
	if restore(b, bytes.NewReader(saved), 0) == nil {
		t.Error("a pin that is not there is high")
	}
}

// The timer of a machine with an I/O APIC arrives by pin 2, serial lines by theirs, and the 8259 pair
// has them as well.
func TestPCWithIOAPIC(t *testing.T) {
	var clock fakeClock
	cpus := []LAPICCPU{new(lapicTester)}
	pc := NewSMP(&clock, &clock, cpus, func() int { return 0 }, true, func(byte) {}, func(byte) {}, func(string) {}, func(Ending) {})
	pc.LAPICs[0].store(lapicSVR<<4, 4, 0x1ff)
	pc.LAPICs[0].store(lapicLVTRest<<4+0x10, 4, lvtMasked) // LINT0
	pc.PIC.Master().Out(1, 1, 0xff)
	if pc.Wake() != Never {
		t.Error("the timer wakes a CPU that nobody tells")
	}
	for pin, vector := range map[int]uint64{2: 0x42, 3: 0x43, 4: 0x44} {
		redirect(pc.IOAPIC, pin, vector)
	}
	pc.Bus.Out(0x43, 1, 0x34)
	pc.Bus.Out(0x40, 1, 0x10)
	pc.Bus.Out(0x40, 1, 0x10)
	clock = fakeClock(pc.Wake())
	pc.Poll()
	for _, port := range []uint16{0x3f8, 0x2f8} {
		pc.Bus.Out(port+4, 1, 0x0b)
		pc.Bus.Out(port+1, 1, 0x02)
	}
	var got []int
	for cpus[0].(*lapicTester).high {
		got = append(got, pc.LAPICs[0].Ack())
		pc.LAPICs[0].store(lapicEOI<<4, 4, 0)
	}
	wantVectors(t, got, 0x44, 0x43, 0x42)
}
