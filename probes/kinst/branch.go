package kinst

import (
	"fmt"

	"trapline/insn"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

// A branch selects the hits of conditional jumps that go one of the two ways: probes whose
// names end in ktext.Taken or ktext.NotTaken.
type branch struct {
	taken bool
	flows map[uint64]insn.Flow // by address
}

func newBranches() map[string]*branch {
	return map[string]*branch{
		ktext.Taken:    {true, map[uint64]insn.Flow{}},
		ktext.NotTaken: {false, map[uint64]insn.Flow{}},
	}
}

// Always is true of no such probe.
func (*branch) Always(*probes.Probe) bool { return false }

// Select reports whether the jump goes this way.
func (b *branch) Select(f *probes.Firing) bool {
	flow := b.flows[f.Probe.Key]
	to, ok := flow.Next(f.CPU, nil)
	return ok && (to == flow.Target) == b.taken
}

// makeBranch makes the probe of one way of a conditional jump.
func (p *Provider) makeBranch(f *function, in patch.Instr, suffix string) ([]*probes.Probe, error) {
	flow := f.Flow(in)
	if flow.Way != insn.Branch {
		return nil, fmt.Errorf("%s+%d is not a conditional jump: it has no probe %d%s", f.name, in.Off, in.Off, suffix)
	}
	addr := f.Start + uint64(in.Off)
	b := p.branches[suffix]
	b.flows[addr] = flow
	p.text.Set.Add(f.Func, in)
	g := p.registry.Group(p, f.module, f.name, f.Start).Variant(suffix, b)
	return []*probes.Probe{g.Numbered(in.Off, addr)}, nil
}
