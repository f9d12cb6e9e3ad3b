//go:build qemu

package trampoline

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"trapline/kernel/arch"
)

// These tests need cross compilers and QEMU's user mode (Debian: gcc-aarch64-linux-gnu,
// gcc-riscv64-linux-gnu, libc6-dev-arm64-cross, libc6-dev-riscv64-cross, qemu-user).

// oraclePC is where testdata/oracle/run.c puts instructions.
const oraclePC = 0x1000000ff8

// A oracleIn and an oracleOut are struct in and struct out there.
type oracleIn struct {
	Reg   [32]uint64
	Flags uint64
	Code  uint32
	Size  uint32
}

type oracleOut struct {
	Reg       [32]uint64
	PC, Flags uint64
	Vector    [64]uint64
}

// runOracle runs cases one by one on QEMU.
func runOracle(t *testing.T, compiler, qemu string, cases []oracleIn) []oracleOut {
	t.Helper()
	program := filepath.Join(t.TempDir(), "run")
	build := exec.Command(compiler, "-O1", "-static", "-fno-stack-protector", "-fno-pie", "-no-pie",
		"-Wl,--no-relax", "-o", program, "testdata/oracle/run.c")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	binary.Write(&in, binary.LittleEndian, cases)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, program)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]oracleOut, len(cases))
	if err := binary.Read(bytes.NewReader(text), binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// oracleRegs are the registers of a case, for Emulation.Run.
type oracleRegs struct {
	a *arch.Arch
	oracleOut
}

func (r *oracleRegs) at(n arch.Reg) *uint64 {
	switch n {
	case r.a.PC:
		return &r.PC
	case r.a.Flags:
		return &r.Flags
	}
	return &r.oracleOut.Reg[n]
}

func (r *oracleRegs) Reg(n arch.Reg) uint64       { return *r.at(n) }
func (r *oracleRegs) SetReg(n arch.Reg, v uint64) { *r.at(n) = v }

// randomCase has registers. Some are equal, zero or negative, and all are
// addresses that a program may jump to and miss.
func randomCase(rnd *rand.Rand, a *arch.Arch, code []byte) oracleIn {
	c := oracleIn{Size: uint32(len(code)), Flags: rnd.Uint64() & 0xf0000000}
	c.Code = binary.LittleEndian.Uint32(append(append([]byte(nil), code...), 0, 0)[:4])
	for i := range c.Reg {
		switch rnd.IntN(4) {
		case 0:
			c.Reg[i] = uint64(rnd.IntN(3)) - 1
		case 1:
			c.Reg[i] = rnd.Uint64()
		default:
			c.Reg[i] = oraclePC&^0xffff + rnd.Uint64()&0xf00c
		}
	}
	if a == arch.RISCV64 {
		c.Reg[0], c.Flags = 0, 0
	} else {
		c.Reg[31] = 0
	}
	return c
}

// untagged is an address as user mode jumps to it: on arm64 without its top byte, in the
// lower half (TCR_EL1.TBI0).
func untagged(a *arch.Arch, pc uint64) uint64 {
	if a == arch.ARM64 && pc>>55&1 == 0 {
		return pc << 8 >> 8
	}
	return pc
}

// TestQEMU compares what is done by the machine, and by slots that it lends registers
// to, with what QEMU does for the instruction in place.
func TestQEMU(t *testing.T) {
	for _, c := range []struct {
		isa            *ISA
		compiler, qemu string
		random         func(*rand.Rand) []byte
	}{
		{ARM64, "aarch64-linux-gnu-gcc", "qemu-aarch64", randomARM64},
		{RISCV64, "riscv64-linux-gnu-gcc", "qemu-riscv64", randomRISCV64},
	} {
		t.Run(c.isa.Arch.Name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			var codes [][]byte
			var place, slot []oracleIn
			for len(place) < 20_000 {
				code := c.random(rnd)
				p := c.isa.Plan(code, oraclePC)
				do := c.isa.Do(p, code, oraclePC)
				if do.Op == arch.OpNone || do.Op == arch.OpLendOut {
					continue
				}
				in := randomCase(rnd, c.isa.Arch, code[:p.Len])
				if to := carriedOut(c.isa, code[:p.Len], in, oracleOut{}).PC; to-oraclePC < uint64(p.Len) {
					continue // round and round
				}
				codes, place = append(codes, code[:p.Len]), append(place, in)
				slot = append(slot, slotCase(t, c.isa, p, code, in))
			}
			want, inSlot := runOracle(t, c.compiler, c.qemu, place), runOracle(t, c.compiler, c.qemu, slot)
			for i := range codes {
				got := carriedOut(c.isa, codes[i], place[i], inSlot[i])
				got.PC = untagged(c.isa.Arch, got.PC)
				if got != want[i] {
					t.Fatalf("% x (%s): registers before %x\ngot  %x\nwant %x", codes[i],
						c.isa.Text(codes[i], oraclePC, nil), place[i].Reg, got, want[i])
				}
			}
		})
	}
}

// slotCase is the case of what a slot holds, or a breakpoint.
func slotCase(t *testing.T, isa *ISA, p Plan, code []byte, in oracleIn) oracleIn {
	in.Code, in.Size = binary.LittleEndian.Uint32(isa.Arch.Breakpoint(4)), 4
	if do := isa.Do(p, code, oraclePC); p.InSlot() {
		out, err := isa.Encode(p, code, oraclePC, 0)
		if err != nil {
			t.Fatal(err)
		}
		in.Code = binary.LittleEndian.Uint32(out)
		in.Reg[do.A] = oraclePC + uint64(do.Imm)
	}
	return in
}

// carriedOut is what the registers are after the machine did its part; slot is what they are
// after the slot.
func carriedOut(isa *ISA, code []byte, in oracleIn, slot oracleOut) oracleOut {
	p := isa.Plan(code, oraclePC)
	do := isa.Do(p, code, oraclePC)
	if !p.InSlot() {
		regs := &oracleRegs{isa.Arch, slot}
		regs.oracleOut.Reg, regs.PC, regs.Flags = in.Reg, oraclePC, in.Flags
		do.Run(isa.Arch, len(code), regs)
		return regs.oracleOut
	}
	if do.A != do.B || slot.PC == oraclePC { // not what it writes, or it has faulted
		slot.Reg[do.A] = in.Reg[do.A]
	}
	return slot
}

// randomARM64 is an instruction of one of arm64Patterns.
func randomARM64(rnd *rand.Rand) []byte {
	c := arm64Patterns[rnd.IntN(len(arm64Patterns))]
	w := rnd.Uint32()&^c.mask | c.value
	if c.value == 0x18000000 && w>>30 == 3 {
		w &^= 0x40000000 // no prefetches, which change nothing
	}
	if w&0xff000000 == 0x54000000 {
		w &^= 0x10 // no bc.cond, which QEMU 7.2 does not know
	}
	return binary.LittleEndian.AppendUint32(nil, w)
}

func randomRISCV64(rnd *rand.Rand) []byte {
	c := riscv64Patterns[rnd.IntN(len(riscv64Patterns))]
	return binary.LittleEndian.AppendUint32(nil, rnd.Uint32()&^c.mask|c.value)[:c.n]
}
