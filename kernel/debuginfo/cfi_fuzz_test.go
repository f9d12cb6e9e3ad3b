package debuginfo

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
)

// FuzzCallFrames: damage costs frames.
func FuzzCallFrames(f *testing.F) {
	file, err := elf.NewFile(bytes.NewReader(tinyELF(f)))
	if err != nil {
		f.Fatal(err)
	}
	good, err := file.Section(".debug_frame").Data()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), uint32(1), byte(0))
	f.Add(uint32(30), uint32(70), byte(0xff))
	f.Fuzz(func(t *testing.T, at, step uint32, xor byte) {
		data := slices.Clone(good)
		for i := uint64(at); i < uint64(len(data)); i += uint64(step) + 16 {
			data[i] ^= xor
		}
		frames, steps := newCallFrames(data), maxSteps
		for i, e := range frames.entries {
			if i < 100 {
				frames.at(e.Lo, &steps)
				frames.at(e.Hi-1, &steps)
			}
		}
	})
}
