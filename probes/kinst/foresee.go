package kinst

import (
	"fmt"

	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/trampoline"
)

// Foresee lists the instructions that d names, by address, of those that can be displaced. As
// Provide it wants a function.
func (p *Provider) Foresee(u ktext.Unloaded, d probes.Desc) (all []ktext.Foreseen) {
	want, err := parseName(d.Name)
	if err != nil || d.Function == "" {
		return nil
	}
	for _, s := range u.Symbols.Glob(d.Function) {
		all = append(all, p.foresee(u, s, want)...)
	}
	return all
}

// foresee is Foresee of one function, up to where its instructions end early.
func (p *Provider) foresee(u ktext.Unloaded, s kernel.Symbol, want name) (all []ktext.Foreseen) {
	_ = u.Each(s, func(off int, plan trampoline.Plan) {
		if want.match(off) && plan.Kind != trampoline.Refuse {
			all = append(all, u.Foretell(p.Name(), s, uint64(off), fmt.Sprint(off)+want.suffix))
		}
	})
	return all
}
