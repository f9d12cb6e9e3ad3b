package probes

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"trapline/kernel"
)

// A Registry holds all probes and gives them their numbers. The order of the calls
// decides the numbers, nothing else.
type Registry struct {
	providers []Provider
	groups    map[groupKey]*Group
	retired   map[groupKey][]*Group // by keys without base
	chunks    [][]Probe             // of chunkSize each, so that a *Probe stays where it is
	n         int
	enabled   []uint16 // how many want the probe, by ID
}

const chunkSize = 1024

type groupKey struct {
	provider         Provider
	module, function string
	base             uint64
	suffix           string
}

// Provider finds a provider by its name.
func (r *Registry) Provider(name string) (Provider, bool) {
	i := slices.IndexFunc(r.providers, func(p Provider) bool { return p.Name() == name })
	if i < 0 {
		return nil, false
	}
	return r.providers[i], true
}

// Retire says that a module is not there any more: its probes stay, and become those of
// functions of the same names when the module is there again, perhaps elsewhere. None of
// them is enabled.
func (r *Registry) Retire(module string) {
	var gone []*Group
	for key, g := range r.groups {
		if key.module == module {
			delete(r.groups, key)
			gone = append(gone, g)
		}
	}
	slices.SortFunc(gone, func(a, b *Group) int { return cmp.Compare(a.base, b.base) })
	for _, g := range gone {
		key := groupKey{g.provider, g.module, g.function, 0, g.suffix}
		r.retired[key] = append(r.retired[key], g)
	}
}

// revive takes a retired group of the same names, the first by where it was.
func (r *Registry) revive(key groupKey) *Group {
	base := key.base
	key.base = 0
	gone := r.retired[key]
	if len(gone) == 0 {
		return nil
	}
	if r.retired[key] = gone[1:]; len(gone) == 1 {
		delete(r.retired, key)
	}
	gone[0].base = base
	return gone[0]
}

// A Group is what probes of one function have in common.
type Group struct {
	r                *Registry
	provider         Provider
	selector         Selector // nil: every hit fires
	module, function string
	base             uint64
	suffix           string   // of the names of probes made by Numbered
	names            []string // of probes made by Named
	probes           []*Probe // by Number, or as made by Named
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{groups: map[groupKey]*Group{}, retired: map[groupKey][]*Group{}}
}

// Add makes p one of the providers that Match asks. They are asked in the order in
// which they were added.
func (r *Registry) Add(p Provider) { r.providers = append(r.providers, p) }

// Providers lists the providers in the order in which they were added.
func (r *Registry) Providers() []Provider { return r.providers }

// Group finds or makes the group of a function. Two functions of one name differ in
// base, the address; it is 0 where there is none.
func (r *Registry) Group(p Provider, module, function string, base uint64) *Group {
	sel, _ := p.(Selector)
	return r.group(groupKey{p, module, function, base, ""}, sel)
}

func (r *Registry) group(key groupKey, sel Selector) *Group {
	g := r.groups[key]
	if g != nil {
		return g
	}
	if g = r.revive(key); g == nil {
		g = &Group{
			r: r, provider: key.provider, selector: sel,
			module: key.module, function: key.function, base: key.base, suffix: key.suffix,
		}
	}
	r.groups[key] = g
	return g
}

// Variant finds or makes a group of the same function whose probes are made by Numbered, have
// names with this suffix, and fire when sel says so. Its provider need not be a Selector.
func (g *Group) Variant(suffix string, sel Selector) *Group {
	return g.r.group(groupKey{g.provider, g.module, g.function, g.base, suffix}, sel)
}

// Provider is whose probes they are.
func (g *Group) Provider() Provider { return g.provider }

// Selector selects which hits fire; nil: all do.
func (g *Group) Selector() Selector { return g.selector }

// Base is the address of the function.
func (g *Group) Base() uint64 { return g.base }

// Named finds or makes the probe of that name, and gives it its key. A group's probes are all made by Named
// or all by Numbered.
func (g *Group) Named(name string, key uint64) *Probe {
	if i := slices.Index(g.names, name); i >= 0 {
		g.probes[i].Key = key
		return g.probes[i]
	}
	g.names = append(g.names, name)
	p := g.r.make(g, uint32(len(g.names)-1), key)
	g.probes = append(g.probes, p)
	return p
}

// Numbered finds or makes the probe whose name is n in decimal, and gives it its key.
func (g *Group) Numbered(n int, key uint64) *Probe {
	i, ok := slices.BinarySearchFunc(g.probes, n, func(p *Probe, n int) int { return cmp.Compare(p.Number(), n) })
	if !ok {
		g.probes = slices.Insert(g.probes, i, g.r.make(g, uint32(n), key))
	}
	g.probes[i].Key = key
	return g.probes[i]
}

