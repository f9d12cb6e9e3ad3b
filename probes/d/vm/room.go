package vm

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/code"
)

// An aggRoom is the memory for new keys of aggregations. It is there anew at each aggrate, for then
// DTrace copies what there is out of the kernel.
type aggRoom struct {
	*agg.Budget
	round uint64 // the number of the aggrate in which it was renewed
}

// update updates an aggregation; where there is no room at first, there may be in the next aggrate.
func (f *frame) update(t *agg.Table, value, incr int64) {
	drops := t.Drops
	t.Update(f.key, value, incr)
	if t.Drops == drops || f.m.cfg.AggRate == 0 {
		return
	}
	if round := f.env.Now() / f.m.cfg.AggRate; round != f.m.aggs.round {
		t.Drops, f.m.aggs.round = drops, round
		f.m.aggs.Renew()
		t.Update(f.key, value, incr)
	}
}

// chunk is the room that any new dynamic variable of a program needs, in bytes, though it may take
// less: that of the largest strings.
func chunk(p *code.Program) (n int) {
	for _, v := range p.Vars {
		if v.Static() {
			continue
		}
		size := stringSize(v.Type)
		for _, k := range v.Keys {
			size += stringSize(k)
		}
		n = max(n, size)
	}
	return n
}

func stringSize(t code.Type) int {
	if t.Kind == code.String {
		return t.Size
	}
	return 0
}
