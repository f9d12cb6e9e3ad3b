package patch

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/probetest"
)

// manyRig is a rig with n functions of random instructions, some of them breakpoints of the guest's
// and some bytes that are none. It is always the same.
func manyRig(t *testing.T, n int) *rig {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "f%d %x %x\n", i, 0xffffffff81000000+uint64(i)*256, randomCode(rnd))
	}
	return newRigOf(t, arch.AMD64, text.String())
}

func randomCode(rnd *rand.Rand) []byte {
	pieces := []string{"\x90", "\x0f\x1f\x00", "\x0f\x1f\x44\x00\x00", "\x55", "\xc3", "\x31\xc0", "\xe8\x10\x20\x30\xff", "\x74\x02", "\xcc", "\xcd\x80"}
	code := ""
	for range 1 + rnd.IntN(20) {
		code += pieces[rnd.IntN(len(pieces))]
	}
	if rnd.IntN(8) == 0 {
		code += "\x06" // no instruction
	}
	return []byte(code)
}

type planned struct {
	instrs []Instr
	err    error
}

func plans(f *Func, walk Walk) (p planned) {
	p.instrs, p.err = f.Plans(walk)
	return p
}

// decodeAll decodes the functions of a rig and makes a probe of each instruction that can be
// displaced.
func (r *rig) decodeAll() (shown []string, ps []*probes.Probe) {
	var funcs []*Func
	for _, f := range r.funcs {
		funcs = append(funcs, r.set.Func(f.Addr, len(f.Code)))
	}
	Look(r.set, funcs, plans, func(f *Func, p planned) {
		shown = append(shown, fmt.Sprintf("%#x %v %v", f.Start, p.instrs, p.err))
		g := r.reg.Group(owner{r.set}, "m", "f", f.Start)
		for _, in := range p.instrs {
			if in.Plan.Reason() == "" {
				r.set.Add(f, in)
				ps = append(ps, g.Numbered(in.Off, f.Start+uint64(in.Off)))
			}
		}
	})
	return shown, ps
}

// rewriteAll gives every function another text of the same length, without notice.
func (r *rig) rewriteAll() {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, f := range r.funcs {
		code := append(randomCode(rnd), strings.Repeat("\x90", len(f.Code))...)
		r.target.Map(f.Addr, code[:len(f.Code)])
	}
}

// TestInOrder: functions come to the same on one goroutine and on several, when they are decoded and
// when they have changed.
func TestInOrder(t *testing.T) {
	defer func(was int) { batch = was }(batch)
	const n = 100
	look := func(some int) (decoded []string, r *rig) {
		batch, r = some, manyRig(t, n)
		decoded, ps := r.decodeAll()
		r.rewriteAll()
		r.enable(ps)
		return decoded, r
	}
	want, one := look(n)
	got, many := look(3)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (- on one, + on several):\n%s", diff)
	}
	if diff := cmp.Diff(one.target.Breaks(), many.target.Breaks()); diff != "" {
		t.Errorf("breakpoints (- on one, + on several):\n%s", diff)
	}
	if !maps.Equal(one.target.Code, many.target.Code) {
		t.Error("trampolines differ")
	}
	if diff := cmp.Diff(one.set.Report(), many.set.Report()); diff != "" {
		t.Errorf("suspended (- on one, + on several):\n%s", diff)
	}
	if len(many.target.Breaks()) < n || len(many.set.Report()) == 0 {
		t.Errorf("%d breakpoints, %d probes suspended", len(many.target.Breaks()), len(many.set.Report()))
	}
}

// sameText is a target with one text everywhere.
type sameText struct {
	*probetest.Target
	text string
}

func (t sameText) ReadMem(_ uint64, p []byte) error {
	copy(p, t.text)
	return nil
}

// BenchmarkLook is the decoding and planning of an instruction of many functions.
func BenchmarkLook(b *testing.B) {
	target := sameText{probetest.New(arch.AMD64), strings.Repeat("\x55\x48\x89\xe5\x31\xc0\xe8\x10\x20\x30\xff\x5d\xc3", 20)}
	set, err := New(target, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	var funcs []*Func
	for i := range 100 * batch {
		funcs = append(funcs, set.Func(0xffffffff81000000+uint64(i)<<9, len(target.text)))
	}
	n := 0
	for b.Loop() {
		Look(set, funcs, plans, func(_ *Func, p planned) { n += len(p.instrs) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/instr")
}
