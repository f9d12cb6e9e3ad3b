package code

import "testing"

// TestActs: each row of the table of actions is complete and agrees with itself, and no two have
// a name in common.
func TestActs(t *testing.T) {
	names := map[string]bool{}
	for _, a := range Acts() {
		if a.String() == "" || a.Takes() == TakesUnknown {
			t.Errorf("the row of action %d lacks something: %q", a, a)
		}
		for _, name := range append(a.Names(), a.String()) {
			if names[name] && name != a.String() {
				t.Errorf("%s is another action, too", name)
			}
			names[name] = true
		}
		switch {
		case a.Immediate() && (!a.Destructive() || a.Records() || a.Deferrable()):
			t.Errorf("%s acts on the guest, at once: it is destructive and leaves no record", a)
		case (a.OnHost() || a.OnAggs()) && (!a.Records() || a.Deferrable()):
			t.Errorf("%s is done when its record is read: it has one, in order", a)
		case a.OnHost() && a.OnAggs():
			t.Errorf("%s is done by the host, or on aggregations", a)
		}
	}
	if len(acts) != int(Aggregate)+1 {
		t.Errorf("%d actions, want %d", len(acts), Aggregate+1)
	}
	if a := Act(len(acts)); a.String() != "act(28)" || a.Takes() != TakesUnknown {
		t.Errorf("an action that there is not: %s, takes %d", a, a.Takes())
	}
}
