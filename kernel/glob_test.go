package kernel

import "testing"

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "anything", true},
		{"*", "", true},
		{"*", "anything", true},
		{"vfs_read", "vfs_read", true},
		{"vfs_read", "vfs_readv", false},
		{"vfs_read", "vfs_rea", false},
		{"vfs_*", "vfs_read", true},
		{"vfs_*", "do_vfs_read", false},
		{"*read*", "vfs_readv", true},
		{"a*b*c", "aXbXbXc", true},
		{"a*b*c", "aXbXbX", false},
		{"**", "x", true},
		{"vfs_rea?", "vfs_read", true},
		{"vfs_rea?", "vfs_rea", false},
		{"[a-c]x", "bx", true},
		{"[a-c]x", "dx", false},
		{"[!a-c]x", "dx", true},
		{"[!a-c]x", "ax", false},
		{"[abz]", "z", true},
		{"[]a]", "]", true},
		{"[a-]", "-", true},
		{`[\]]`, "]", true},
		{"[a", "a", false},
		{"x[", "x[", false},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{`a\`, `a\`, true},
		{"*.isra.?", "finish_task_switch.isra.0", true},
	} {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a*[b-c]?", "axbz")
	f.Add(`[\`, "x")
	f.Add("[a-", "x")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := Match(pattern, name)
		if !IsGlob(pattern) && got != (pattern == name) {
			t.Errorf("Match(%q, %q) = %v", pattern, name, got)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "acb", 1}, // a swap
		{"abc", "ab", 1},
		{"abc", "xabc", 1},
		{"kitten", "sitting", 3},
		{"", "abc", 3},
	} {
		if got := newDistance(tt.a).to(tt.b, 10); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := newDistance(tt.b).to(tt.a, 10); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
	if got := newDistance("aaaaaaaa").to("bbbbbbbb", 2); got <= 2 {
		t.Errorf("over the limit: %d", got)
	}
}
