package device

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Registers by number, as a driver knows them.
const (
	rbr, thr, ier, iir, fcr, lcr, mcr, lsr, msr, scr = 0, 0, 1, 2, 2, 3, 4, 5, 6, 7
)

func newUART() (*UART, *wire, *strings.Builder) {
	irq, sent := new(wire), new(strings.Builder)
	return NewUART(irq, func(b byte) { sent.WriteByte(b) }), irq, sent
}

// open sets a port up as a driver does: FIFO with the given trigger bits, DTR, RTS, OUT2.
func open(u *UART, trigger, interrupts uint8) {
	out(u, fcr, trigger<<6|0x07)
	out(u, lcr, 0x03)
	out(u, mcr, 0x0b)
	out(u, ier, interrupts)
}

// The steps by which drivers find out that there is a port, and its kind.
func TestUARTProbe(t *testing.T) {
	u, irq, _ := newUART()
	step := func(name string, have, want uint8) {
		t.Helper()
		if have != want {
			t.Errorf("%s: %#x, want %#x", name, have, want)
		}
	}
	out(u, ier, 0x00)
	step("interrupts off", in(u, ier), 0x00)
	out(u, ier, 0xff)
	step("interrupts on", in(u, ier), 0x0f) // none of the later chips' bits
	out(u, ier, 0x00)
	out(u, mcr, 0x1a) // loop, OUT2, RTS
	step("looped modem lines", in(u, msr)&0xf0, 0x90)
	out(u, mcr, 0x15)
	step("the other ones", in(u, msr)&0xf0, 0x60)
	out(u, mcr, 0x00)
	step("modem lines", in(u, msr)&0xf0, 0xb0)
	step("no FIFO", in(u, iir), 0x01)
	out(u, fcr, 0x01)
	step("16550A", in(u, iir), 0xc1)
	out(u, fcr, 0x21)
	step("not a 16750", in(u, iir), 0xc1)
	out(u, lcr, 0xbf)
	step("not a 16650", in(u, fcr), 0xc1)
	out(u, lcr, 0x80)
	out(u, 0, 0x0c)
	out(u, 1, 0x34)
	step("divisor, low", in(u, 0), 0x0c)
	step("divisor, high", in(u, 1), 0x34)
	out(u, lcr, 0x03)
	step("interrupts, still off", in(u, ier), 0x00)
	out(u, scr, 0xa5)
	step("scratch", in(u, scr), 0xa5)
	step("line", in(u, lsr), 0x60)
	if irq.rises != 0 {
		t.Error("probing interrupts")
	}
}

func TestUARTSendInterrupt(t *testing.T) {
	u, irq, sent := newUART()
	open(u, 3, 0x02)
	if !irq.high {
		t.Fatal("enabling the transmitter's interrupt does not interrupt")
	}
	if v := in(u, iir); v != 0xc2 {
		t.Errorf("IIR %#x, want 0xc2", v)
	}
	if v := in(u, iir); v != 0xc1 || irq.high {
		t.Errorf("IIR %#x once read, want 0xc1; line high: %v", v, irq.high)
	}
	rises := irq.rises
	out(u, thr, 'h')
	out(u, thr, 'i')
	if sent.String() != "hi" || irq.rises != rises+2 {
		t.Errorf("sent %q with %d interrupts", sent, irq.rises-rises)
	}
	out(u, ier, 0x00)
	if irq.high {
		t.Error("interrupts while disabled")
	}
	in(u, iir)
	out(u, ier, 0x02) // again due
	if v := in(u, iir); v != 0xc2 {
		t.Errorf("IIR %#x after enabling again, want 0xc2", v)
	}
}

func TestUARTReceive(t *testing.T) {
	for _, tt := range []struct {
		trigger uint8
		bytes   int
		want    uint8
	}{
		{0, 1, 0xc4}, {1, 3, 0xcc}, {1, 4, 0xc4}, {2, 7, 0xcc}, {2, 8, 0xc4},
		{3, 1, 0xcc}, {3, 13, 0xcc}, {3, 14, 0xc4}, {3, 40, 0xc4},
	} {
		u, irq, _ := newUART()
		open(u, tt.trigger, 0x01)
		u.Receive(make([]byte, tt.bytes))
		if v := in(u, iir); v != tt.want || !irq.high {
			t.Errorf("trigger %d, %d bytes: IIR %#x, want %#x; line high: %v", tt.trigger, tt.bytes, v, tt.want, irq.high)
		}
	}
}

