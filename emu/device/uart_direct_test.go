package device

import "testing"

// A port that is no PC's interrupts without OUT2 and receives without RTS.
func TestDirectUART(t *testing.T) {
	for _, direct := range []bool{false, true} {
		var irq wire
		u := NewUART(&irq, func(byte) {})
		if direct {
			u = NewDirectUART(&irq, func(byte) {})
		}
		out(u, 1, ierReceive)
		u.Receive([]byte("x"))
		if irq.high != direct || in(u, 5)&lsrData != 0 != direct {
			t.Errorf("direct %v: line %v, status %#x", direct, irq.high, in(u, 5))
		}
	}
}

// What came before the guest was ready is not lost when it clears the FIFO, nor seen twice.
func TestDirectUARTClear(t *testing.T) {
	u := NewDirectUART(&wire{}, func(byte) {})
	u.Receive([]byte("input"))
	out(u, 2, fcrEnable|fcrClearReceive)
	var got []byte
	for in(u, 5)&lsrData != 0 {
		got = append(got, in(u, 0))
		if len(got) == 2 {
			out(u, 2, fcrEnable|fcrClearReceive)
		}
	}
	if string(got) != "input" {
		t.Errorf("the guest reads %q", got)
	}
}
