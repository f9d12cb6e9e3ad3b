package device

import (
	"math/rand/v2"
	"testing"
)

func newPL011Rig() (u *PL011, r Mem, irq *wire, sent *[]byte) {
	irq, sent = &wire{}, &[]byte{}
	u = NewPL011(irq, func(b byte) { *sent = append(*sent, b) })
	r = u.Registers()
	r.Store(pl011LCR, 4, 0x70)
	r.Store(pl011CR, 4, 0x301)
	return u, r, irq, sent
}

func TestPL011Send(t *testing.T) {
	_, r, irq, sent := newPL011Rig()
	r.Store(pl011IMSC, 4, pl011IntSend)
	if irq.high {
		t.Error("an interrupt before anything was sent")
	}
	for _, b := range []byte("hello") {
		if r.Load(pl011FR, 4)&(1<<5) != 0 {
			t.Fatal("the transmitter is full")
		}
		r.Store(pl011DR, 4, uint32(b))
	}
	if string(*sent) != "hello" || !irq.high {
		t.Errorf("sent %q, line %v", *sent, irq.high)
	}
	r.Store(pl011ICR, 4, pl011IntSend)
	if irq.high {
		t.Error("the interrupt cannot be cleared")
	}
}

func TestPL011Receive(t *testing.T) {
	u, r, irq, _ := newPL011Rig()
	r.Store(pl011IMSC, 4, pl011IntReceive|pl011IntTimeout)
	want := "more bytes than the FIFO of a PL011 holds"
	u.Receive([]byte(want))
	var got []byte
	for r.Load(pl011FR, 4)&pl011ReceiveEmpty == 0 {
		if !irq.high || r.Load(pl011MIS, 4) == 0 {
			t.Fatalf("no interrupt after %q", got)
		}
		got = append(got, byte(r.Load(pl011DR, 4)))
	}
	if string(got) != want || irq.high {
		t.Errorf("received %q, line %v", got, irq.high)
	}
}

// What comes before the receiver is enabled waits.
func TestPL011Disabled(t *testing.T) {
	u, r, _, _ := newPL011Rig()
	r.Store(pl011CR, 4, 0)
	u.Receive([]byte("x"))
	if r.Load(pl011FR, 4)&pl011ReceiveEmpty == 0 {
		t.Error("received while disabled")
	}
	r.Store(pl011CR, 4, 0x301)
	if r.Load(pl011DR, 4) != 'x' {
		t.Error("lost")
	}
}

func TestPL011Identity(t *testing.T) {
	_, r, _, _ := newPL011Rig()
	var id uint64
	for i := range uint64(8) {
		id |= uint64(r.Load(pl011ID+4*i, 4)) << (8 * i)
	}
	if id != 0xb105f00d00141011 { // DDI 0183, 3.3.16 on
		t.Errorf("identification %#x", id)
	}
}

func TestPL011State(t *testing.T) {
	offsets := []uint64{
		pl011DR, pl011FR, pl011IBRD, pl011FBRD, pl011LCR, pl011CR, pl011IFLS, pl011IMSC, pl011RIS, pl011MIS,
		pl011ICR, pl011DMACR,
	}
	testMemState(t, offsets, func(r *memRig) {
		u := NewPL011(r.line("irq"), func(b byte) { r.note("sent %#x", b) })
		r.dev, r.mem = u, u.Registers()
		r.prod = func(rng *rand.Rand) { u.Receive([]byte{byte(rng.Uint32())}) }
	})
}