func TestUARTReceiveAll(t *testing.T) {
	for _, fifo := range []bool{true, false} {
		u, irq, _ := newUART()
		open(u, 2, 0x01)
		if !fifo {
			out(u, fcr, 0x00)
		}
		text := "the quick brown fox jumps over the lazy dog"
		u.Receive([]byte(text[:10]))
		u.Receive([]byte(text[10:]))
		var have []byte
		for in(u, lsr)&1 != 0 {
			have = append(have, in(u, rbr))
		}
		if string(have) != text || u.Waiting() != 0 {
			t.Errorf("fifo %v: read %q, %d wait", fifo, have, u.Waiting())
		}
		// An interrupt for each filling: the first 10, two of 16, the last one; or each byte.
		want := 4
		if !fifo {
			want = len(text)
		}
		if irq.rises != want || irq.high {
			t.Errorf("fifo %v: %d interrupts, want %d; line high: %v", fifo, irq.rises, want, irq.high)
		}
		if in(u, rbr) != 0 {
			t.Error("an empty receiver holds something")
		}
	}
}

func TestUARTFlowControl(t *testing.T) {
	u, _, _ := newUART()
	open(u, 3, 0x01)
	out(u, mcr, 0x09) // RTS down
	u.Receive([]byte("x"))
	if in(u, lsr)&1 != 0 {
		t.Error("data comes while RTS is down")
	}
	out(u, mcr, 0x0b)
	if in(u, lsr)&1 != 1 || in(u, rbr) != 'x' {
		t.Error("no data when RTS is up")
	}
}

func TestUARTPriority(t *testing.T) {
	u, irq, _ := newUART()
	open(u, 3, 0x0f)
	out(u, mcr, 0x1a) // DSR follows DTR down
	for range 17 {
		out(u, thr, 'l') // looped back, one too many
	}
	out(u, mcr, 0x0b)
	if v := in(u, iir); v != 0xc6 {
		t.Errorf("IIR %#x, want the line state first", v)
	}
	if v := in(u, lsr); v != 0x63 {
		t.Errorf("LSR %#x, want 0x63", v)
	}
	for n := 16; n > 0; n-- {
		want := uint8(0xc4)
		if n < 14 {
			want = 0xcc
		}
		if v := in(u, iir); v != want {
			t.Errorf("IIR %#x with %d bytes, want %#x", v, n, want)
		}
		in(u, rbr)
	}
	if v := in(u, iir); v != 0xc2 {
		t.Errorf("IIR %#x, want the transmitter next", v)
	}
	if v := in(u, iir); v != 0xc0 {
		t.Errorf("IIR %#x, want the modem last", v)
	}
	if v := in(u, msr); v&0x0f == 0 {
		t.Errorf("MSR %#x, want changes", v)
	}
	if v := in(u, iir); v != 0xc1 || irq.high {
		t.Errorf("IIR %#x in the end; line high: %v", v, irq.high)
	}
}

func TestUARTOut2(t *testing.T) {
	u, irq, _ := newUART()
	open(u, 3, 0x02)
	for _, tt := range []struct {
		mcr  uint8
		want bool
	}{{0x03, false}, {0x0b, true}, {0x1b, false}, {0x08, true}} {
		out(u, mcr, tt.mcr)
		if irq.high != tt.want {
			t.Errorf("MCR %#x: line high: %v", tt.mcr, irq.high)
		}
	}
}

func TestUARTModemChanges(t *testing.T) {
	u, _, _ := newUART()
	out(u, mcr, 0x10) // CTS, DSR and carrier fall
	if v := in(u, msr); v != 0x0b {
		t.Errorf("MSR %#x, want 0x0b", v)
	}
	out(u, mcr, 0x14)
	if v := in(u, msr); v != 0x40 {
		t.Errorf("MSR %#x when the bell begins, want 0x40", v)
	}
	out(u, mcr, 0x10)
	if v := in(u, msr); v != 0x04 {
		t.Errorf("MSR %#x when the bell ends, want 0x04", v)
	}
}

func TestUARTClearFIFO(t *testing.T) {
	u, _, _ := newUART()
	open(u, 3, 0x01)
	u.Receive([]byte(strings.Repeat("a", 16) + "b"))
	out(u, fcr, 0x02) // without the enabling bit: FIFO off, which clears it too
	if v := in(u, rbr); v != 'b' {
		t.Errorf("reads %q, want the byte behind the FIFO", v)
	}
	u.Receive([]byte("cd"))
	out(u, fcr, 0xc1)
	out(u, fcr, 0xc3)
	if in(u, lsr)&1 != 0 {
		t.Error("a cleared FIFO holds something")
	}
}

func TestUARTState(t *testing.T) {
	ports := []uint16{0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 2, 5}
	testState(t, ports, func(r *rig) {
		u := NewUART(r.line("irq"), func(b byte) { r.note("send %#x", b) })
		r.bus.Mount(0, 8, 1, u)
		r.dev = u
		r.prod = func(rng *rand.Rand) {
			p := make([]byte, rng.IntN(20))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			u.Receive(p)
			r.note("wait %d", u.Waiting())
		}
	})
}

func TestUARTLoadDamaged(t *testing.T) {
	u, _, _ := newUART()
	s := saveBytes(t, u)
	s[len(s)-8] = 17 // bytes in the FIFO
	if err := restore(u, strings.NewReader(string(s)), 0); err == nil {
		t.Error("a FIFO of 17 bytes is accepted")
	}
}
