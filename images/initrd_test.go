package images

import (
	"bytes"
	"testing"

	"trapline/images/initramfs"
)

func TestInitrd(t *testing.T) {
	var none Initrd
	if data, err := none.Data(); none.ID() != "" || data != nil || err != nil {
		t.Errorf("none is %q, %v, %v", none.ID(), data, err)
	}
	a, b := NewInitrd([]byte("a")), NewInitrd([]byte("b"))
	file := []initramfs.File{{Path: "x", Contents: []byte("1")}}
	ids := map[string]bool{}
	for _, i := range []Initrd{
		none, a, b, a.With(file), b.With(file),
		a.With([]initramfs.File{{Path: "y", Contents: []byte("1")}}),
		a.With([]initramfs.File{{Path: "x", Contents: []byte("2")}}),
	} {
		if ids[i.ID()] {
			t.Errorf("two are %s", i.ID())
		}
		ids[i.ID()] = true
	}
	want, err := initramfs.Append([]byte("a"), file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.With(file).Data(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if again := NewInitrd([]byte("a")); again.ID() != a.ID() || again.With(file).ID() != a.With(file).ID() {
		t.Error("the same has two IDs")
	}
}
