// Package copies finds the instructions at which the inlined copies of functions begin and
// end, for probes.
//
//	debuginfo.Copy: ranges, entry --graph of the caller--> Sites: entry, returns
//
// A copy begins at the entry that the debug information has. It ends where control
// leaves it for good: compilers mix its instructions with the caller's and move seldom
// ones away, so its ranges are left and entered again.
//
//	caller:0    push %rbx
//	      +1    mov  %rdi,%rbx    <- entry: 1
//	      +4    test %rbx,%rbx
//	      +7    je   caller+30    <- return: 7-taken
//	      +9    lock incl (%rbx)  <- return: 9
//	      +12   ...               of the caller
//
// What belongs to a call of the copy is what lies on a way from its entry to its own
// instructions, be it the caller's, and what can be reached through the entry alone; a return is
// an instruction from which control goes elsewhere. So each entry has one return, unless the
// guest stops in between. A way back to the entry is a return and an entry. Where compilers
// have let the end of a copy and other code be one, the copy returns before that.
package copies

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel"
	"trapline/kernel/debuginfo"
	"trapline/probes/ktext"
	"trapline/trampoline"
)

// When says at which executions of an instruction a copy ends.
type When uint8

// Conditional jumps end a copy in one case, or in both.
const (
	Always When = iota
	Taken
	NotTaken
)

// A Site is an instruction of a function, as kinst names it.
type Site struct {
	Symbol string
	Addr   uint64 // link-time
	Offset uint64 // from the symbol's start
	When   When
}

// Name is the last part of the probe's description: "13", "7-taken".
func (s Site) Name() string {
	return strconv.FormatUint(s.Offset, 10) + [...]string{"", ktext.Taken, ktext.NotTaken}[s.When]
}

// Sites are those of one copy. Both are empty for a copy without code, and for a part of one.
type Sites struct {
	Entry   *Site
	Returns []Site   // by address
	Notes   []string // what is not as one would expect
}

// A Finder finds sites in one image. It is used by one goroutine at a time.
type Finder struct {
	img    *kernel.Image
	isa    *trampoline.ISA
	graphs map[string]*graph // by function
}

// New makes a Finder.
func New(img *kernel.Image) (*Finder, error) {
	isa, err := trampoline.For(img.Arch())
	if err != nil {
		return nil, err
	}
	return &Finder{img: img, isa: isa, graphs: map[string]*graph{}}, nil
}

// AtLink finds the symbol that covers a link-time address.
func (f *Finder) AtLink(link uint64) (kernel.Symbol, bool) { return f.img.Symtab().AtLink(link) }

// Find finds the sites of a copy.
func (f *Finder) Find(c debuginfo.Copy) Sites {
	var out Sites
	if len(c.Ranges) == 0 {
		return out
	}
	if c.Part {
		out.Notes = append(out.Notes, fmt.Sprintf("the copy in %s at %#x is a part of the one around it", c.Caller, c.Entry))
		return out
	}
	g := f.graphOf(c)
	entry, ok := g.boundary(c)
	if !ok {
		out.Notes = append(out.Notes, fmt.Sprintf("the copy in %s at %#x begins at no instruction", c.Caller, c.Entry))
		return out
	}
	if entry != c.Entry {
		out.Notes = append(out.Notes, fmt.Sprintf("the copy in %s begins at %#x, the next instruction after %#x", c.Caller, entry, c.Entry))
	}
	if s, ok := f.site(g, entry, Always, &out); ok {
		out.Entry = &s
	}
	extent := g.extent(entry, c.Ranges)
	out.Notes = append(out.Notes, g.oddities(c, entry, extent)...)
	for _, x := range g.exits(entry, extent) {
		if s, ok := f.site(g, x.from, x.when, &out); ok {
			out.Returns = append(out.Returns, s)
		}
	}
	if len(out.Returns) == 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("the copy in %s at %#x is never left", c.Caller, entry))
	}
	return out
}

// site names an instruction; one that cannot be displaced becomes a note.
func (f *Finder) site(g *graph, addr uint64, when When, out *Sites) (Site, bool) {
	s, ok := f.AtLink(addr)
	if !ok {
		out.Notes = append(out.Notes, fmt.Sprintf("the instruction at %#x is in no function", addr))
		return Site{}, false
	}
	site := Site{Symbol: s.Name, Addr: addr, Offset: addr - s.Addr, When: when}
	if plan := f.isa.Plan(g.nodes[addr].code, addr); plan.Kind == trampoline.Refuse {
		out.Notes = append(out.Notes, fmt.Sprintf("%s+%d cannot be traced: %s", s.Name, site.Offset, plan.Reason()))
		return Site{}, false
	}
	return site, true
}

// graphOf is the graph of the function that a copy is in, with all its pieces.
func (f *Finder) graphOf(c debuginfo.Copy) *graph {
	name := f.whole(c.Entry)
	key := name + strconv.FormatUint(f.start(c.Entry), 16)
	g := f.graphs[key]
	if g == nil {
		g = &graph{f: f, name: name, nodes: map[uint64]*node{}}
		f.graphs[key] = g
	}
	g.add(c.Entry)
	if len(g.first) == 0 { // a .cold piece need not jump back
		if whole := f.img.Symtab().Lookup(name); len(whole) == 1 {
			g.add(whole[0].Addr - f.img.Slide())
		}
	}
	for _, r := range c.Ranges {
		g.add(r.Lo)
	}
	return g
}

