package desugar

import "trapline/probes/d/syntax"

// Descriptions replaces descriptions of probes by others, in the same clause. with says what stands
// for a description, none for itself.
func Descriptions(prog *syntax.Program, with func(desc string) []string) *syntax.Program {
	out := *prog
	out.Items = make([]syntax.Item, len(prog.Items))
	for i, it := range prog.Items {
		out.Items[i] = it
		if c, ok := it.(*syntax.Clause); ok {
			out.Items[i] = describeClause(c, with)
		}
	}
	return &out
}

func describeClause(c *syntax.Clause, with func(string) []string) *syntax.Clause {
	out := *c
	out.Probes = nil
	for _, d := range c.Probes {
		texts := with(d.Text)
		if len(texts) == 0 {
			out.Probes = append(out.Probes, d)
		}
		for _, text := range texts {
			desc := *d
			desc.Text = text
			out.Probes = append(out.Probes, &desc)
		}
	}
	return &out
}
