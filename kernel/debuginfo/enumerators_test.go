package debuginfo

import (
	"slices"
	"testing"
)

// The enumerators of the teaching kernel are those of its sources.
func TestEnumerator(t *testing.T) {
	types := tinyTypes(t)
	for name, want := range map[string][]int64{
		"nosuch": nil, "": nil, "UNUSED": {0}, "RUNNABLE": {2}, "PROT_USER": {4}, "FILE_PIPE_WRITE": {5},
	} {
		if got := types.Enumerator(name); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
