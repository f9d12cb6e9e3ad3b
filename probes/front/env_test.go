package front

import "testing"

// TestGuestMacros: what is about a process is the guest's first one, unless it is given.
func TestGuestMacros(t *testing.T) {
	m := macroVars(map[string]string{"target": "42"})
	for name, want := range map[string]string{"pid": "1", "ppid": "0", "uid": "0", "target": "42"} {
		if m[name] != want {
			t.Errorf("$%s is %s, want %s", name, m[name], want)
		}
	}
	if guestMacros["target"] != "1" {
		t.Error("the defaults have changed")
	}
}
