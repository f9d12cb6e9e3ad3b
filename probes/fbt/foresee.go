package fbt

import (
	"cmp"

	"trapline/probes"
	"trapline/probes/ktext"
)

// Foresee lists the entries and returns of the functions that d names, by address. Which of
// them never return is not known before they are where they run.
func (p *Provider) Foresee(u ktext.Unloaded, d probes.Desc) (all []ktext.Foreseen) {
	if p.Config.Name != "" {
		return nil // of functions of the kernel alone
	}
	want := wishOf(d.Name)
	for _, s := range u.Symbols.Glob(cmp.Or(d.Function, "*")) {
		if unfit(u.Part, s) != "" {
			continue
		}
		if want.entry {
			all = append(all, u.Foretell(p.Name(), s, 0, entryName))
		}
		if want.leave {
			all = append(all, u.Foretell(p.Name(), s, 0, returnName))
		}
	}
	return all
}
