package patch

import "testing"

// TestForget: what is forgotten keeps its hits in the sum, and another text may come to lie
// there. Text beside it stays.
func TestForget(t *testing.T) {
	r := newRig(t)
	f := r.fn("plain")
	gone, beside := r.probes("plain", "plain"), r.probes("ownint3", "ownint3")
	r.enable(gone)
	r.enable(beside)
	r.target.Run(f.Addr, f.Addr+4, r.fn("ownint3").Addr)
	r.disable(gone)
	r.set.Forget(f.Addr, f.Addr+uint64(len(f.Code)))
	if total, hits := r.set.Total(), r.set.Hits(f.Addr); total != 3 || hits != 0 {
		t.Errorf("%d hits in all, %d at the text that is gone; want 3 and 0", total, hits)
	}
	r.target.Map(f.Addr, []byte{0x90, 0x48, 0x89, 0xe5, 0xc3}) // nop; mov %rsp,%rbp; ret
	fn := r.set.Func(f.Addr, 5)
	instrs, err := fn.Instrs()
	if err != nil || len(instrs) != 3 || instrs[1].Off != 1 {
		t.Fatalf("instructions %v, %v", instrs, err)
	}
	r.set.Add(fn, instrs[1])
	p := r.reg.Group(owner{r.set}, "m", "plain", f.Addr).Numbered(1, f.Addr+1)
	if err := r.set.EnableSites([]Site{{p, f.Addr + 1}}); err != nil {
		t.Fatal(err)
	}
	r.want("plain", "1+3")
	r.want("ownint3", "0+1 1+1g 2+1 3+1")
	r.fired = nil
	r.target.Run(f.Addr, f.Addr+1, r.fn("ownint3").Addr)
	if len(r.fired) != 2 || r.set.Hits(f.Addr+1) != 1 || r.set.Total() != 5 {
		t.Errorf("fired %v, %d hits, %d in all", r.fired, r.set.Hits(f.Addr+1), r.set.Total())
	}
}
