package source

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"testing"

	"trapline/kernel"
)

// FuzzInfo: damage is an error, or costs lines and copies.
func FuzzInfo(f *testing.F) {
	good, err := os.ReadFile(tiny("amd64"))
	if err != nil {
		f.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(good))
	if err != nil {
		f.Fatal(err)
	}
	var parts []*elf.Section
	for _, name := range []string{"info", "abbrev", "line", "rnglists", "str", "line_str"} {
		parts = append(parts, file.Section(".debug_"+name))
	}
	f.Add(byte(0), uint32(0), uint32(1), byte(0))
	f.Add(byte(2), uint32(40), uint32(70), byte(0xff))
	f.Fuzz(func(t *testing.T, part byte, at, step uint32, xor byte) {
		data, p := slices.Clone(good), parts[int(part)%len(parts)]
		for i := uint64(at); i < p.FileSize; i += uint64(step) + 16 {
			data[p.Offset+i] ^= xor
		}
		img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "tiny")
		if err != nil {
			t.Fatal(err)
		}
		info, err := Open(img)
		if err != nil {
			return
		}
		funcs := img.Symtab().Funcs()
		for i := 0; i < len(funcs); i += 1 + len(funcs)/20 {
			s := funcs[i]
			if got, err := info.Function(s.Addr, s.Size); err == nil {
				got.Starts()
				got.At(s.Addr + s.Size/2)
			}
		}
	})
}