// Match lists the group's probes that d matches, by ID.
func (g *Group) Match(d Desc) []*Probe {
	var out []*Probe
	for _, p := range g.probes {
		if d.Match(p.Desc()) {
			out = append(out, p)
		}
	}
	sortProbes(out)
	return out
}

func (r *Registry) make(g *Group, number uint32, key uint64) *Probe {
	if r.n%chunkSize == 0 {
		r.chunks = append(r.chunks, make([]Probe, chunkSize))
	}
	p := &r.chunks[r.n/chunkSize][r.n%chunkSize]
	r.n++
	*p = Probe{group: g, Key: key, id: ID(r.n), number: number}
	return p
}

// Len is the number of probes, and the largest ID.
func (r *Registry) Len() int { return r.n }

// Probe finds a probe by its number.
func (r *Registry) Probe(id ID) (*Probe, bool) {
	i := int(id) - 1
	if i < 0 || i >= r.n {
		return nil, false
	}
	return &r.chunks[i/chunkSize][i%chunkSize], true
}

// All goes through the probes that have been made, by ID.
func (r *Registry) All() iter.Seq[*Probe] {
	return func(yield func(*Probe) bool) {
		for i := range r.n {
			if !yield(&r.chunks[i/chunkSize][i%chunkSize]) {
				return
			}
		}
	}
}

// Match asks every provider whose name d may mean for its probes, and returns them by
// ID, each once.
func (r *Registry) Match(d Desc) ([]*Probe, error) {
	var out []*Probe
	for _, p := range r.providers {
		if !kernel.Match(d.Provider, p.Name()) {
			continue
		}
		ps, err := p.Provide(d)
		if err != nil {
			return nil, err
		}
		out = append(out, ps...)
	}
	sortProbes(out)
	return slices.Compact(out), nil
}

func sortProbes(p []*Probe) {
	slices.SortFunc(p, func(a, b *Probe) int { return cmp.Compare(a.id, b.id) })
}

// Enabled is how many times p has been enabled more than disabled.
func (r *Registry) Enabled(p *Probe) int {
	if int(p.id) >= len(r.enabled) {
		return 0
	}
	return int(r.enabled[p.id])
}

// Enable switches probes on, each given once. One that is on already is counted once
// more. After an error none of them has been counted and no provider has new ones on.
func (r *Registry) Enable(p []*Probe) error {
	r.enabled = append(r.enabled, make([]uint16, r.n+1-min(r.n+1, len(r.enabled)))...)
	fresh := r.byProvider(p, 0)
	for i, part := range fresh {
		if err := part.provider.Enable(part.probes); err != nil {
			for _, done := range fresh[:i] {
				_ = done.provider.Disable(done.probes) // the first error is the one to tell
			}
			return fmt.Errorf("enable %d %s probes: %w", len(part.probes), part.provider.Name(), err)
		}
	}
	for _, q := range p {
		r.enabled[q.id]++
	}
	return nil
}

// Disable takes one Enable back. Probes that no one wants any more are switched off.
func (r *Registry) Disable(p []*Probe) error {
	for _, q := range p {
		if r.Enabled(q) == 0 {
			return fmt.Errorf("disable %s: it is not enabled", q.Desc())
		}
	}
	stale := r.byProvider(p, 1)
	for _, q := range p {
		r.enabled[q.id]--
	}
	for _, part := range stale {
		if err := part.provider.Disable(part.probes); err != nil {
			return fmt.Errorf("disable %d %s probes: %w", len(part.probes), part.provider.Name(), err)
		}
	}
	return nil
}

type part struct {
	provider Provider
	n        int // how many probes
	probes   []*Probe
}

// byProvider sorts the probes that are enabled n times into those of each provider.
func (r *Registry) byProvider(p []*Probe, n int) []part {
	var parts []part
	for _, q := range p {
		if r.Enabled(q) != n {
			continue
		}
		owner := q.group.provider
		i := slices.IndexFunc(parts, func(x part) bool { return x.provider == owner })
		if i < 0 {
			i = len(parts)
			parts = append(parts, part{provider: owner})
		}
		parts[i].n++
	}
	for i := range parts {
		parts[i].probes = make([]*Probe, 0, parts[i].n)
	}
	for _, q := range p {
		if r.Enabled(q) == n {
			i := slices.IndexFunc(parts, func(x part) bool { return x.provider == q.group.provider })
			parts[i].probes = append(parts[i].probes, q)
		}
	}
	for i := range parts {
		sortProbes(parts[i].probes)
	}
	return parts
}
