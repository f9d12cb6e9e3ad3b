package callsite_test

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"

	"trapline/images/tiny"
	"trapline/kernel/callsite"
)

// FuzzSites: a damaged file is an error, or has fewer or other sites.
func FuzzSites(f *testing.F) {
	good, err := tiny.Kernel("amd64")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0x20), uint32(1<<20), byte(0xff))
	f.Add(uint32(len(good)-64*8), uint32(64), byte(1)) // section headers
	f.Fuzz(func(t *testing.T, at, step uint32, xor byte) {
		data := slices.Clone(good)
		for i := uint64(at); i < uint64(len(data)); i += uint64(step) + 16 {
			data[i] ^= xor
		}
		file, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		sites, err := callsite.Find(file)
		for _, s := range sites {
			if err == nil && int(s.Section) >= len(file.Sections) {
				t.Errorf("%+v is in no section", s)
			}
		}
	})
}
