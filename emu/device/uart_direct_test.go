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
