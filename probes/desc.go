package probes

import (
	"fmt"
	"strings"
)

// A Desc describes probes by the four parts of their names. A probe's own Desc is
// literal; one that a script writes is a pattern: each part may hold the globs of
// Glob, and an empty part stands for any.
type Desc struct {
	Provider, Module, Function, Name string
}

// A Part is one of the four parts of a description, from the left.
type Part int

// Parts of a description.
const (
	ProviderPart Part = iota
	ModulePart
	FunctionPart
	NamePart
)

var partNames = [...]string{"provider", "module", "function", "name"}

func (p Part) String() string { return partNames[p] }

// ParseDesc reads "provider:module:function:name". Fewer parts are aligned to the
// right: "f:n" is a function and a name, "n" a name.
func ParseDesc(s string) (Desc, error) { return ParseDescTo(s, NamePart) }

// ParseDescTo reads a description whose last part is last, as the options -f
// (FunctionPart), -m (ModulePart) and -P (ProviderPart) of dtrace(1) take it: with
// FunctionPart, "m:f" is a module and a function.
func ParseDescTo(s string, last Part) (Desc, error) {
	parts := strings.Split(s, ":")
	if len(parts) > int(last)+1 {
		return Desc{}, fmt.Errorf("probe description %q has %d parts: at most %d end in a %s", s, len(parts), last+1, last)
	}
	var d Desc
	first := int(last) + 1 - len(parts)
	for i, text := range parts {
		text = strings.TrimSpace(text)
		if err := checkPart(text); err != nil {
			return Desc{}, fmt.Errorf("probe description %q: %w", s, err)
		}
		*d.part(Part(first + i)) = text
	}
	return d, nil
}

func checkPart(s string) error {
	if i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
		return fmt.Errorf("%q holds a blank or control character", s)
	}
	return nil
}

func (d *Desc) part(p Part) *string {
	return [...]*string{&d.Provider, &d.Module, &d.Function, &d.Name}[p]
}

// String gives all four parts: "kinst:vmlinux:vfs_read:3", ":::BEGIN".
func (d Desc) String() string {
	return d.Provider + ":" + d.Module + ":" + d.Function + ":" + d.Name
}

// Match reports whether d as a pattern matches p.
func (d Desc) Match(p Desc) bool {
	return matchPart(d.Provider, p.Provider) && matchPart(d.Module, p.Module) &&
		matchPart(d.Function, p.Function) && matchPart(d.Name, p.Name)
}

func matchPart(pattern, s string) bool { return pattern == "" || Glob(pattern, s) }

// IsGlob reports whether s holds a character that is special to Glob.
func IsGlob(s string) bool { return strings.ContainsAny(s, `*?[\`) }

// Glob reports whether pattern matches the whole of s, byte by byte: `*` is any
// number of bytes, `?` one, `[a-z]` one of a set, `[!a-z]` one outside it, and a
// backslash takes the next byte as it is. A `[` that is never closed is itself.
func Glob(pattern, s string) bool {
	star, mark := -1, 0 // where the last star stood, and how much it has taken
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, i
			p++
			continue
		}
		if n := matchByte(pattern[p:], s[i]); n > 0 {
			p += n
			i++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		p, i = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchByte matches c with the first element of pattern, which is no star, and returns
// the length of that element, 0 when they do not match.
func matchByte(pattern string, c byte) int {
	if pattern == "" {
		return 0
	}
	n, ok := 1, pattern[0] == c
	switch pattern[0] {
	case '?':
		ok = true
	case '[':
		if set, in := matchSet(pattern, c); set > 0 {
			n, ok = set, in
		}
	case '\\':
		if len(pattern) > 1 {
			n, ok = 2, pattern[1] == c
		}
	}
	if !ok {
		return 0
	}
	return n
}

// matchSet matches c with the set that pattern begins with. Its length is 0 when the
// set is not closed. A `]` that comes first is a member.
func matchSet(pattern string, c byte) (length int, in bool) {
	i := 1
	negate := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negate {
		i++
	}
	for first := i; i < len(pattern); {
		if pattern[i] == ']' && i > first {
			return i + 1, in != negate
		}
		lo, n := setByte(pattern[i:])
		i += n
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, n = setByte(pattern[i+1:])
			i += 1 + n
		}
		in = in || lo <= c && c <= hi
	}
	return 0, false
}

func setByte(s string) (c byte, n int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}
