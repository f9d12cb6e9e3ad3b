package patch

import (
	"bytes"
	"testing"

	"trapline/probes"
)

// TestShare: an instruction is written into its owner's trampoline when it is hit, over that of
// the hit before, and those of other owners keep what they have.
func TestShare(t *testing.T) {
	r := newRig(t)
	r.target.Shared = true
	var owner Owner
	if err := r.set.Share(func(probes.CPU) Owner { return owner }); err != nil {
		t.Fatal(err)
	}
	r.enable(r.probes("plain", "p"))
	push, mov := r.fn("plain").Addr+9, r.fn("plain").Addr+10
	thread, other, cpu := Owner{ID: 0}, Owner{ID: 1}, Owner{CPU: true}
	slots := map[Owner]uint64{}
	hit := func(o Owner, addr uint64) {
		owner = o
		r.target.Run(addr)
		slots[o] = r.target.Slot
	}
	want := func(o Owner, code ...byte) {
		t.Helper()
		if got := r.slotCode(slots[o], len(code)); !bytes.Equal(got, code) {
			t.Errorf("the trampoline of %+v has % x, want % x", o, got, code)
		}
	}
	hit(thread, push)
	hit(other, mov)
	hit(cpu, push)
	want(thread, 0x55)
	hit(thread, mov)
	want(thread, 0x48, 0x89, 0xe5)
	want(other, 0x48, 0x89, 0xe5)
	want(cpu, 0x55)
	if slots[thread] == slots[other] || slots[thread] == slots[cpu] {
		t.Errorf("owners have the same trampoline: %v", slots)
	}
	if err := r.set.Err(); err != nil || r.target.Err != nil {
		t.Error(err, r.target.Err)
	}
}

// slotCode reads n bytes of a trampoline.
func (r *rig) slotCode(slot uint64, n int) []byte {
	code := make([]byte, n)
	for i := range code {
		code[i] = r.target.Code[slot+uint64(i)]
	}
	return code
}
