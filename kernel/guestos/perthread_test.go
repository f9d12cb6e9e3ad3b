package guestos

import "testing"

func TestPerThread(t *testing.T) {
	var p PerThread[int]
	a, b := &Thread{Key: 1, Addr: 0x1000}, &Thread{Key: 2, Addr: 0x2000}
	if p.Find(a) != nil || p.Len() != 0 {
		t.Error("something is known of a thread in the beginning")
	}
	*p.Of(a) = 5
	*p.Of(b) += 7
	*p.Of(a)++
	if *p.Find(a) != 6 || *p.Find(b) != 7 || p.Len() != 2 {
		t.Errorf("%d, %d, of %d threads", *p.Find(a), *p.Find(b), p.Len())
	}
	again := &Thread{Key: 3, Addr: 0x1000} // a has ended
	if p.Find(again) != nil || *p.Of(again) != 0 || p.Find(a) != nil || p.Len() != 2 {
		t.Errorf("a thread has what was known of the one before it, or that is still there")
	}
}

// However many threads there are, and wherever, there is an end.
func TestPerThreadBound(t *testing.T) {
	var p PerThread[struct{}]
	for key := range uint64(1 << 17) {
		if p.Of(&Thread{Key: key, Addr: key % 64}) == nil || p.Len() > 64 {
			t.Fatalf("thread %d in one of 64 structures: %d are known", key, p.Len())
		}
	}
	for key := range uint64(maxStructures - 64) {
		if p.Of(&Thread{Key: key, Addr: 64 + key}) == nil {
			t.Fatalf("no room for structure %d", key)
		}
	}
	if p.Of(&Thread{Key: 1, Addr: ^uint64(0)}) != nil || p.Len() != maxStructures {
		t.Errorf("%d are known", p.Len())
	}
	if p.Of(&Thread{Key: 1, Addr: 5}) == nil {
		t.Error("another thread in a structure that is known finds no room")
	}
}
