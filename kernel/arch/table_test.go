package arch

import "testing"

// A row is found by its architecture, and nothing else has one.
func TestTable(t *testing.T) {
	var names Table[string]
	if got := names.Row(AMD64, "one"); got != "one" {
		t.Errorf("Row returns %q", got)
	}
	names.Row(ARM64, "two")
	if got, ok := names.Of(AMD64); got != "one" || !ok {
		t.Errorf("%s: %q, %t", AMD64, got, ok)
	}
	if got, ok := names.Of(&Arch{Name: "amd64"}); got != "" || ok {
		t.Errorf("an architecture is found by its name: %q", got)
	}
	if _, ok := new(Table[string]).Of(AMD64); ok {
		t.Error("an empty table has a row")
	}
	defer func() {
		if recover() == nil {
			t.Error("an architecture has two rows")
		}
	}()
	names.Row(AMD64, "three")
}
