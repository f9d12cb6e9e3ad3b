package interleave

import (
	"slices"
	"testing"
)

// Two that belong together are left out together.
func TestShrinkPairs(t *testing.T) {
	var list []Switch
	for i := range 9 {
		list = append(list, Switch{At: uint64(i)})
	}
	left, _ := Shrink(list, 1000, func(all [][]Switch) int {
		return slices.IndexFunc(all, func(list []Switch) bool {
			has := func(n uint64) bool { return slices.Contains(list, Switch{At: n}) }
			return has(8) && has(1) == has(6) && has(0) == has(2) && has(3) == has(7) && has(4) == has(5)
		})
	})
	if len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}

func TestShrink(t *testing.T) {
	for _, tt := range []struct {
		n, limit int
		needed   []int
		most     int // tried
	}{
		{0, 100, nil, 0},
		{1, 100, []int{0}, 1},
		{2, 100, nil, 1},
		{2, 100, []int{0}, 5},
		{2, 100, []int{0, 1}, 6},
		{100, 1000, []int{42}, 30},
		{100, 1000, []int{3, 97}, 90},
		{1000, 1000, []int{3, 500, 501, 997}, 270},
		{100, 10, []int{3, 97}, 10},
		{100, 1000, []int{3, 4, 5, 6, 50, 51, 52, 53}, 350},
	} {
		var list []Switch
		for i := range tt.n {
			list = append(list, Switch{At: uint64(i)})
		}
		has := func(list []Switch) bool {
			for _, n := range tt.needed {
				if !slices.Contains(list, Switch{At: uint64(n)}) {
					return false
				}
			}
			return true
		}
		left, tried := Shrink(list, tt.limit, func(all [][]Switch) int { return slices.IndexFunc(all, has) })
		if !has(left) || tried > tt.most || tt.limit > tt.most && len(left) != len(tt.needed) {
			t.Errorf("%d, %v: %v left after %d", tt.n, tt.needed, left, tried)
		}
	}
}