// whole is the name of the function whose piece an address is in.
func (f *Finder) whole(addr uint64) string {
	s, _ := f.AtLink(addr)
	name, _, _ := strings.Cut(s.Name, ".cold")
	return name
}

func (f *Finder) start(addr uint64) uint64 {
	s, _ := f.AtLink(addr)
	return s.Addr
}

// in reports whether an address is in one of the ranges.
func in(ranges []debuginfo.Range, addr uint64) bool {
	return slices.ContainsFunc(ranges, func(r debuginfo.Range) bool { return r.Lo <= addr && addr < r.Hi })
}

// boundary is where the copy's first instruction begins.
func (g *graph) boundary(c debuginfo.Copy) (uint64, bool) {
	const longest = 16
	for addr := c.Entry; addr < c.Entry+longest; addr++ {
		if g.nodes[addr] != nil && (addr == c.Entry || in(c.Ranges, addr)) {
			return addr, true
		}
	}
	return 0, false
}

// An exit is an instruction from which a copy is left.
type exit struct {
	from uint64
	when When
}

// exits finds those of a copy, by address.
func (g *graph) exits(entry uint64, inside map[uint64]bool) []exit {
	var out []exit
	for addr := range inside {
		n := g.nodes[addr]
		leaves := func(to uint64) bool { return to == entry || !inside[to] }
		switch {
		case n.next == nil: // it stops here
		case !slices.ContainsFunc(n.next, leaves):
		case n.table && slices.ContainsFunc(n.next, func(to uint64) bool { return !leaves(to) }): // a switch of the copy's own
		case len(n.next) == 2 && n.branch && !leaves(n.next[0]):
			out = append(out, exit{addr, NotTaken})
		case len(n.next) == 2 && n.branch && !leaves(n.next[1]):
			out = append(out, exit{addr, Taken})
		default:
			out = append(out, exit{addr, Always})
		}
	}
	slices.SortFunc(out, func(a, b exit) int { return cmp.Compare(a.from, b.from) })
	return out
}

// oddities says in what way a copy's entries and returns are not those of a call: from which
// instructions it goes back to the entry, or where it goes on in code that others run too.
func (g *graph) oddities(c debuginfo.Copy, entry uint64, extent map[uint64]bool) (notes []string) {
	again, joins := false, false
	for addr := range extent {
		for _, to := range g.nodes[addr].next {
			again = again || to == entry
			joins = joins || !extent[to] && in(c.Ranges, to)
		}
	}
	if again {
		notes = append(notes, fmt.Sprintf("the copy in %s at %#x begins with a loop: each round is an entry and a return", c.Caller, entry))
	}
	if joins {
		notes = append(notes, fmt.Sprintf("the copy in %s at %#x goes on in code to which there are other ways: it returns before that", c.Caller, entry))
	}
	if at, ok := g.otherWay(c, entry); ok && !joins {
		notes = append(notes, fmt.Sprintf("the copy in %s at %#x has another way in, at %#x: calls that come there have no entry", c.Caller, entry, at))
	}
	return notes
}

// otherWay returns the first instruction of a copy that is reached without passing the entry or
// another instruction of the copy, as it is where a compiler has made code twice because it knows more
// on one of two ways.
func (g *graph) otherWay(c debuginfo.Copy, entry uint64) (addr uint64, ok bool) {
	for from := range g.beside(entry) {
		for _, to := range g.nodes[from].next {
			if to != entry && g.nodes[to] != nil && in(c.Ranges, to) && !in(c.Ranges, from) && (!ok || to < addr) {
				addr, ok = to, true
			}
		}
	}
	return addr, ok
}

// extent is what a call of the copy may run through, and nothing else runs: from the entry,
// all that lies on a way to an instruction of the copy, but not what there is a way to beside
// the entry.
func (g *graph) extent(entry uint64, ranges []debuginfo.Range) map[uint64]bool {
	others := g.beside(entry)
	reached := map[uint64]bool{entry: true}
	order := []uint64{entry}
	back := map[uint64][]uint64{}
	for i := 0; i < len(order); i++ {
		for _, to := range g.nodes[order[i]].next {
			if to == entry || g.nodes[to] == nil || others[to] {
				continue
			}
			back[to] = append(back[to], order[i])
			if !reached[to] {
				reached[to] = true
				order = append(order, to)
			}
		}
	}
	extent := map[uint64]bool{entry: true}
	var todo []uint64
	for _, addr := range order {
		if in(ranges, addr) {
			extent[addr] = true
			todo = append(todo, addr)
		}
	}
	for len(todo) > 0 {
		addr := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range back[addr] {
			if !extent[from] {
				extent[from] = true
				todo = append(todo, from)
			}
		}
	}
	return extent
}
