package patch

import (
	"slices"
	"testing"
)

// One probe at several addresses; another probe is at one of them.
func TestSites(t *testing.T) {
	r := newRig(t)
	ps := r.probes("plain", "plain")
	start := r.fn("plain").Addr
	many := r.reg.Group(owner{r.set}, "m", "many", start).Named("return", 0)
	sites := []Site{{many, start + 4}, {many, start + 21}}
	for range 2 { // the second time says nothing new
		if err := r.set.EnableSites(sites); err != nil {
			t.Fatal(err)
		}
	}
	r.want("plain", "4+5 21+1")
	r.enable(ps[:2])
	r.want("plain", "0+4 4+5 21+1")
	r.target.Run(start+4, start+21)
	want := []string{"2:plain+4", "10:many+return", "10:many+return"}
	if !slices.Equal(r.fired, want) {
		t.Errorf("fired %v, want %v", r.fired, want)
	}
	if err := r.set.DisableSites(sites); err != nil {
		t.Fatal(err)
	}
	r.want("plain", "0+4 4+5")
	if err := r.set.EnableSites([]Site{{many, start + 5}}); err == nil {
		t.Error("a site where no point is was enabled")
	}
}

// A function whose text has changed is reported once, and may add points then.
func TestOnChange(t *testing.T) {
	r := newRig(t)
	ps := r.probes("plain", "plain")
	f := r.fn("plain")
	fn := r.set.Func(f.Addr, len(f.Code))
	var texts []byte
	fn.OnChange(func() {
		err := fn.Each(func(off int, code []byte) bool {
			if off == 18 {
				texts = append(texts, code[0])
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
	r.enable(ps[:1])
	r.target.Rewrite(f.Addr+18, []byte{0x66, 0x90})
	r.target.Rewrite(f.Addr+18, []byte{0x66, 0x90}) // the same again
	if want := []byte{0x66}; !slices.Equal(texts, want) {
		t.Errorf("texts % x, want % x", texts, want)
	}
	r.check()
}
