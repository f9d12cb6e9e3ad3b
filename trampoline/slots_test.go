package trampoline

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSlots(t *testing.T) {
	s := NewSlots(0x10000, 2*SlotPage, 1024)
	var pages []uint64
	s.OnPage = func(p uint64) { pages = append(pages, p) }
	for i := range 8 {
		if a, err := s.Alloc(); a != 0x10000+uint64(i)*1024 || err != nil {
			t.Errorf("slot %d: %#x, %v", i, a, err)
		}
	}
	if _, err := s.Alloc(); !errors.Is(err, ErrNoSlot) {
		t.Errorf("the ninth of eight slots: %v", err)
	}
	for _, a := range []uint64{0x11400, 0x10800, 0x11000, 0x11800, 0x11c00} {
		s.Free(a)
	}
	for _, want := range []uint64{0x10800, 0x11000, 0x11400} { // lowest first
		if a, err := s.Alloc(); a != want || err != nil {
			t.Errorf("%#x, %v, want %#x", a, err, want)
		}
	}
	if want := []uint64{0x10000, 0x11000, 0x11000}; !slices.Equal(pages, want) {
		t.Errorf("pages %#x, want %#x", pages, want)
	}
	if s.Used() != 6 {
		t.Errorf("%d used", s.Used())
	}
}

// TestSlotsRandom compares with the plainest account there is.
func TestSlotsRandom(t *testing.T) {
	const n, size = 512, 32
	rnd := rand.New(rand.NewPCG(1, 2))
	s := NewSlots(0, n*size, size)
	var taken [n]bool
	for range 20000 {
		if i := rnd.IntN(n); taken[i] {
			s.Free(uint64(i) * size)
			taken[i] = false
		} else if want := slices.Index(taken[:], false); rnd.IntN(3) < 2 {
			a, err := s.Alloc()
			if err != nil || a != uint64(want)*size {
				t.Fatalf("got %#x, %v, want %#x", a, err, want*size)
			}
			taken[want] = true
		}
	}
}

func TestSlotsMisuse(t *testing.T) {
	for name, f := range map[string]func(s *Slots){
		"twice":       func(s *Slots) { s.Free(0x1000); s.Free(0x1000) },
		"inside":      func(s *Slots) { s.Free(0x1001) },
		"outside":     func(s *Slots) { s.Free(0) },
		"never given": func(s *Slots) { s.Free(0x2000) },
		"odd base":    func(*Slots) { NewSlots(1, SlotPage, 32) },
		"odd size":    func(*Slots) { NewSlots(0, SlotPage, 33) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			s := NewSlots(0x1000, 16*SlotPage, 32)
			if _, err := s.Alloc(); err != nil {
				t.Error(err)
			}
			f(s)
		})
	}
}

func BenchmarkSlots(b *testing.B) {
	s := NewSlots(0, 1<<40, 32)
	for b.Loop() {
		if _, err := s.Alloc(); err != nil {
			b.Fatal(err)
		}
	}
}
