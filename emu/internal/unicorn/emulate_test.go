package unicorn

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"trapline/kernel/arch"
)

// fakeRegs is a register file for arch.Emulation.Run.
type fakeRegs map[arch.Reg]uint64

func (r fakeRegs) Reg(n arch.Reg) uint64       { return r[n] }
func (r fakeRegs) SetReg(n arch.Reg, v uint64) { r[n] = v }

// TestEmulate compares what the engine does for displaced instructions with what
// arch.Emulation says. All other memory is WFI, where the CPU stays.
func TestEmulate(t *testing.T) {
	for _, c := range []struct {
		a    *arch.Arch
		wait uint32 // WFI
		last arch.Reg
		open func(t testing.TB) (e *Engine, base uint64)
	}{
		{arch.ARM64, 0xd503207f, arch.ARM64LR, func(t testing.TB) (*Engine, uint64) {
			e, pc := openARM64(t, nothing{}, 8*mib, nil)
			return e, pc - 1*mib
		}},
		{arch.RISCV64, wfi, arch.RISCV64X0 + 31, func(t testing.TB) (*Engine, uint64) {
			return openRISCV64(t, nothing{}, 8*mib, nil), riscv64Base
		}},
	} {
		t.Run(c.a.Name, func(t *testing.T) {
			e, base := c.open(t)
			for at := 2 * mib; at < 14*mib; at += 4 {
				binary.LittleEndian.PutUint32(e.RAM()[at:], c.wait)
			}
			pc := base + 8*mib
			rnd := rand.New(rand.NewPCG(5, 6))
			for range 3000 {
				before := randomRegs(rnd, c.a, pc, c.last)
				do := randomDo(rnd, c.a, c.last, before)
				want := fakeRegs{}
				for r, v := range before {
					want[r] = v
				}
				do.Run(c.a, 4, want)
				if want[c.a.PC]-base-2*mib >= 12*mib || want[c.a.PC]%4 != 0 || want[c.a.PC] == pc {
					continue // not to a WFI
				}
				if err := e.SetBreak(Break{arch.Break{Addr: pc, Len: 4, Do: do}, 8 * mib}); err != nil {
					t.Fatal(err)
				}
				e.Commit()
				for r, v := range before {
					e.SetReg(r, v)
				}
				if end, err := e.Run(); end != Hung || err != nil {
					t.Fatalf("%s: end %v, %v", do.Text(c.a), end, err)
				}
				for r, v := range want {
					if got := e.Reg(r); got != v {
						t.Fatalf("%s: %s is 0x%x, want 0x%x (before: %x)", do.Text(c.a), c.a.Regs[r].Name, got, v, before)
					}
				}
			}
		})
	}
}

// randomRegs has registers. Some are equal, zero or negative, and most are
// addresses near pc.
func randomRegs(rnd *rand.Rand, a *arch.Arch, pc uint64, last arch.Reg) fakeRegs {
	regs := fakeRegs{a.PC: pc}
	for r := range last + 1 {
		switch rnd.IntN(5) {
		case 0:
			regs[r] = uint64(rnd.IntN(3)) - 1
		case 1:
			regs[r] = rnd.Uint64()
		case 2:
			regs[r] = rnd.Uint64() << 32
		default:
			regs[r] = pc + uint64(rnd.IntN(mib))
		}
	}
	if a == arch.ARM64 {
		regs[a.Flags] = rnd.Uint64()&0xf0000000 | 0x3c5
	} else {
		regs[arch.RISCV64X0] = 0
	}
	return regs
}

// randomDo is an operation that is done without a slot.
func randomDo(rnd *rand.Rand, a *arch.Arch, last arch.Reg, regs fakeRegs) arch.Emulation {
	reg := func() arch.Reg {
		if r := arch.Reg(rnd.IntN(int(last) + 1)); r != arch.RISCV64X0 {
			return r
		}
		return arch.NoReg
	}
	do := arch.Emulation{Op: arch.Op(1 + rnd.IntN(int(arch.OpLend-1))), A: reg(), B: reg(), C: uint8(reg())}
	do.Imm = (rnd.Int64N(2*mib) - mib) &^ 3
	switch do.Op {
	case arch.OpJumpReg:
		do.C = uint8(rnd.IntN(2))
		if do.B != arch.NoReg {
			do.Imm = int64(regs[a.PC]) + do.Imm - int64(regs[do.B])
		}
	case arch.OpIfBitSet, arch.OpIfBitClr:
		do.C = uint8(rnd.IntN(64))
	case arch.OpIfFlags:
		do.C = uint8(rnd.IntN(16))
		if a != arch.ARM64 {
			do.Op = arch.OpJump
		}
	}
	return do
}
