package kinst

import (
	"fmt"
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// One way of a conditional jump fires when the jump goes that way.
func TestBranch(t *testing.T) {
	const maybe, round = 0xffffffff81000100, 0xffffffff81000200
	for _, c := range []struct {
		desc       string
		pc         uint64
		flags, rcx uint64
		want       string
	}{
		{"kinst::maybe:2-taken", maybe + 2, 0, 0, "[maybe:2-taken]"},
		{"kinst::maybe:2-taken", maybe + 2, 1 << 6, 0, "[]"},
		{"kinst::maybe:2-nottaken", maybe + 2, 0, 0, "[]"},
		{"kinst::maybe:2-nottaken", maybe + 2, 1 << 6, 0, "[maybe:2-nottaken]"},
		{"kinst::maybe:2", maybe + 2, 1 << 6, 0, "[maybe:2]"},
		{"kinst::round:2-taken", round + 2, 0, 2, "[round:2-taken]"},
		{"kinst::round:2-nottaken", round + 2, 0, 1, "[round:2-nottaken]"},
	} {
		fired := []string{}
		sink := probes.SinkFunc(func(f *probes.Firing) {
			fired = append(fired, f.Probe.Function()+":"+f.Probe.Name())
		})
		p, target := setupSink(t, arch.AMD64, "testdata/branches.txt", nil, sink)
		d, _ := probes.ParseDesc(c.desc)
		ps, err := p.Provide(d)
		if err != nil {
			t.Fatalf("%s: %v", c.desc, err)
		}
		if again, _ := p.Provide(d); !slices.Equal(ps, again) || len(ps) != 1 {
			t.Errorf("%s: probes %v, then %v", c.desc, ps, again)
		}
		if err := p.registry.Enable(ps); err != nil {
			t.Fatal(err)
		}
		target.CPU.Regs[arch.RFLAGS], target.CPU.Regs[arch.RCX] = c.flags, c.rcx
		target.Run(c.pc)
		if got := fmt.Sprint(fired); got != c.want {
			t.Errorf("%s with flags %#x fires %s, want %s", c.desc, c.flags, got, c.want)
		}
	}
}

func TestBranchErrors(t *testing.T) {
	for desc, want := range map[string]string{
		"kinst::maybe:0-taken":    "maybe+0 is not a conditional jump: it has no probe 0-taken",
		"kinst::maybe:5-nottaken": "maybe+5 is not a conditional jump: it has no probe 5-nottaken",
		"kinst::maybe:3-taken":    "offset 3 is inside an instruction of maybe: instructions begin at 2 and 4",
		"kinst::maybe:2-took":     `"2-took" is not an offset (want decimal bytes from the start of the function)`,
		"kinst::may*:2-taken":     `2-taken needs a single function, not the pattern "may*"`,
	} {
		p, _ := setupFor(t, arch.AMD64, "testdata/branches.txt", nil)
		d, _ := probes.ParseDesc(desc)
		if _, err := p.Provide(d); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", desc, err, want)
		}
	}
}

// The probes of both ways and of the instruction are three.
func TestBranchConformance(t *testing.T) {
	p, target := setupFor(t, arch.AMD64, "testdata/branches.txt", nil)
	for _, desc := range []string{"kinst::maybe:2-taken", "kinst::maybe:2-nottaken", "kinst::maybe:2"} {
		probetest.TestProvider(t, p.registry, p, desc)
	}
	if p.registry.Len() != 3 || target.Err != nil {
		t.Errorf("%d probes; %v", p.registry.Len(), target.Err)
	}
}
