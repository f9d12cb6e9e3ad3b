package kernel

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Demangle is a symbol's name as its programmers write it: without the mangling of C++ and of Rust (legacy
// and v0), without the types of parameters, and without the hash that Rust adds. A name that is not
// mangled is as it is. What compilers add to the name of a part of a function stays: "f.cold".
func Demangle(name string) string {
	if !mangled(name) {
		return name
	}
	const longest = 11 // as a power of two: less than maxName
	options := []demangle.Option{demangle.NoParams, demangle.MaxLength(longest)}
	base, suffix, _ := strings.Cut(name, ".") // the dots of legacy Rust are inside
	if suffix != "" {
		if plain, err := demangle.ToString(base, options...); err == nil {
			return plain + "." + suffix
		}
	}
	if plain, err := demangle.ToString(name, options...); err == nil && plain != "" {
		return plain
	}
	return name
}

// mangled reports whether a name may be one that Demangle changes.
func mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// demangle gives the entries the names that programmers know. They lie behind those of the file, which
// must not become many times as long by names that refer to themselves.
func (t *Symtab) demangle() {
	var more strings.Builder
	room := 4*len(t.strs) + 1<<20
	for i := range t.entries {
		e := &t.entries[i]
		if !mangled(t.strs[e.name:min(uint64(e.name)+2, uint64(len(t.strs)))]) {
			continue
		}
		name := t.name(e)
		if plain := Demangle(name); plain != name && more.Len()+len(plain) < room {
			e.name = uint32(len(t.strs) + more.Len())
			more.WriteString(plain)
			more.WriteByte(0)
		}
	}
	t.strs += more.String()
}
