package probes

import (
	"errors"
	"slices"
	"testing"
)

// fake is a provider of numbered probes that writes down what is asked of it.
type fake struct {
	name string
	r    *Registry
	log  []string
	fail error
}

func (f *fake) Name() string { return f.name }

func (f *fake) Provide(d Desc) ([]*Probe, error) {
	g := f.r.Group(f, "m", "f", 0)
	g.Numbered(2, 0)
	g.Numbered(0, 0)
	return g.Match(d), nil
}

func (f *fake) Enable(p []*Probe) error {
	for _, q := range p {
		f.log = append(f.log, "+"+q.Desc().String())
	}
	return f.fail
}

func (f *fake) Disable(p []*Probe) error {
	for _, q := range p {
		f.log = append(f.log, "-"+q.Desc().String())
	}
	return nil
}

func testRegistry() (*Registry, *fake, *fake) {
	r := NewRegistry()
	a, b := &fake{name: "a", r: r}, &fake{name: "b", r: r}
	r.Add(NewDTrace(r))
	r.Add(a)
	r.Add(b)
	return r, a, b
}

func match(t *testing.T, r *Registry, s string) []*Probe {
	t.Helper()
	d, err := ParseDesc(s)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Match(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRegistryMatch(t *testing.T) {
	r, _, _ := testRegistry()
	var got []string
	for _, in := range []string{"BEGIN", "b:::", "f:", ":::", "b::f:0", "nosuch"} {
		for _, p := range match(t, r, in) {
			got = append(got, p.Desc().String())
		}
		got = append(got, "")
	}
	want := []string{
		"dtrace:::BEGIN", "",
		"b:m:f:2", "b:m:f:0", "",
		"a:m:f:2", "a:m:f:0", "b:m:f:2", "b:m:f:0", "",
		"dtrace:::BEGIN", "dtrace:::END", "dtrace:::ERROR", "a:m:f:2", "a:m:f:0", "b:m:f:2", "b:m:f:0", "",
		"b:m:f:0", "", "",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if r.Len() != 7 {
		t.Errorf("%d probes after asking several times, want 7", r.Len())
	}
	id := ID(0)
	for p := range r.All() {
		if id++; p.ID() != id {
			t.Errorf("probe %d has id %d", id, p.ID())
		}
		if q, ok := r.Probe(id); !ok || q != p {
			t.Errorf("Probe(%d) is another", id)
		}
	}
	for _, id := range []ID{0, 8} {
		if _, ok := r.Probe(id); ok {
			t.Errorf("Probe(%d) found", id)
		}
	}
}

func TestRegistryEnable(t *testing.T) {
	r, a, _ := testRegistry()
	ps := match(t, r, "a:::")
	for _, step := range []func([]*Probe) error{r.Enable, r.Enable, r.Disable} {
		if err := step(ps); err != nil {
			t.Fatal(err)
		}
	}
	if r.Enabled(ps[0]) != 1 {
		t.Errorf("enabled %d times, want 1", r.Enabled(ps[0]))
	}
	if err := r.Disable(ps[:1]); err != nil {
		t.Fatal(err)
	}
	if want := []string{"+a:m:f:2", "+a:m:f:0", "-a:m:f:2"}; !slices.Equal(a.log, want) {
		t.Errorf("log %q, want %q", a.log, want)
	}
	if err := r.Disable(ps[:1]); err == nil {
		t.Error("disabled what was not enabled")
	}
}

func TestRegistryEnableFails(t *testing.T) {
	r, a, b := testRegistry()
	b.fail = errors.New("no room")
	ps := append(match(t, r, "a::f:2"), match(t, r, "b::f:2")...)
	err := r.Enable(ps)
	if !errors.Is(err, b.fail) {
		t.Fatalf("error %v", err)
	}
	if want := []string{"+a:m:f:2", "-a:m:f:2"}; !slices.Equal(a.log, want) {
		t.Errorf("log %q, want %q", a.log, want)
	}
	if r.Enabled(ps[0]) != 0 {
		t.Error("counted in spite of the error")
	}
}

func TestGroupsByBase(t *testing.T) {
	r, a, _ := testRegistry()
	p := r.Group(a, "m", "twice", 0x1000).Numbered(4, 0x1004)
	q := r.Group(a, "m", "twice", 0x2000).Numbered(4, 0x2004)
	if p == q || p.Desc() != q.Desc() {
		t.Errorf("%v and %v: want two probes of one name", p.Desc(), q.Desc())
	}
	if again := r.Group(a, "m", "twice", 0x1000).Numbered(4, 0x1004); again != p {
		t.Error("asked again: another probe")
	}
}

// TestRetire: probes of a module that comes back have their numbers, function by function, and
// those of other modules keep theirs.
func TestRetire(t *testing.T) {
	r, a, _ := testRegistry()
	first := r.Group(a, "m", "twice", 0x1000).Numbered(4, 0x1004)
	second := r.Group(a, "m", "twice", 0x2000).Numbered(4, 0x2004)
	variant := r.Group(a, "m", "twice", 0x1000).Variant("-taken", nil).Numbered(4, 0x1004)
	other := r.Group(a, "other", "twice", 0x1000).Numbered(4, 0x1004)
	n := r.Len()
	r.Retire("m")
	if p := r.Group(a, "other", "twice", 0x1000).Numbered(4, 0x1004); p != other {
		t.Error("another module has lost its probe")
	}
	moved := r.Group(a, "m", "twice", 0x9000)
	if p := moved.Numbered(4, 0x9004); p != first || p.Key != 0x9004 || moved.Base() != 0x9000 {
		t.Errorf("the first function's probe is %d at %#x", p.ID(), p.Key)
	}
	if p := r.Group(a, "m", "twice", 0xa000).Numbered(4, 0xa004); p != second {
		t.Errorf("the second function's probe is %d", p.ID())
	}
	if p := moved.Variant("-taken", nil).Numbered(4, 0x9004); p != variant {
		t.Errorf("the probe of one way is %d", p.ID())
	}
	if r.Len() != n {
		t.Errorf("%d probes, want %d", r.Len(), n)
	}
	if p := r.Group(a, "m", "twice", 0xb000).Numbered(4, 0xb004); p == first || p == second || r.Len() != n+1 {
		t.Error("a third function of the name has a probe of another's")
	}
}
