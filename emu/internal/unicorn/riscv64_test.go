package unicorn

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"trapline/kernel/arch"
)

// The kernel's half of a riscv64 guest in these tests: the first GiB of RAM.
const riscv64Base = 0xffffffff80000000

// openRISCV64 opens an engine with Sv39 tables that map RAM to itself and to the kernel's
// half, and starts it at code at 1 MiB.
func openRISCV64(t testing.TB, h Handler, codeBuffer uint64, code []uint32) *Engine {
	t.Helper()
	e, err := Open(arch.RISCV64, 16*mib, codeBuffer, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	ram := e.RAM()
	const flags = 0xcf // D A X W R V
	binary.LittleEndian.PutUint64(ram[0x10000+510*8:], e.RAMBase()>>2|flags)
	binary.LittleEndian.PutUint64(ram[0x10000+2*8:], e.RAMBase()>>2|flags)
	for i, w := range code {
		binary.LittleEndian.PutUint32(ram[1*mib+i*4:], w)
	}
	e.StartRISCV64(riscv64Base+1*mib, 0)
	e.riscv64Paging(8<<60 | (e.RAMBase()+0x10000)>>12)
	return e
}

// Instructions of the tests. li is addi from x0.
const wfi = 0x10500073

func li(rd, v int) uint32       { return addi(rd, 0, v) }
func addi(rd, rs, v int) uint32 { return uint32(v)<<20 | uint32(rs)<<15 | uint32(rd)<<7 | 0x13 }
func lw(rd, rs, off int) uint32 {
	return uint32(off)<<20 | uint32(rs)<<15 | 2<<12 | uint32(rd)<<7 | 0x03
}
func auipc(rd, pages int) uint32      { return uint32(pages)<<12 | uint32(rd)<<7 | 0x17 }
func bnez(rs int, off int32) uint32   { return branch(1, rs, 0, off) }
func bltu(a, b int, off int32) uint32 { return branch(6, a, b, off) }

func branch(f, a, b int, off int32) uint32 {
	o := uint32(off)
	return o>>12&1<<31 | o>>5&63<<25 | uint32(b)<<20 | uint32(a)<<15 | uint32(f)<<12 | o>>1&15<<8 | o>>11&1<<7 | 0x63
}

// Address 0 is one as any other, and no end of a run.
func TestZeroRISCV64(t *testing.T) {
	e := openRISCV64(t, nothing{}, 8*mib, []uint32{wfi})
	e.riscv64Paging(0)
	e.SetReg(arch.RISCV64PC, 0)
	done := make(chan End)
	go func() { end, _ := e.Run(); done <- end }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a guest at 0 runs for ever")
	}
}

func TestClockRISCV64(t *testing.T) {
	e := openRISCV64(t, nothing{}, 8*mib, []uint32{
		li(5, 10),      // li t0, 10
		addi(5, 5, -1), // 1: addi t0, t0, -1
		bnez(5, -4),    // bnez t0, 1b
		wfi,
	})
	end, err := e.Run()
	if end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := uint64(4 + 10*8); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
	if pc := e.Reg(arch.RISCV64PC); pc != riscv64Base+1*mib+12 {
		t.Errorf("pc 0x%x", pc)
	}
}

func TestCodeBufferOverflowRISCV64(t *testing.T) {
	const blocks = 60_000
	var code []uint32
	for range blocks {
		code = append(code, addi(5, 5, 1), 0x0040006f) // addi t0, t0, 1; j to the next
	}
	code = append(code, addi(6, 6, 1), li(7, 2), bltu(6, 7, 8), wfi)
	back := uint32(-len(code) * 4)
	code = append(code, back>>20&1<<31|back>>1&1023<<21|back>>11&1<<20|back>>12&255<<12|0x6f)
	e := openRISCV64(t, nothing{}, 1*mib, code)
	if end, err := e.Run(); end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if n := e.Counters().Flushes; n < 4 {
		t.Errorf("%d flushes: the buffer did not overflow", n)
	}
	if got := e.Reg(5); got != 2*blocks {
		t.Errorf("%d blocks were run, want %d", got, 2*blocks)
	}
	if want := uint64(2*(blocks*8+12) + 4); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
}

