package kernel

import (
	"path"
	"strings"
	"testing"
)

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
		{"vfs_read", "", false},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"*ab*ab*", "xabxab", true},
		{"*ab*ab*", "xabx", false},
		{"?", "", false},
		{"??", "a", false},
		{"?", "ä", false}, // two bytes
		{"[abc]", "d", false},
		{"[!a-c]", "", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[!]]", "x", true},
		{"[]-a]", "^", true},
		{"[-a]", "-", true},
		{"[!-a]", "-", false},
		{"[c-a]", "b", false},
		{"[^a]", "^", true}, // is no negation
		{"[^a]", "a", true},
		{"[^a]", "b", false},
		{"[a!]", "!", true},
		{`[\!a]`, "!", true},
		{`[\a-\c]`, "b", true},
		{`[a\-c]`, "b", false},
		{"[", "[", false}, // not closed: nothing
		{"[ab", "[ab", false},
		{"a[", "a[", false},
		{"*[", "x[", false},
		{"[]", "]", false},
		{"[!]", "!", false},
		{`[a\]`, "a", false},
		{`\[a`, "[a", true},
		{"a]", "a]", true},
		{`\`, `\`, true},
		{`\?`, "x", false},
		{`\vfs`, "vfs", true},
		{"__x64_sys_*", "__x32_sys_read", false},
	} {
		if got := Match(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestIsGlob(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": true, "*": true, "vfs_?": true, "[a]": true, "[": true, `\*`: true,
		"vfs_read": false, "a]": false, "^a": false, "!a-": false,
	} {
		if got := IsGlob(pattern); got != want {
			t.Errorf("IsGlob(%q) = %v", pattern, got)
		}
	}
}

// A name that is no pattern matches itself alone. Where the standard library's path.Match has the
// same rules, both agree.
func FuzzMatch(f *testing.F) {
	f.Add("a*[b-c]?", "axbz")
	f.Add(`[\`, "x")
	f.Add("[a-", "x")
	f.Add("*a*a*", "aab")
	f.Add("[]-a]", "^")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := Match(pattern, name)
		if !IsGlob(pattern) && got != (pattern == name) {
			t.Errorf("Match(%q, %q) = %v", pattern, name, got)
		}
		for _, c := range pattern + name {
			if strings.ContainsRune(`[]\/^!-`, c) || c >= 0x80 {
				return
			}
		}
		if want, err := path.Match(pattern, name); pattern != "" && err == nil && got != want {
			t.Errorf("Match(%q, %q) = %v, which path.Match does not say", pattern, name, got)
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
