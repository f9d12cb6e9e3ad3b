package trace

import (
	"testing"

	"trapline/probes/d/code"
)

// TestGuestActs: each action on the guest is done here, and nothing else is.
func TestGuestActs(t *testing.T) {
	for _, a := range code.Acts() {
		if _, ok := guestActs[a]; ok != a.Immediate() {
			t.Errorf("%s: immediate is %t, and there is a row for it: %t", a, a.Immediate(), ok)
		}
	}
}
