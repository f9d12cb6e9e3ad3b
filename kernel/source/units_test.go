package source

import (
	"debug/dwarf"
	"testing"
)

// A function that begins behind its symbol is found by it, and nothing is by what belongs to none.
func TestAt(t *testing.T) {
	all := []extent{{0x100, 0x140, 1}, {0x148, 0x160, 2}, {0x200, 0x210, 3}}
	for _, c := range []struct {
		lo, hi uint64
		want   dwarf.Offset
	}{
		{0x100, 0x140, 1}, {0x120, 0x140, 1}, {0x140, 0x160, 2}, {0x140, 0x148, 0},
		{0x160, 0x200, 0}, {0xf0, 0x140, 1}, {0xf0, 0x100, 0}, {0x210, 0x300, 0},
	} {
		if got, ok := at(all, c.lo, c.hi); got != c.want || ok != (c.want != 0) {
			t.Errorf("[%#x, %#x): %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}
