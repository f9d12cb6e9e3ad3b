package insn

import (
	"sync"
	"testing"
)

const linkedPC = 0xffff800008010ff8

// Symbols take the place of addresses.
func TestLinkedText(t *testing.T) {
	sym := func(addr uint64) (string, uint64) {
		if base := uint64(linkedPC + 0x10); addr-base < 0x100 {
			return "there", base
		}
		return "", 0
	}
	for _, c := range []struct {
		set  *Set
		code []byte
		want string
	}{
		{ARM64, []byte{0xfd, 0x7b, 0xbf, 0xa9}, "stp x29, x30, [sp,#-16]!"},
		{ARM64, []byte{0x04, 0, 0, 0x94}, "bl there"},
		{ARM64, []byte{0xa0, 0, 0, 0x54}, "b.eq there+4"},
		{ARM64, []byte{0, 0, 0, 0x94}, "bl 0xffff800008010ff8"},
		{ARM64, []byte{0xe0, 0x01, 0x10, 0x37}, "tbnz w0, #2, there+44"},
		{ARM64, []byte{0x20, 0, 0, 0xb0}, "adrp x0, 0xffff800008015000"},
		{ARM64, []byte{0x81, 0, 0, 0x58}, "ldr x1, there"},
		{ARM64, []byte{0xc0, 0x03, 0x5f, 0xd6}, "ret"},
		{ARM64, []byte{0x40, 0x8e, 0x2e, 0xd4}, "brk #0x7472"},
		{ARM64, []byte{0, 0, 0, 0}, ".inst 0x00000000"},
		{ARM64, []byte{1, 2}, "(bad)"},
		{RISCV64, []byte{0x01, 0xa8}, "j there"},
		{RISCV64, []byte{0xef, 0, 0, 0x01}, "jal there"},
		{RISCV64, []byte{0x09, 0xc9}, "beqz a0,there+2"},
		{RISCV64, []byte{0x63, 0x04, 0xb5, 0}, "beq a0,a1,0xffff800008011000"},
		{RISCV64, []byte{0x82, 0x80}, "ret"},
		{RISCV64, []byte{0x17, 0xf5, 0xff, 0x7f}, "auipc a0,0x7ffff"},
		{RISCV64, []byte{0x73, 0x25, 0, 0x10}, "csrr a0,sstatus"},
		{RISCV64, []byte{0x02, 0x90}, "ebreak"},
		{RISCV64, []byte{0x63, 0x20, 0, 0}, ".insn 4, 0x00002063"},
		{RISCV64, []byte{0x1f, 0, 0, 0}, "(bad)"},
	} {
		if got := c.set.Text(c.code, linkedPC, sym); got != c.want {
			t.Errorf("% x: %q, want %q", c.code, got, c.want)
		}
	}
}

// The decoders of x/arch are not safe for concurrent use; Text is.
func TestLinkedTextConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				ARM64.Text([]byte{0xfd, 0x7b, 0xbf, 0xa9}, linkedPC, nil)
				RISCV64.Text([]byte{0x82, 0x80}, linkedPC, nil)
			}
		})
	}
	wg.Wait()
}