// A breakpoint is hit each time, costs no time, and is seen by no data access; what the
// machine emulates does what it would do in place.
func TestBreakRISCV64(t *testing.T) {
	code := []uint32{
		li(5, 10),      // li t0, 10
		auipc(7, 0),    // 1: auipc t2, 0
		lw(28, 7, 8),   // lw t3, 8(t2): the next but one
		addi(5, 5, -1), // addi t0, t0, -1
		bnez(5, -12),   // bnez t0, 1b
		wfi,
	}
	run := func(inplace bool, breaks []arch.Break) (*Engine, *counter) {
		c := &counter{}
		e := openRISCV64(t, c, 8*mib, code)
		e.SetInPlace(inplace)
		slots := uint64(riscv64Base + 0x10000000)
		e.SetSlots(slots)
		for i, b := range breaks {
			if b.Do.InSlot() {
				b.Slot = slots + uint64(i)*8
				var slot [8]byte
				copy(slot[:], e.RAM()[b.Addr-riscv64Base:][:4])
				binary.LittleEndian.PutUint32(slot[4:], 0x00100073)
				if err := e.WriteSlots(b.Slot, slot[:]); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.SetBreak(Break{b, b.Addr - riscv64Base}); err != nil {
				t.Fatal(err)
			}
		}
		e.Commit()
		if end, err := e.Run(); end != Hung || err != nil {
			t.Fatalf("end %v, %v", end, err)
		}
		return e, c
	}
	at := func(i int) uint64 { return riscv64Base + 1*mib + uint64(i)*4 }
	e, _ := run(false, nil)
	clock, data := e.Total(), e.Reg(28)
	e.Close()
	all := []arch.Break{
		{Addr: at(1), Len: 4, Do: arch.Emulation{Op: arch.OpSet, A: 7}},
		{Addr: at(2), Len: 4},
		{Addr: at(3), Len: 4},
		{Addr: at(4), Len: 4, Do: arch.Emulation{Op: arch.OpIfNE, A: arch.NoReg, B: 5, C: uint8(arch.NoReg), Imm: -12}},
		{Addr: at(5), Len: 4},
	}
	for _, inplace := range []bool{false, true} {
		t.Run(fmt.Sprintf("inplace=%v", inplace), func(t *testing.T) {
			e, c := run(inplace, all)
			defer e.Close()
			if c.hits != 41 || c.last != at(5) {
				t.Errorf("%d hits, last at 0x%x, want 41 at 0x%x", c.hits, c.last, at(5))
			}
			if e.Total() != clock || e.Reg(5) != 0 || e.Reg(7) != at(1) || e.Reg(arch.RISCV64PC) != at(5) {
				t.Errorf("clock %d, want %d; t0 %d, t2 0x%x, pc 0x%x", e.Total(), clock, e.Reg(5), e.Reg(7), e.Reg(arch.RISCV64PC))
			}
			if inplace {
				data = 0x00100073
			}
			if e.Reg(28) != data {
				t.Errorf("the guest reads 0x%x at the probe, want 0x%x", e.Reg(28), data)
			}
		})
	}
}

// In place, an instruction of two bytes has c.ebreak over it and one of four ebreak, in
// RAM, until they are taken away: one by one, the neighbours are not touched.
func TestInPlaceRISCV64(t *testing.T) {
	e := openRISCV64(t, nothing{}, 8*mib, nil)
	e.SetInPlace(true)
	e.SetSlots(riscv64Base + 0x10000000)
	text := e.RAM()[1*mib:][:12]
	own := []byte{0x05, 0x05, 0x13, 0x05, 0x15, 0x00, 0x05, 0x05, 0x73, 0x00, 0x50, 0x10} // addi a0, a0, 1 of 2, 4 and 2 bytes; wfi
	copy(text, own)
	check := func(when, want string) {
		t.Helper()
		if have := fmt.Sprintf("%x", text); have != want {
			t.Errorf("%s: text %s, want %s", when, have, want)
		}
	}
	const at = riscv64Base + 1*mib
	for _, b := range []arch.Break{{Addr: at, Len: 2}, {Addr: at + 2, Len: 4}} {
		if err := e.SetBreak(Break{b, b.Addr - riscv64Base}); err != nil {
			t.Fatal(err)
		}
	}
	e.Commit()
	check("both", "0290"+"73001000"+"0505"+"73005010")
	e.ClearBreak(at)
	e.Commit()
	check("the long one", "0505"+"73001000"+"0505"+"73005010")
	e.ClearBreak(at + 2)
	e.Commit()
	check("none", fmt.Sprintf("%x", own))
}

func BenchmarkHitRISCV64(b *testing.B) {
	c := &counter{}
	e := openRISCV64(b, c, 8*mib, []uint32{addi(0, 0, 0), addi(5, 5, -1), bnez(5, -8), wfi})
	slots := uint64(riscv64Base + 0x10000000)
	e.SetSlots(slots)
	e.WriteSlots(slots, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x13), 0x00100073))
	if err := e.SetBreak(Break{arch.Break{Addr: riscv64Base + 1*mib, Slot: slots, Len: 4}, 1 * mib}); err != nil {
		b.Fatal(err)
	}
	e.Commit()
	e.SetReg(5, uint64(b.N))
	b.ResetTimer()
	e.Run()
	if c.hits != b.N {
		b.Fatalf("%d hits, want %d", c.hits, b.N)
	}
}

