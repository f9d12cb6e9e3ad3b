package emu

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

// keepFile runs a guest with the translations in a file, nil for none, and returns what it leaves, how
// the guest ended, and how many blocks were in the file.
func keepFile(t *testing.T, file, key []byte) (left []byte, state string, known uint64, err error) {
	t.Helper()
	g := start(t, arch.AMD64, Config{Memory: MinMemory}, workload)
	defer g.Close()
	name := filepath.Join(t.TempDir(), "translations")
	var f *os.File
	if file != nil {
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err = os.Open(name); err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if err = g.Translations().Keep(f, key); err != nil {
		if again := g.Translations().Keep(nil, nil); again != nil {
			t.Fatal(again)
		}
	}
	g.runOff(t)
	var w bytes.Buffer
	if err := g.Translations().Save(&w, key); err != nil {
		t.Fatal(err)
	}
	return w.Bytes(), g.state(t), g.Translations().Counts().Known, err
}

// Translations are used where they are whole and sealed with the key, and nowhere else.
func TestTranslationsSealed(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	file, state, _, err := keepFile(t, nil, key)
	if err != nil || len(file) < pageSize+sealedChunk {
		t.Fatalf("%d bytes, %v", len(file), err)
	}
	again, _, known, err := keepFile(t, file, key)
	if err != nil || known == 0 {
		t.Fatalf("%d known, %v", known, err)
	}
	if bytes.Equal(again[:pageSize], file[:pageSize]) {
		t.Error("a number that is to be used once has been used again")
	}
	flip := func(at int) []byte { b := slices.Clone(file); b[at] ^= 1; return b }
	for name, c := range map[string]struct {
		file, key []byte
		want      error
	}{
		"another key":    {file, other, ErrSeal},
		"no key":         {file, make([]byte, 32), ErrSeal},
		"first byte":     {flip(pageSize), key, ErrSeal},
		"last byte":      {flip(len(file) - 1), key, ErrSeal},
		"used once":      {flip(len(translationsMagic) + 8), key, ErrSeal},
		"end of head":    {flip(pageSize - 1), key, ErrTranslations},
		"other head":     {slices.Concat(again[:pageSize], file[pageSize:]), key, ErrSeal},
		"truncated":      {file[:len(file)-1], key, ErrTranslations},
		"longer":         {append(slices.Clone(file), 0), key, ErrTranslations},
		"size":           {flip(len(translationsMagic) + 7), key, ErrTranslations},
		"empty":          {[]byte{}, key, ErrTranslations},
		"earlier format": {bytes.Replace(file, []byte(translationsMagic), []byte("trapline translations 1\n"), 1), key, ErrTranslations},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, known, err := keepFile(t, c.file, c.key)
			if !errors.Is(err, c.want) || !errors.Is(err, ErrTranslations) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if known != 0 || got != state {
				t.Errorf("%d known; state %s, want %s", known, got, state)
			}
		})
	}
}
