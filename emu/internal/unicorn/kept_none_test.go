//go:build !amd64

package unicorn

import "testing"

// Where host code is not known well enough, translations are not kept, even if that is asked for.
func TestKeepsNothing(t *testing.T) {
	e := open(t, nothing{})
	if err := e.Keep(nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	load(e, []byte{0xff, 0xc0, 0xf4}) // inc %eax; hlt
	if end, err := e.Run(); end != Halted || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if _, blocks := e.Kept(); blocks != 0 || KeptIdentity() != "" {
		t.Errorf("%d blocks kept, by %q", blocks, KeptIdentity())
	}
}
