package syscall

import (
	"encoding/binary"
	"slices"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/fbt"
)

// A system call that ends in a jump, its callee, and the function that calls it.
const jumping = `
__x64_sys_jump ffffffff81000100 31c0|ebfc
dispatch       ffffffff81000200 e8fbfeffff|90|c3
`

// TestAwait: the return is where the caller goes on, in the thread and on the stack of the jump
// alone, and once.
func TestAwait(t *testing.T) {
	var thread uint64
	p, target, r, args := setupWith(t, jumping, func(c *fbt.Config) {
		c.Await = func(probes.CPU) guestos.Thread { return guestos.Thread{Key: thread, Addr: thread} }
	})
	ps, err := p.Provide(probes.Desc{Provider: Name, Function: "jump", Name: "return"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Enable(ps); err != nil {
		t.Fatal(err)
	}
	const stack, behind = 0xffffffff81004000, 0xffffffff81000205
	target.Map(stack, binary.LittleEndian.AppendUint64(nil, behind))
	at := func(which uint64, sp, value uint64, pc uint64) {
		thread = which
		target.CPU.SetReg(arch.RSP, sp)
		target.CPU.SetReg(arch.RAX, value)
		target.Run(pc)
	}
	at(1, stack, 0, 0xffffffff81000102)
	at(2, stack+8, 5, behind)
	at(1, stack+16, 6, behind)
	at(1, stack+8, 7, behind)
	at(1, stack+8, 8, behind)
	if want := []uint64{7, 7, 0, 0}; !slices.Equal(*args, want) {
		t.Errorf("%d, want %d", *args, want)
	}
	if err := r.Disable(ps); err != nil || len(target.Breaks()) != 0 {
		t.Errorf("%d breakpoints are left, %v", len(target.Breaks()), err)
	}
}
