package unicorn

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

// openARM64 opens an engine with the MMU off and starts it at code at 1 MiB of RAM.
func openARM64(t testing.TB, h Handler, codeBuffer uint64, code []uint32) (e *Engine, base uint64) {
	t.Helper()
	e, err := Open(arch.ARM64, 16*mib, codeBuffer, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for i, w := range code {
		binary.LittleEndian.PutUint32(e.RAM()[1*mib+i*4:], w)
	}
	base = e.RAMBase() + 1*mib
	e.StartARM64(base, 0)
	return e, base
}

func TestClockARM64(t *testing.T) {
	e, base := openARM64(t, nothing{}, 8*mib, []uint32{
		0xd2800140, // mov x0, #10
		0xf1000400, // 1: subs x0, x0, #1
		0x54ffffe1, // b.ne 1b
		0xd503207f, // wfi
	})
	end, err := e.Run()
	if end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := uint64(4 + 10*8); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
	if pc := e.Reg(arch.ARM64PC); pc != base+12 {
		t.Errorf("pc 0x%x", pc)
	}
}

// rom is a device with code in it, which knows when it was read.
type rom struct {
	nothing
	code  []uint32
	now   func() uint64
	times []uint64
}

func (r *rom) Load(pa uint64, _ int) uint64 {
	r.times = append(r.times, r.now())
	return uint64(r.code[pa/4])
}

// Code in a device: it is fetched when the guest has come there, and takes its time.
func TestDeviceCodeARM64(t *testing.T) {
	r := &rom{code: []uint32{
		0x91000400, // add x0, x0, #1
		0x91000400, // add x0, x0, #1
		0xd503207f, // wfi
	}}
	e, _ := openARM64(t, r, 8*mib, []uint32{
		0xd2800001, // mov x1, #0
		0xd61f0020, // br x1
	})
	e.SetSlots(arm64Slots)
	r.now = e.Clock
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := []uint64{8, 8, 8}; !slices.Equal(r.times, want) || e.Total() != 16 || e.Reg(arch.ARM64X0) != 2 {
		t.Errorf("read at %d, want %d; clock %d, x0 %d", r.times, want, e.Total(), e.Reg(arch.ARM64X0))
	}
}

func TestCodeBufferOverflowARM64(t *testing.T) {
	const blocks = 60_000
	var code []uint32
	for range blocks {
		code = append(code, 0x91000400, 0x14000001) // add x0, x0, #1; b to the next
	}
	code = append(code,
		0x91000421, // add x1, x1, #1
		0xf100083f, // cmp x1, #2
		0x54000042, // b.hs 1f
	)
	code = append(code, 0x14000000|uint32(-len(code))&0x3ffffff, 0xd503207f) // b to the first; 1: wfi
	e, _ := openARM64(t, nothing{}, 1*mib, code)
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if n := e.Counters().Flushes; n < 4 {
		t.Errorf("%d flushes: the buffer did not overflow", n)
	}
	if got := e.Reg(arch.ARM64X0); got != 2*blocks {
		t.Errorf("%d blocks were run, want %d", got, 2*blocks)
	}
	if want := uint64(2*(blocks*8+12) + 4); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
}

const arm64Slots = 0xffffffffd0000000

// plant puts breakpoints, with slots, at instructions of code.
func plantARM64(t testing.TB, e *Engine, base uint64, breaks []arch.Break) {
	t.Helper()
	e.SetSlots(arm64Slots)
	for i, b := range breaks {
		at := b.Addr - e.RAMBase()
		if b.Do.InSlot() {
			b.Slot = arm64Slots + uint64(i)*8
			slot := append(e.RAM()[at:at+4:at+4], arch.ARM64.Breakpoint(4)...)
			if b.Do.Op == arch.OpLend { // ldr (literal) becomes ldr of the lent register
				binary.LittleEndian.PutUint32(slot, 0xf9400000|uint32(b.Do.A)<<5|uint32(b.Do.B))
			}
			if err := e.WriteSlots(b.Slot, slot); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.SetBreak(Break{b, at}); err != nil {
			t.Fatal(err)
		}
	}
	e.Commit()
}

// Every instruction of a loop has a breakpoint: the clock and the registers are those of
// the run without, and no data access sees one.
func TestBreakARM64(t *testing.T) {
	code := []uint32{
		0xd2800140,             // mov x0, #10
		0x10ffffe1,             // 1: adr x1, .-4
		0xb9400422,             // ldr w2, [x1, #4]: the adr
		0x58000083,             // ldr x3, 2f
		0xf1000400,             // subs x0, x0, #1
		0x54ffff81,             // b.ne 1b
		0xd503207f,             // wfi
		0x89abcdef, 0x01234567, // 2:
	}
	run := func(inplace bool, breaks func(base uint64) []arch.Break) (*Engine, *counter, uint64) {
		c := &counter{}
		e, base := openARM64(t, c, 8*mib, code)
		e.SetInPlace(inplace)
		plantARM64(t, e, base, breaks(base))
		if end, err := e.Run(); end != Hung || err != nil {
			t.Fatalf("end %v, %v", end, err)
		}
		return e, c, base
	}
	e, _, _ := run(false, func(uint64) []arch.Break { return nil })
	clock, adr := e.Total(), e.Reg(arch.ARM64X0+2)
	e.Close()
	all := func(base uint64) []arch.Break {
		return []arch.Break{
			{Addr: base + 4, Len: 4, Do: arch.Emulation{Op: arch.OpSet, A: 1, Imm: -4}},
			{Addr: base + 8, Len: 4},
			{Addr: base + 12, Len: 4, Do: arch.Emulation{Op: arch.OpLend, A: 3, B: 3, Imm: 16}},
			{Addr: base + 16, Len: 4},
			{Addr: base + 20, Len: 4, Do: arch.Emulation{Op: arch.OpIfFlags, A: arch.NoReg, B: arch.NoReg, C: 1, Imm: -16}},
			{Addr: base + 24, Len: 4},
		}
	}
	for _, inplace := range []bool{false, true} {
		t.Run(fmt.Sprintf("inplace=%v", inplace), func(t *testing.T) {
			e, c, base := run(inplace, all)
			defer e.Close()
			if c.hits != 51 || c.last != base+24 {
				t.Errorf("%d hits, last at 0x%x, want 51 at 0x%x", c.hits, c.last, base+24)
			}
			if e.Total() != clock || e.Reg(0) != 0 || e.Reg(1) != base || e.Reg(3) != 0x0123456789abcdef || e.Reg(arch.ARM64PC) != base+24 {
				t.Errorf("clock %d, want %d; x0 %d, x1 0x%x, x3 0x%x, pc 0x%x", e.Total(), clock, e.Reg(0), e.Reg(1), e.Reg(3), e.Reg(arch.ARM64PC))
			}
			if inplace {
				adr = uint64(binary.LittleEndian.Uint32(arch.ARM64.Breakpoint(4)))
			}
			if e.Reg(2) != adr {
				t.Errorf("the guest reads 0x%x at the probe, want 0x%x", e.Reg(2), adr)
			}
		})
	}
}

// A BRK of the guest's own under a probe comes with its own immediate.
func TestGuestBreakARM64(t *testing.T) {
	code := make([]uint32, 0x204/4)
	copy(code, []uint32{
		0x10000000, // adr x0, .
		0xd518c000, // msr vbar_el1, x0
		0xd4200080, // brk #4
	})
	code[0x200/4] = 0xd503207f // wfi, at the vector for EL1 (Arm ARM, D1.3.1)
	run := func(inplace, probed bool) (syndrome, clock uint64) {
		e, base := openARM64(t, &counter{}, 8*mib, code)
		defer e.Close()
		e.SetInPlace(inplace)
		if probed {
			plantARM64(t, e, base, []arch.Break{{Addr: base + 8, Len: 4, Guest: true, Do: arch.Emulation{Op: arch.OpSet, A: arch.NoReg}}})
		}
		if end, err := e.Run(); end != Hung || err != nil {
			t.Fatalf("end %v, %v", end, err)
		}
		return e.Reg(arch.ARM64ESR), e.Total()
	}
	want, clock := run(false, false)
	if want != 0xf2000004 {
		t.Errorf("syndrome %#x", want)
	}
	for _, inplace := range []bool{false, true} {
		if have, at := run(inplace, true); have != want || at != clock {
			t.Errorf("inplace=%v: syndrome %#x, want %#x; clock %d, want %d", inplace, have, want, at, clock)
		}
	}
}

func BenchmarkHitARM64(b *testing.B) {
	c := &counter{}
	e, base := openARM64(b, c, 8*mib, []uint32{
		0xd503201f, // 1: nop
		0xf1000400, // subs x0, x0, #1
		0x54ffffc1, // b.ne 1b
		0xd503207f, // wfi
	})
	plantARM64(b, e, base, []arch.Break{{Addr: base, Len: 4}})
	e.SetReg(arch.ARM64X0, uint64(b.N))
	b.ResetTimer()
	e.Run()
	if c.hits != b.N {
		b.Fatalf("%d hits, want %d", c.hits, b.N)
	}
}

// Where the top byte of addresses is ignored, a branch through a register does so too, with a
// breakpoint on it and without.
func TestBranchTagged(t *testing.T) {
	e, base := openARM64(t, nothing{}, 8*mib, []uint32{
		0xd5182042, // msr tcr_el1, x2
		0xd61f0020, // br x1
		0xd503207f, // wfi
		0xd503207f, // wfi
	})
	for _, probed := range []bool{false, true} {
		e.StartARM64(base, 0)
		e.SetReg(arch.ARM64X0+1, base+12|0x5a<<56)
		e.SetReg(arch.ARM64X0+2, 1<<37) // TBI0
		if probed {
			do := arch.Emulation{Op: arch.OpJumpReg, A: arch.NoReg, B: arch.ARM64X0 + 1}
			if err := e.SetBreak(Break{arch.Break{Addr: base + 4, Len: 4, Do: do}, 1*mib + 4}); err != nil {
				t.Fatal(err)
			}
			e.Commit()
		}
		if end, err := e.Run(); end != Hung || err != nil || e.Reg(arch.ARM64PC) != base+12 {
			t.Errorf("probed %t: end %v, %v, pc 0x%x", probed, end, err, e.Reg(arch.ARM64PC))
		}
	}
}

// Breakpoints in debug registers are not there, but may be asked for.
func TestDebugRegisterARM64(t *testing.T) {
	e, base := openARM64(t, nothing{}, 8*mib, []uint32{
		0xd5100080, // msr dbgbvr0_el1, x0
		0xd51000a1, // msr dbgbcr0_el1, x1
		0xd51000bf, // msr dbgbcr0_el1, xzr
		0xd503207f, // wfi
	})
	e.SetReg(arch.Reg(0), base+8)
	e.SetReg(arch.Reg(1), 0x1e7)
	if end, err := e.Run(); end != Hung || e.Total() != 12 {
		t.Fatalf("end %v at %#x, %v", end, e.Reg(arch.ARM64PC), err)
	}
}

// A guest without a handler for its exceptions does not run for ever.
func TestNoHandlerARM64(t *testing.T) {
	e, base := openARM64(t, nothing{}, 8*mib, []uint32{0xd518c000, 0}) // msr vbar_el1, x0; udf #0
	e.SetReg(arch.Reg(0), base+64<<10)
	if end, err := e.Run(); end != Hung || err != nil || e.Total() != 4 {
		t.Errorf("end %v after %d, %v", end, e.Total(), err)
	}
}
