package kernel

import (
	"cmp"
	"slices"
	"strings"
)

// near is a name and how far it is from the one that was asked for.
type near struct {
	name string
	dist int
}

// Nearest gives at most n names of functions that may have been meant by name, see
// [Nearest].
func (t *Symtab) Nearest(name string, n int) []string {
	var funcs []string
	for i := range t.entries {
		if e := &t.entries[i]; e.code {
			funcs = append(funcs, t.name(e))
		}
	}
	return Nearest(funcs, name, n)
}

// Nearest gives at most n of names that may have been meant by name, the nearest first,
// equally near ones by alphabet: those that few edits turn it into, also when the compiler
// has added a suffix (finish_task_switch.isra.0); if there are none, those that begin most
// like it.
func Nearest(names []string, name string, n int) []string {
	all := similar(names, name)
	if len(all) == 0 {
		all = alike(names, name)
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), strings.Compare(a.name, b.name))
	})
	all = slices.Compact(all)
	var found []string
	for _, m := range all[:min(n, len(all))] {
		found = append(found, m.name)
	}
	return found
}

// similar are the names within a distance that a slip of the fingers makes.
func similar(names []string, name string) []near {
	var all []near
	limit := max(1, min(len(name)/4, 4))
	d := newDistance(name)
	for _, s := range names {
		k := d.to(s, limit)
		if base, suffix, ok := strings.Cut(s, "."); ok && suffix != "" && base != "" {
			k = min(k, d.to(base, limit)+1)
		}
		if k <= limit {
			all = append(all, near{s, k})
		}
	}
	return all
}

// alike are the names that share the longest beginning with name, half of it at least.
func alike(names []string, name string) []near {
	var all []near
	best := max(3, len(name)/2)
	for _, s := range names {
		k := commonPrefix(s, name)
		if k < best {
			continue
		}
		if k > best {
			best, all = k, all[:0]
		}
		all = append(all, near{s, len(s)})
	}
	return all
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
