package copies

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"trapline/images/tiny"
	"trapline/kernel"
	"trapline/kernel/debuginfo"
)

// TestWalks: on any way through a function, entries and returns of each copy in it alternate.
func TestWalks(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64", "riscv64"} {
		t.Run(arch, func(t *testing.T) {
			data, err := tiny.Kernel(arch)
			if err != nil {
				t.Fatal(err)
			}
			img, err := kernel.New(bytes.NewReader(data), int64(len(data)), arch)
			if err != nil {
				t.Fatal(err)
			}
			x, err := debuginfo.OpenIndex(img, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := walkAll(t, img, x, 1); n < 100 {
				t.Errorf("only %d entries", n)
			}
		})
	}
}

// walkAll walks through the functions that the copies are in, of each nth copy, and gives the
// number of entries.
func walkAll(t *testing.T, img *kernel.Image, x *debuginfo.Index, nth int) (entries int) {
	t.Helper()
	find, err := New(img)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	count := 0
	for _, name := range x.Glob("") {
		f, _ := x.Function(name)
		for _, c := range f.Copies {
			if count++; count%nth != 0 {
				continue
			}
			sites := find.Find(c)
			if sites.Entry == nil {
				continue
			}
			w := walk{g: find.graphOf(c), entry: sites.Entry.Addr, returns: map[uint64]When{}}
			for _, s := range sites.Returns {
				w.returns[s.Addr] = s.When
			}
			for range 20 {
				if !w.random(r) {
					t.Errorf("%s: the copy in %s: entries and returns do not alternate: %+v", name, c.Caller, sites)
					break
				}
			}
			entries += w.entries
		}
	}
	return entries
}

// A walk goes through a function as a guest might.
type walk struct {
	g       *graph
	entry   uint64
	returns map[uint64]When
	inside  bool
	entries int
}

// random walks until there is nothing behind, or a table that may be another's, and tells
// whether entries and returns have alternated.
func (w *walk) random(r *rand.Rand) bool {
	w.inside = false
	at := append(slices.Clone(w.g.first), w.g.starts...)[0]
	for range 1000 {
		if at == w.entry {
			if w.inside {
				return false
			}
			w.inside = true
			w.entries++
		}
		n := w.g.nodes[at]
		if n == nil || n.table || len(n.next) == 0 {
			return true
		}
		way := r.IntN(len(n.next))
		when, ok := w.returns[at]
		if ok && (when == Always || !n.branch || (when == Taken) == (way == 0)) {
			if !w.inside {
				return false
			}
			w.inside = false
		}
		at = n.next[way]
	}
	return true
}
