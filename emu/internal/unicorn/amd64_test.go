package unicorn

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"trapline/kernel/arch"
)

// handler is where gates puts the handler of a vector: a HLT.
func handler(vector int) uint64 { return kernelBase + 0x30000 + uint64(vector)*16 }

// gates loads code behind instructions that load an interrupt table, so that an exception ends in
// its own HLT. It returns the address of code.
func gates(e *Engine, code []byte) uint64 {
	const gdt, idt, idtr = 0x18000, 0x20000, 0x19000
	order, ram := binary.LittleEndian, e.RAM()
	lidt := []byte{0x0f, 0x01, 0x1c, 0x25, 0x00, 0x90, 0x01, 0x80} // lidt 0xffffffff80019000
	load(e, slices.Concat(lidt, code))
	order.PutUint64(ram[gdt+0x10:], 0x00af9a000000ffff)
	order.PutUint64(ram[gdt+0x18:], 0x00cf92000000ffff)
	order.PutUint16(ram[idtr:], 32*16-1)
	order.PutUint64(ram[idtr+2:], kernelBase+idt)
	for v := range 32 {
		at := handler(v)
		ram[at-kernelBase] = 0xf4
		order.PutUint64(ram[idt+v*16:], at&0xffff|0x10<<16|0x8e00<<32|at>>16&0xffff<<48)
		order.PutUint64(ram[idt+v*16+8:], at>>32)
	}
	return kernelBase + 0x100000 + uint64(len(lidt))
}

// Instructions that end in an exception, though the library or the host has other ideas.
func TestExceptionsAMD64(t *testing.T) {
	const min64, minus1 = 1 << 63, ^uint64(0)
	const de, ud = 0, 6
	for _, c := range []struct {
		name     string
		code     []byte
		rax, rdx uint64
		rcx      uint64
		vector   int
	}{
		{"idiv %cl, least by -1", []byte{0xf6, 0xf9}, 0x8000, 0, minus1, de},
		{"idiv %cx, least by -1", []byte{0x66, 0xf7, 0xf9}, 0, 0x8000, minus1, de},
		{"idiv %ecx, least by -1", []byte{0xf7, 0xf9}, 0, 0x80000000, minus1, de},
		{"idiv %ecx, by 0", []byte{0xf7, 0xf9}, 1, 0, 1 << 32, de},
		{"idiv %ecx, too large", []byte{0xf7, 0xf9}, 0x80000000, 0, 1, de},
		{"idiv %rcx, least by -1", []byte{0x48, 0xf7, 0xf9}, 0, min64, minus1, de},
		{"div %rcx, by 0", []byte{0x48, 0xf7, 0xf1}, 0, 1, 0, de},
		{"far call through a register", []byte{0xff, 0xd8}, 0, 0, 0, ud},
		{"far jump through a register", []byte{0xff, 0xef}, 0, 0, 0, ud},
		{"far jump with prefixes", []byte{0x66, 0x2e, 0x4f, 0xff, 0xe9}, 0, 0, 0, ud},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, nothing{})
			nops := []byte{0x90, 0x90, 0x90}
			at := gates(e, slices.Concat(nops, c.code)) + uint64(len(nops))
			e.SetReg(arch.RAX, c.rax)
			e.SetReg(arch.RDX, c.rdx)
			e.SetReg(arch.RCX, c.rcx)
			end, err := e.Run()
			if want := handler(c.vector); end != Halted || e.Reg(arch.RIP) != want+1 {
				t.Fatalf("end %v at %#x, %v; want a halt behind %#x", end, e.Reg(arch.RIP), err, want)
			}
			frame := e.RAM()[e.Reg(arch.RSP)-kernelBase:]
			if pc := binary.LittleEndian.Uint64(frame); pc != at {
				t.Errorf("its handler gets %#x, want %#x", pc, at)
			}
			if e.Reg(arch.RAX) != c.rax || e.Reg(arch.RDX) != c.rdx {
				t.Errorf("rax %#x, rdx %#x have changed", e.Reg(arch.RAX), e.Reg(arch.RDX))
			}
		})
	}
}

// What divisions and near branches that look alike do is as ever.
func TestDivideAMD64(t *testing.T) {
	for _, c := range []struct{ n, d, q, r int64 }{
		{7, 2, 3, 1}, {-7, 2, -3, -1}, {7, -2, -3, 1}, {-1 << 31, 1, -1 << 31, 0}, {1<<31 - 1, -1, 1 - 1<<31, 0},
	} {
		e, err := Open(arch.AMD64, 16*mib, 8*mib, nothing{})
		if err != nil {
			t.Fatal(err)
		}
		load(e, []byte{
			0x83, 0xc1, 0xff, // add $-1,%ecx: its operand is the byte of a far branch
			0xe8, 0x01, 0x00, 0x00, 0x00, // call 1f
			0xf4,       // hlt
			0xf7, 0xf9, // 1: idiv %ecx
			0xc3, // ret
		})
		e.SetReg(arch.RAX, uint64(c.n)|0xabc<<32)
		e.SetReg(arch.RDX, uint64(c.n>>32))
		e.SetReg(arch.RCX, uint64(c.d+1))
		if end, err := e.Run(); end != Halted || err != nil {
			t.Fatal(end, err)
		}
		if q, r := e.Reg(arch.RAX), e.Reg(arch.RDX); q != uint64(uint32(c.q)) || r != uint64(uint32(c.r)) {
			t.Errorf("%d/%d is %#x, rest %#x", c.n, c.d, q, r)
		}
		e.Close()
	}
}

// Breakpoints in debug registers are not there, but may be asked for.
func TestDebugRegisterAMD64(t *testing.T) {
	e := open(t, nothing{})
	load(e, []byte{
		0x0f, 0x23, 0xc0, // mov %rax,%dr0
		0x0f, 0x23, 0xf9, // mov %rcx,%dr7
		0x0f, 0x23, 0xfa, // mov %rdx,%dr7
		0xf4, // hlt
	})
	e.SetReg(arch.RAX, kernelBase+0x100009)
	e.SetReg(arch.RCX, 0x402)
	e.SetReg(arch.RDX, 0x400)
	if end, err := e.Run(); end != Halted || e.Total() != 10 {
		t.Fatalf("end %v at %#x, %v", end, e.Reg(arch.RIP), err)
	}
}

// What is left behind the guest's part of a vector register is no part of an outcome.
func TestVectorsAMD64(t *testing.T) {
	const xmm3 = 792 + 3*64 // in the library's state
	e := open(t, nothing{})
	e.SetSlots(kernelBase + 0x10000000)
	load(e, []byte{0x66, 0x41, 0x0f, 0x38, 0x00, 0xdc}) // pshufb %xmm12,%xmm3
	s, err := e.NewStepper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	state := s.State()
	for i := range 64 {
		state[xmm3+i] = 0xa5
	}
	cpu := s.Step(state, How{}).CPU()[xmm3 : xmm3+64]
	if want := append(bytes.Repeat([]byte{0xa5}, 16), make([]byte, 48)...); !bytes.Equal(cpu, want) {
		t.Errorf("%x, want %x", cpu, want)
	}
}
