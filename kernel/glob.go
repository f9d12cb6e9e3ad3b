package kernel

import "strings"

// Match reports whether name matches a pattern of dtrace(1), all of it and byte by byte:
//
//	?       one byte
//	*       any number of bytes
//	[a-z_]  one byte of a set of bytes and ranges
//	[!a-z]  one byte outside of the set
//	\x      the byte x itself, in a set too
//
// A ] that comes first in a set, and a - that comes first or last, stand for themselves, as a ^
// does anywhere. A [ that is not closed matches nothing, and a backslash at the end itself. An
// empty pattern matches every name.
func Match(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	// Where to go on after a mismatch: behind the last star, one character later.
	star, retry := -1, 0
	p, n := 0, 0
	for n < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, retry = p, n
			p++
			continue
		}
		if width, ok := matchOne(pattern[p:], name[n]); ok {
			p, n = p+width, n+1
			continue
		}
		if star < 0 {
			return false
		}
		retry++
		p, n = star+1, retry
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// IsGlob reports whether a pattern is more than a name. One that is not matches the name that it
// is, and no other.
func IsGlob(pattern string) bool {
	return pattern == "" || strings.ContainsAny(pattern, `*?[\`)
}

// matchOne matches one character against the pattern's first element, which has width
// bytes.
func matchOne(pattern string, c byte) (width int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchSet(pattern, c)
	case '\\':
		if len(pattern) > 1 {
			return 2, pattern[1] == c
		}
	}
	return 1, pattern[0] == c
}

// matchSet matches a bracket expression. A ] that comes first stands for itself.
func matchSet(pattern string, c byte) (width int, ok bool) {
	i := 1
	negate := strings.HasPrefix(pattern[i:], "!")
	if negate {
		i++
	}
	in := false
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return i + 1, in != negate
		}
		lo, n := setChar(pattern[i:])
		i += n
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, n = setChar(pattern[i+1:])
			i += 1 + n
		}
		in = in || lo <= c && c <= hi
	}
	return 0, false
}

// setChar is the first character of a set, which a backslash may precede.
func setChar(s string) (c byte, width int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}