// openBare opens an engine without firmware at code at 1 MiB; at 1 MiB + 0x100 is more.
func openBare(t *testing.T, code, more []uint32) (e *Engine, base uint64) {
	t.Helper()
	e, err := Open(arch.RISCV64, 16*mib, 8*mib, nothing{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for i, w := range code {
		binary.LittleEndian.PutUint32(e.RAM()[1*mib+i*4:], w)
	}
	for i, w := range more {
		binary.LittleEndian.PutUint32(e.RAM()[1*mib+0x100+i*4:], w)
	}
	e.SetBare()
	base = e.RAMBase() + 1*mib
	e.StartRISCV64(base, 0)
	return e, base
}

func csrr(rd, csr int) uint32 { return uint32(csr)<<20 | 2<<12 | uint32(rd)<<7 | 0x73 }
func csrw(csr, rs int) uint32 { return uint32(csr)<<20 | uint32(rs)<<15 | 1<<12 | 0x73 }

const (
	mstatus, medeleg, mie, mtvec, mepc, mcause = 0x300, 0x302, 0x304, 0x305, 0x341, 0x342
	stvec, sepc, scause, stimecmp              = 0x105, 0x141, 0x142, 0x14d
	pmpcfg0, pmpaddr0                          = 0x3a0, 0x3b0
	mret, sret, ecall, ebreak                  = 0x30200073, 0x10200073, 0x73, 0x00100073
)

// An interrupt of the machine goes to its own entry of a vectored table (3.1.7).
func TestVectoredRISCV64(t *testing.T) {
	e, base := openBare(t, []uint32{
		auipc(5, 0),
		addi(5, 5, 0x101),
		csrw(mtvec, 5),
		li(6, 8), // the machine's software interrupt, and MIE
		csrw(mie, 6),
		csrw(mstatus, 6),
		0x0000006f, // j .
	}, []uint32{
		wfi, wfi, wfi, // others
		csrr(10, mcause),
		csrr(11, mepc),
		csrr(12, mstatus),
		csrw(mie, 0),
		wfi,
	})
	e.SetInterrupt(RISCV64MachineSoftware, true)
	end, err := e.Run()
	if end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	const cause, status = 1<<63 | 3, 3<<11 | 1<<7 // MPP: machine, MPIE
	if a, b, c := e.Reg(arch.RISCV64A0), e.Reg(arch.RISCV64A0+1), e.Reg(arch.RISCV64A0+2); a != cause || b != base+24 || c != status {
		t.Errorf("mcause 0x%x, mepc 0x%x, mstatus 0x%x", a, b, c)
	}
}

// Exceptions of the supervisor go where medeleg says, and stimecmp is illegal until menvcfg
// allows it. Each handler appends its cause to a0.
func TestDelegationRISCV64(t *testing.T) {
	handler := func(cause, pc int, back uint32) []uint32 {
		return []uint32{
			0x00851513, // slli a0, a0, 8
			csrr(7, cause),
			0x00756533, // or a0, a0, t2
			csrr(7, pc),
			addi(7, 7, 4),
			csrw(pc, 7),
			back,
		}
	}
	machine := handler(mcause, mepc, mret)
	code := []uint32{
		auipc(5, 0),
		addi(6, 5, 0x100),
		csrw(mtvec, 6),
		addi(6, 5, 0x100+4*len(machine)),
		csrw(stvec, 6),
		li(6, 1<<2), // illegal instructions
		csrw(medeleg, 6),
		li(6, -1),
		csrw(pmpaddr0, 6),
		li(6, 0x1f),
		csrw(pmpcfg0, 6),
		li(6, 1),
		0x00b31313, // slli t1, t1, 11: MPP supervisor
		csrw(mstatus, 6),
		addi(6, 5, 17*4),
		csrw(mepc, 6),
		mret,
		ebreak,
		0xffffffff,
		ecall,
		csrw(stimecmp, 6),
		wfi,
	}
	e, _ := openBare(t, code, append(machine, handler(scause, sepc, sret)...))
	end, err := e.Run()
	if end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if a, priv := e.Reg(arch.RISCV64A0), e.Reg(arch.RISCV64PRIV); a != 0x03020902 || priv != 1 {
		t.Errorf("causes 0x%x, mode %d", a, priv)
	}
}

// A guest without a handler for its exceptions does not run for ever.
func TestNoHandlerRISCV64(t *testing.T) {
	e := openRISCV64(t, nothing{}, 8*mib, []uint32{li(1, 1), 0}) // then what is no instruction
	if end, err := e.Run(); end != Hung || err != nil || e.Total() != 4 {
		t.Errorf("end %v after %d, %v", end, e.Total(), err)
	}
}
