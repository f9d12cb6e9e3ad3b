//go:build linuximage

package debuginfo

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel"
)

// comparePerf compares the entries of functions with where perf would probe them. It reads
// everything for each function that it is asked for, but a pattern costs no more: so it is
// asked for one that at least n functions with copies match.
//
// The perf of Debian 12 is asked, 6.1. Later ones number their events, and leave out and add places for
// reasons that no explainer knows yet.
func comparePerf(t *testing.T, img *kernel.Image, x *Index, path string, n int) {
	t.Helper()
	if v := output(t, "perf", "--version"); !strings.HasPrefix(v, "perf version 6.1.") {
		t.Logf("not compared with perf: %s", v)
		return
	}
	pattern, names := seededPattern(x, n)
	e := explainer{NewLocals(img, x, New(img, "", ""), img), perfPlaces(t, path, pattern), map[uint64]bool{}}
	for _, places := range e.places {
		for _, p := range places {
			for _, addr := range p.addrs {
				e.others[addr] = true
			}
		}
	}
	same, count := 0, map[string]int{}
	for _, name := range names {
		f, _ := x.Function(name)
		differences := e.differs(f)
		if len(differences) == 0 {
			same++
		}
		for _, why := range differences {
			count[why]++
		}
		if slices.Contains(differences, "") {
			t.Errorf("%s: perf has other copies", name)
		}
	}
	t.Logf("%s: %d functions, of %d of which perf has the same copies; the others: %v", pattern, len(names), same, count)
	if same < len(names)*2/3 {
		t.Errorf("perf has the same copies of %d functions only", same)
	}
}

// seededPattern is a pattern, always the same, that at least n functions match which have
// been inlined somewhere, and those.
func seededPattern(x *Index, n int) (string, []string) {
	letters := []byte("abcdefghijklmnopqrstuvwxyz")
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	for i := range letters {
		pattern := fmt.Sprintf("??[%s]*t", letters[:i+1])
		if names := inlinedOf(x, pattern); len(names) >= n {
			return pattern, names
		}
	}
	return "*", inlinedOf(x, "*")
}

// An explainer says why perf lacks what an index has.
type explainer struct {
	*Locals
	places map[string][]perfPlace // by function
	others map[uint64]bool        // where perf has any function
}

// differs are the reasons of what perf has otherwise of a function, "" where there is none.
func (e explainer) differs(f Function) (why []string) {
	at, known := map[uint64]bool{}, map[uint64]bool{}
	for _, p := range e.places[f.Name] {
		for _, addr := range p.addrs {
			at[addr] = true
		}
	}
	for _, d := range f.Regular {
		known[d.Entry] = true
	}
	for _, c := range f.Copies {
		known[c.Entry] = true
		if len(c.Ranges) > 0 && !at[c.Entry] {
			why = append(why, e.lacks(c))
		}
	}
	for _, p := range e.places[f.Name] {
		if !slices.ContainsFunc(p.addrs, func(addr uint64) bool { return known[addr] }) {
			why = append(why, e.more(f, p))
		}
	}
	return why
}

// lacks is why perf does not have a copy.
func (e explainer) lacks(c Copy) string {
	n, _ := e.node(e.unitAt(c.die), c.die)
	_, line := e.completed(&n, atDeclLine)
	switch {
	case e.others[c.Entry]:
		return "of several at one address perf has one"
	case line != nil && int(line.value.raw) == c.CallLine:
		return "perf passes over what is called on its own line"
	case !slices.ContainsFunc(c.Ranges, func(r Range) bool { return r.Lo <= c.Entry && c.Entry < r.Hi }):
		return "perf passes over an entry that is in none of the ranges"
	case slices.ContainsFunc(e.ranges(&n), func(r Range) bool { return r.Lo == r.Hi }):
		return emptyRange
	}
	return ""
}

const emptyRange = "perf has where an empty range begins"

// more is why perf has a place where no copy is.
func (e explainer) more(f Function, p perfPlace) string {
	for _, c := range f.Copies {
		n, _ := e.node(e.unitAt(c.die), c.die)
		for _, r := range e.ranges(&n) {
			if r.Lo == r.Hi && slices.Contains(p.addrs, r.Lo) {
				return emptyRange
			}
		}
	}
	return ""
}

// ranges are all of an entry, empty ones too: what relaxing has taken the code of has its
// beginning as its end.
func (e explainer) ranges(n *node) (all []Range) {
	low, high := n.get(atLowPC), n.get(atHighPC)
	if low != nil && high != nil && (high.value == low.value || high.value.raw == 0) {
		at, _ := e.s.address(n.unit.unit, &n.unit.root, low.value)
		all = append(all, Range{at, at})
	}
	if a := n.get(atRanges); a != nil {
		e.s.eachRange(n.unit.unit, &n.unit.root, a.value, func(r Range) bool { all = append(all, r); return true })
	}
	return all
}

// A perfPlace is where perf would probe a function: several symbols may have the name.
type perfPlace struct {
	symbol string
	addrs  []uint64
}

var perfProbe = regexp.MustCompile(`(?m)^p:probe/(\w+) (.+)\+(\d+)$`)

// perfPlaces are where perf would probe the functions that match a pattern.
func perfPlaces(t *testing.T, path, pattern string) map[string][]perfPlace {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string][]uint64{} // of those too that only mark code
	for _, s := range symbols {
		starts[s.Name] = append(starts[s.Name], s.Value)
	}
	places := map[string][]perfPlace{}
	for _, m := range perfProbe.FindAllStringSubmatch(output(t, "perf", "probe", "-k", path, "--max-probes=1000000", "-D", pattern), -1) {
		offset, err := strconv.ParseUint(m[3], 10, 64)
		if err != nil {
			t.Fatal(m[0], err)
		}
		p := perfPlace{symbol: m[2]}
		for _, start := range starts[p.symbol] {
			p.addrs = append(p.addrs, start+offset)
		}
		places[m[1]] = append(places[m[1]], p)
	}
	return places
}
