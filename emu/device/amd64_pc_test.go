package device

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

func newPC() (*PC, *fakeClock, *wire, *[2]bytes.Buffer) {
	clock, intr, sent := new(fakeClock), new(wire), new([2]bytes.Buffer)
	com1 := func(b byte) { sent[0].WriteByte(b) }
	com2 := func(b byte) { sent[1].WriteByte(b) }
	return NewPC(clock, intr, com1, com2, func(string) {}), clock, intr, sent
}

// Every interrupt of the machine arrives at its vector.
func TestPCInterrupts(t *testing.T) {
	pc, clock, intr, sent := newPC()
	initPIC(pc.PIC, 0x01)
	o := func(port uint16, v uint32) { pc.Bus.Out(port, 1, v) }
	ack := func(name string, want int) {
		t.Helper()
		if !intr.high {
			t.Fatalf("%s: no interrupt", name)
		}
		if v := pc.PIC.Ack(); v != want {
			t.Errorf("%s: vector %#x, want %#x", name, v, want)
		}
		o(0x20, 0x20)
	}
	o(0x43, 0x34)
	o(0x40, 0xa5)
	o(0x40, 0x12)
	*clock = fakeClock(pc.Next())
	pc.Poll()
	ack("timer", 0x30)

	o(0x3fc, 0x0b)
	o(0x3f9, 0x01)
	pc.COM1.Receive([]byte("x"))
	ack("COM1", 0x34)

	o(0x2fc, 0x0b)
	o(0x2f9, 0x02)
	ack("COM2", 0x33)
	o(0x2f8, 'y')
	o(0x3f8, 'z')
	if sent[0].String() != "z" || sent[1].String() != "y" {
		t.Errorf("sent %q and %q", &sent[0], &sent[1])
	}
}

// The timer wakes nobody while its line is masked.
func TestPCWake(t *testing.T) {
	pc, _, _, _ := newPC()
	initPIC(pc.PIC, 0x01)
	o := func(port uint16, v uint32) { pc.Bus.Out(port, 1, v) }
	o(0x43, 0x34)
	o(0x40, 0xa5)
	o(0x40, 0x12)
	if w := pc.Wake(); w == Never || w != pc.Next() {
		t.Errorf("timer wakes at %d, want %d", w, pc.Next())
	}
	o(0x21, 0x01)
	if w := pc.Wake(); w != Never {
		t.Errorf("masked timer wakes at %d", w)
	}
	o(0x21, 0xfa)
	o(0xa1, 0x01)
	if pc.PIC.Masked(0) || pc.PIC.Masked(2) || !pc.PIC.Masked(8) || pc.PIC.Masked(9) || !pc.PIC.Masked(1) {
		t.Error("masks are not those written")
	}
}

func ExamplePC() {
	var clock fakeClock
	send := func(b byte) { fmt.Printf("%c", b) }
	reset := func(reason string) { fmt.Println("reset by the", reason) }
	pc := NewPC(&clock, new(wire), send, send, reset)
	for _, b := range []byte("hello\n") {
		pc.Bus.Out(0x3f8, 1, uint32(b))
	}
	pc.Bus.Out(0x43, 1, 0x34) // timer: mode 2, every 1193 ticks
	pc.Bus.Out(0x40, 1, 1193&0xff)
	pc.Bus.Out(0x40, 1, 1193>>8)
	fmt.Println("next event at", pc.Next())
	pc.Bus.Out(0x64, 1, 0xfe)
	// Output:
	// hello
	// next event at 999848
	// reset by the keyboard controller (port 0x64)
}

func TestPCState(t *testing.T) {
	ports := []uint16{
		0x20, 0x21, 0xa0, 0xa1, 0x4d0, 0x4d1, 0x40, 0x42, 0x43, 0x61, 0x70, 0x71, 0xcf9,
		0x2f8, 0x2f9, 0x2fa, 0x2fb, 0x2fc, 0x2fd, 0x2fe, 0x3f8, 0x3f9, 0x3fa, 0x3fb, 0x3fc, 0x3fd, 0x3fe,
	}
	testState(t, ports, func(r *rig) {
		send := func(name string) func(byte) { return func(b byte) { r.note("%s %#x", name, b) } }
		pc := NewPC(&r.clock, r.line("intr"), send("com1"), send("com2"), func(s string) { r.note("%s", s) })
		r.dev, r.poll = pc, pc.Poll
		r.bus.Mount(0, 0x10000, 1, &pc.Bus)
		r.prod = func(rng *rand.Rand) {
			if pc.PIC.Pending() {
				r.note("ack %#x", pc.PIC.Ack())
			}
			pc.COM1.Receive([]byte{byte(rng.Uint32())})
			r.note("next %d", pc.Next())
		}
	})
}
