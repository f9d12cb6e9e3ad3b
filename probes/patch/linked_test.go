package patch

import (
	"testing"

	"trapline/kernel/arch"
)

// Linux's tracer turns two instructions of two bytes at a function's start into one of
// four, and back: the probe on the second has nothing to stand on meanwhile.
func TestRewriteRISCV64(t *testing.T) {
	// c.nop; c.nop; c.nop; c.nop; c.addi sp,-16; ret, at the end of a page
	r := newRigOf(t, arch.RISCV64, "traced ffffffff80200ff6 0100|0100|0100|0100|4111|8280")
	r.enable(r.probes("traced", "traced"))
	r.want("traced", "0+2 2+2 4+2 6+2 8+2 10+2")
	at := r.fn("traced").Addr
	// auipc t0,0; jalr t0,-8(t0): neither needs a slot any more
	r.target.Rewrite(at, []byte{0x97, 0x02, 0, 0, 0xe7, 0x82, 0x82, 0xff})
	r.want("traced", "0+4 4+4 8+2 10+2")
	if now, _ := r.set.Suspended(); now != 2 {
		t.Errorf("%d probes are suspended, want 2", now)
	}
	r.target.Rewrite(at, []byte{0x01, 0, 0x01, 0, 0x01, 0, 0x01, 0})
	r.want("traced", "0+2 2+2 4+2 6+2 8+2 10+2")
	// c.nop; then addi a0,a0,1 over the end of the page; c.nop. The second half changes.
	r.target.Rewrite(at+8, []byte{0x13, 0x05, 0x15, 0})
	r.want("traced", "0+2 2+2 4+2 6+2 8+4")
	r.target.Rewrite(at+10, []byte{0x25, 0})
	r.want("traced", "0+2 2+2 4+2 6+2 8+4")
	// A breakpoint of the guest's own has the size of what it covers.
	r.target.Rewrite(at+8, []byte{0x73, 0, 0x10, 0})
	r.want("traced", "0+2 2+2 4+2 6+2 8+4g")
	r.target.Rewrite(at+8, []byte{0x02, 0x90, 0x82, 0x80})
	r.want("traced", "0+2 2+2 4+2 6+2 8+2g 10+2")
}

// On arm64 a call takes the place of a nop, a probe's slot comes and goes.
func TestRewriteARM64(t *testing.T) {
	// mov x9,x30; nop; ret
	r := newRigOf(t, arch.ARM64, "traced ffff800008010000 e9031eaa|1f2003d5|c0035fd6")
	ps := r.probes("traced", "traced")
	r.enable(ps)
	r.want("traced", "0+4 4+4 8+4")
	at := r.fn("traced").Addr
	for range 2 {
		r.target.Rewrite(at+4, []byte{0, 1, 0, 0x94}) // bl
		r.want("traced", "0+4 4+4 8+4")
		r.target.Rewrite(at+4, []byte{0x80, 0, 0x20, 0xd4}) // brk #4
		r.want("traced", "0+4 4+4g 8+4")
		r.target.Rewrite(at+4, []byte{0x40, 0, 0, 0x58}) // ldr x0,.+8
		r.want("traced", "0+4 4+4 8+4")
		r.target.Rewrite(at+4, []byte{0xfe, 0xa3, 0xc1, 0xda}) // paciasppc
		r.want("traced", "0+4 8+4")
		r.target.Rewrite(at+4, []byte{0x1f, 0x20, 0x03, 0xd5}) // nop
		r.want("traced", "0+4 4+4 8+4")
	}
	r.disable(ps)
	r.want("traced", "")
	for slot := uint64(0); slot < 64; slot++ {
		base, _ := r.target.Slots()
		if got := r.target.Code[base+slot]; got != r.set.isa.Fill[slot%4] {
			t.Errorf("slot byte %d is %#x after all are free", slot, got)
		}
	}
}
