package copies

import (
	"slices"

	"trapline/insn"
	"trapline/trampoline"
)

// A graph is the instructions of a function and where control goes from each, as the image
// file has them. What the guest patches later, a jump label, is as it is there.
type graph struct {
	f      *Finder
	name   string
	nodes  map[uint64]*node // by link-time address
	starts []uint64         // of symbols
	first  []uint64         // of those that are called: a .cold piece is jumped to
	tables []*node          // indirect jumps
}

// A node is an instruction.
type node struct {
	code   []byte
	next   []uint64 // of a conditional jump the target first; out for elsewhere; nil: nowhere
	branch bool     // conditional
	table  bool     // an indirect jump: next is where it may go
}

// out stands for the address of all that is not in the function.
const out = ^uint64(0)

// add adds the symbol that covers an address, and the pieces of the same function that it
// jumps to.
func (g *graph) add(addr uint64) {
	for todo := []uint64{addr}; len(todo) > 0; {
		addr, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if g.nodes[addr] == nil {
			todo = append(todo, g.decode(addr)...)
		}
	}
	g.settle()
}

// decode adds the instructions of a symbol. It returns where they jump to in other pieces.
func (g *graph) decode(addr uint64) (others []uint64) {
	s, ok := g.f.AtLink(addr)
	if !ok {
		return nil
	}
	start := s.Addr
	code := make([]byte, s.Size)
	if g.nodes[start] != nil || g.f.img.TextLink(start, code) != nil {
		return nil
	}
	g.starts = append(g.starts, start)
	if s.Name == g.name {
		g.first = append(g.first, start)
	}
	for off := 0; off < len(code); {
		n, err := g.f.isa.Length(code[off:])
		if err != nil {
			break
		}
		pc := start + uint64(off)
		flow := g.f.isa.Flow(code[off:], pc)
		off += n
		nd := g.node(flow, pc+uint64(n), off < len(code))
		nd.code = code[off-n : off]
		g.nodes[pc] = nd
		if t := flow.Target; t != 0 && t-start >= s.Size && g.f.whole(t) == g.name {
			others = append(others, t)
		}
	}
	return others
}

// node is an instruction by its flow. next is the address behind it, if more says that
// there is something: what ends a function goes nowhere from there, as a call of panic()
// does.
func (g *graph) node(flow insn.Flow, next uint64, more bool) *node {
	var behind []uint64
	if more {
		behind = []uint64{next}
	}
	switch flow.Way {
	case insn.Jump:
		return &node{next: []uint64{flow.Target}}
	case insn.Branch:
		return &node{next: append([]uint64{flow.Target}, behind...), branch: true}
	case insn.Return:
		return &node{next: []uint64{out}}
	case insn.Indirect:
		n := &node{table: true}
		g.tables = append(g.tables, n)
		return n
	}
	return &node{next: behind}
}

// settle decides where indirect jumps may go: to what nothing else goes to, the targets of
// tables; elsewhere if there is nothing.
func (g *graph) settle() {
	if len(g.tables) == 0 {
		return
	}
	known := map[uint64]bool{}
	for _, n := range g.nodes {
		for _, to := range n.next {
			known[to] = known[to] || !n.table
		}
	}
	targets := []uint64{}
	for addr, n := range g.nodes {
		padding := g.f.isa.Plan(n.code, addr).Kind == trampoline.Guest
		if !known[addr] && !padding && g.f.start(addr) != addr {
			targets = append(targets, addr)
		}
	}
	if len(targets) == 0 {
		targets = []uint64{out}
	}
	slices.Sort(targets)
	for _, n := range g.tables {
		n.next = targets
	}
}

// beside are the instructions to which there is a way from the function's start that does not
// pass an entry.
func (g *graph) beside(entry uint64) map[uint64]bool {
	out := map[uint64]bool{}
	todo := slices.Clone(g.first)
	if len(todo) == 0 { // several functions have the name of the one that the piece is of
		todo = slices.Clone(g.starts)
	}
	for len(todo) > 0 {
		addr := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if out[addr] || addr == entry || g.nodes[addr] == nil {
			continue
		}
		out[addr] = true
		todo = append(todo, g.nodes[addr].next...)
	}
	return out
}
