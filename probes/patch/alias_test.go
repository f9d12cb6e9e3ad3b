package patch

import (
	"testing"

	"trapline/probes"
)

// aliased is a target some of whose text runs at other addresses.
type aliased struct {
	probes.Target
	all []probes.Alias
}

func (a aliased) Aliases() []probes.Alias { return a.all }

func TestPassedBy(t *testing.T) {
	r := newRig(t)
	all := []probes.Alias{{Page: 0xffffffff80200000, At: 0x80200000, Passed: 3}, {Page: 0xffffffff80201000, At: 0x80201000, Passed: 4}}
	head := "probed instructions were executed "
	where := " times at other addresses, where probes do not fire: the page at 0xffffffff80200000 ran at 0x80200000"
	for n, want := range []string{"", head + "3" + where, head + "7" + where + " (pages like it: 1 more)"} {
		r.set.target = aliased{r.target, all[:n]}
		if got := r.set.PassedBy(); got != want {
			t.Errorf("%d pages: %q, want %q", n, got, want)
		}
	}
}
