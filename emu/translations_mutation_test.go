// Translations are kept on amd64 hosts alone.
//go:build amd64

package emu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"trapline/internal/hostile"
	"trapline/kernel/arch"
)

// A robbed user is one whose key somebody else has: what is in the file can be anything, with right seals.
type robbed struct {
	key, head, store []byte
	state            string // in which the guest ends
}

func newRobbed(t testing.TB) *robbed {
	t.Helper()
	r := &robbed{key: bytes.Repeat([]byte{1}, 32)}
	g := start(t, arch.AMD64, Config{Memory: MinMemory, CodeBuffer: 16 << 20}, workload)
	defer g.Close()
	if err := g.Translations().Keep(nil, nil); err != nil {
		t.Fatal(err)
	}
	g.runOff(t)
	r.state = g.state(t)
	var w bytes.Buffer
	if err := g.Translations().Save(&w, r.key); err != nil {
		t.Fatal(err)
	}
	file := w.Bytes()
	r.head, file = file[:pageSize], file[pageSize:]
	for len(file) > 0 {
		n := min(len(file)-16, sealedChunk)
		r.store = append(r.store, file[:n]...)
		file = file[n+16:]
	}
	return r
}

// file is a file with that store, sealed.
func (r *robbed) file(t testing.TB, store []byte) []byte {
	head := slices.Clone(r.head)
	binary.LittleEndian.PutUint64(head[len(translationsMagic):], uint64(len(store)))
	s, err := newSealed(nil, r.key, head)
	if err != nil {
		t.Fatal(err)
	}
	out := head
	for at := 0; at < len(store); at += sealedChunk {
		part := store[at:min(at+sealedChunk, len(store))]
		out = append(append(out, part...), s.seal(part, int64(at))...)
	}
	return out
}

// use runs a guest with a store, whose host code is compared and not executed. It reports whether the
// store has been taken.
func (r *robbed) use(t testing.TB, name string, store []byte) (taken bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "translations")
	if err := os.WriteFile(path, r.file(t, store), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g := start(t, arch.AMD64, Config{Memory: MinMemory, CodeBuffer: 16 << 20}, workload)
	defer g.Close()
	err = g.Translations().Keep(f, r.key)
	hostile.OneLine(t, name, err)
	if err != nil && !errors.Is(err, ErrTranslations) {
		t.Errorf("%s: error %v, want ErrTranslations", name, err)
	}
	g.Translations().Check()
	g.runOff(t)
	if got := g.state(t); got != r.state {
		t.Errorf("%s: the guest ends in %s, want %s", name, got, r.state)
	}
	return err == nil
}

// TestTranslationsMutations: a store that has been changed anywhere is refused, or is one of
// translations as any other. Whoever has the key can have the host execute what he likes, so what is
// taken is not executed but compared.
func TestTranslationsMutations(t *testing.T) {
	r := newRobbed(t)
	tries, taken := hostile.Mutations(t, 60), 0
	for i := range tries {
		rng := rand.New(rand.NewPCG(18, uint64(i)))
		store := slices.Clone(r.store)
		hostile.Places(store, 0, 4, rng)
		if rng.IntN(16) == 0 {
			store = store[:1+rng.IntN(len(store))]
		}
		name := fmt.Sprintf("mutation %d", i)
		hostile.Ends(t, name, func() {
			if r.use(t, name, store) {
				taken++
			}
		})
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d of %d stores are taken", taken, tries)
	if taken == 0 || taken == tries {
		t.Errorf("%d of %d stores are taken", taken, tries)
	}
	if !r.use(t, "as it was", r.store) {
		t.Error("the store as it was is not taken")
	}
}

// FuzzTranslations: the same, with changes of the fuzzer's, and one behind another.
func FuzzTranslations(f *testing.F) {
	r := newRobbed(f)
	f.Add(uint32(0), []byte(nil), uint32(0), []byte("\x00"))
	f.Add(uint32(26), []byte("\xff\xff\xff\xff\xff\xff"), uint32(36), []byte("\xff\xff\xff\xff"))
	f.Add(uint32(32), []byte("\xff\xff\x00\x04"), uint32(48), []byte("\xff\x7f"))
	f.Fuzz(func(t *testing.T, at uint32, with []byte, at2 uint32, with2 []byte) {
		store := slices.Clone(r.store)
		copy(store[int(at)%len(store):], with)
		copy(store[int(at2)%len(store):], with2)
		r.use(t, "store", store)
	})
}
