package code

import "testing"

func TestParseSize(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "12": 12, "4k": 4096, "2M": 2 << 20, "1g": 1 << 30, "1t": 1 << 40} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "-1", "1kk", "1x", "99999999999999999999", "99999999999g"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("%s: %d", in, got)
		}
	}
}
