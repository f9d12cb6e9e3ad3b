package unicorn

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
)

// twoAMD64 is a machine with two CPUs that have local APICs, the first at code.
func twoAMD64(t *testing.T, code []byte) (a, b *Engine) {
	t.Helper()
	a = open(t, nothing{})
	b, err := a.Another(8 * mib)
	if err != nil {
		t.Fatal(err)
	}
	a.SetSlots(1 << 63) // not where the code is
	for _, e := range []*Engine{a, b} {
		if err := e.SetAPIC(); err != nil {
			t.Fatal(err)
		}
	}
	load(a, code)
	return a, b
}

// startCode is what a CPU runs after a startup interrupt, at any page: it counts itself, waits in
// real mode until it may go on, and comes to 64-bit code at kernelBase + 0x100000.
var startCode = []byte{
	0x8c, 0xc8, //                    0 mov %cs, %ax
	0x8e, 0xd8, //                      mov %ax, %ds
	0xff, 0x06, startCount, 0x00, //    incw startCount
	0xb9, 0x03, 0x00, //                mov $3, %cx
	0xf3, 0x90, //                    b pause
	0xe2, 0xfc, //                      loop b
	0xeb, 0x02, //                    f jmp 13
	0x0f, 0x0b, //                      ud2
	0x83, 0x3e, startGo, 0x00, 0x00, // 13 cmpw $0, startGo
	0x74, 0xf5, //                      je f
	0x66, 0x0f, 0x01, 0x16, 0x76, 0x00, // lgdtl 76
	0x66, 0xb8, 0x20, 0x00, 0x00, 0x00, // mov $0x20, %eax: PAE
	0x0f, 0x22, 0xe0, //                mov %eax, %cr4
	0x66, 0xb8, 0x00, 0x00, 0x01, 0x00, // mov $0x10000, %eax
	0x0f, 0x22, 0xd8, //                mov %eax, %cr3
	0x66, 0xb9, 0x80, 0x00, 0x00, 0xc0, // mov $0xc0000080, %ecx: EFER
	0x0f, 0x32, //                      rdmsr
	0x66, 0x0d, 0x00, 0x01, 0x00, 0x00, // or $0x100, %eax: LME
	0x0f, 0x30, //                      wrmsr
	0x66, 0xb8, 0x01, 0x00, 0x00, 0x80, // mov $0x80000001, %eax: PG, PE
	0x0f, 0x22, 0xc0, //                mov %eax, %cr0
	0x66, 0xea, 0x53, startPage << 4, 0x00, 0x00, 0x10, 0x00, // ljmpl $0x10, $53
	0xb9, 0x1b, 0x00, 0x00, 0x00, //  53 mov $0x1b, %ecx: IA32_APIC_BASE
	0x0f, 0x32, //                      rdmsr
	0x89, 0xc6, //                      mov %eax, %esi
	0xb8, 0x01, 0x00, 0x00, 0x00, //    mov $1, %eax
	0x0f, 0xa2, //                      cpuid
	0x41, 0x89, 0xd0, //                mov %edx, %r8d
	0x48, 0xb8, 0x00, 0x00, 0x10, 0x80, 0xff, 0xff, 0xff, 0xff, // movabs $kernelBase+0x100000, %rax
	0xff, 0xe0, //                      jmp *%rax
	0, 0, //                         72 startCount
	0, 0, //                         74 startGo
	0x1f, 0x00, 0x00, 0x80, 0x01, 0x00, // 76 the GDT: 0x18000
}

const (
	startPage              = 8
	startCount, startGo    = 0x72, 0x74
	startWait, startTested = 0x0f, 0x13 // in its loop
)

// A CPU begins in real mode, at an address that is not its program counter. Its turns end there as
// anywhere, and its clock is right.
func TestStartUp(t *testing.T) {
	const pause = 128
	a, b := twoAMD64(t, []byte{0xf4})
	ram := a.RAM()
	page := ram[startPage<<12:]
	copy(page, startCode)
	binary.LittleEndian.PutUint64(ram[0x18010:], 0x00af9a000000ffff)
	b.SetReg(arch.R15, 15)
	b.StartUp(startPage)

	at := map[uint64]uint64{startWait: 11 + 3*(4+pause), startTested: 11 + 3*(4+pause) + 2}
	for slice := uint64(100); slice < 2000; slice += 100 {
		b.SetSlice(slice)
		end, err := b.Run()
		pc := b.Reg(arch.RIP)
		if end != Sliced || err != nil {
			t.Fatalf("end %v, %v at %#x", end, err, pc)
		}
		if first, ok := at[pc]; slice > 500 && (!ok || (b.Total()-first)%9 != 0 || b.Total() > slice+9) {
			t.Errorf("at %#x it is %d, in turns to %d", pc, b.Total(), slice)
		}
	}
	before := b.Total() - at[b.Reg(arch.RIP)] + at[startTested]
	page[startGo] = 1
	b.SetSlice(Never)
	if end, err := b.Run(); end != Halted || b.Reg(arch.RIP) != kernelBase+0x100001 {
		t.Fatalf("end %v, %v at %#x", end, err, b.Reg(arch.RIP))
	}
	if got, want := b.Total()-before, uint64(startCount-startTested+1); got != want {
		t.Errorf("the way on took %d, want %d", got, want)
	}
	if page[startCount] != 1 || b.Reg(arch.R15) != 0 {
		t.Errorf("started %d times, r15 %d", page[startCount], b.Reg(arch.R15))
	}
	if base := b.Reg(arch.RSI); base != 0xfee00800 {
		t.Errorf("IA32_APIC_BASE %#x", base)
	}
	if id, features := b.Reg(arch.RBX)>>24, b.Reg(arch.R8); id != 1 || features>>9&1 != 1 {
		t.Errorf("ID %d, features %#x", id, features)
	}
}

// What CPU 0 says of itself, and that a CPU without a local APIC has none.
func TestBootCPU(t *testing.T) {
	code := []byte{
		0xb9, 0x1b, 0x00, 0x00, 0x00, 0x0f, 0x32, 0x89, 0xc6, // IA32_APIC_BASE to esi
		0xb8, 0x01, 0x00, 0x00, 0x00, 0x0f, 0xa2, 0xf4, // cpuid 1
	}
	a, _ := twoAMD64(t, code)
	a.Run()
	if a.Reg(arch.RSI) != 0xfee00900 || a.Reg(arch.RBX)>>24 != 0 || a.Reg(arch.RDX)>>9&1 != 1 {
		t.Errorf("base %#x, ID %d, features %#x", a.Reg(arch.RSI), a.Reg(arch.RBX)>>24, a.Reg(arch.RDX))
	}
	a.Close()
	alone := open(t, nothing{})
	load(alone, code)
	alone.Run()
	if alone.Reg(arch.RSI) != 0 || alone.Reg(arch.RDX)>>9&1 != 0 {
		t.Errorf("alone: base %#x, features %#x", alone.Reg(arch.RSI), alone.Reg(arch.RDX))
	}
}

// A non-maskable interrupt comes where others are off, and the next one when it has been handled.
func TestNMI(t *testing.T) {
	e := open(t, nothing{})
	at := gates(e, []byte{0xeb, 0xfe, 0x48, 0xcf}) // 1: jmp 1b; iretq
	run := func(slice uint64) End {
		t.Helper()
		e.SetSlice(slice)
		end, err := e.Run()
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	e.SetLine(true) // is not taken
	if end := run(100); end != Sliced || e.Reg(arch.RIP) != at {
		t.Fatalf("before: end %v at %#x", end, e.Reg(arch.RIP))
	}
	e.SetNMI(true)
	if end := run(Never); end != Halted || e.Reg(arch.RIP) != handler(2)+1 || e.NMI() {
		t.Fatalf("end %v at %#x", end, e.Reg(arch.RIP))
	}
	e.SetNMI(true)
	e.SetReg(arch.RIP, at)
	if end := run(1000); end != Sliced || e.Reg(arch.RIP) != at || !e.NMI() {
		t.Fatalf("in it: end %v at %#x", end, e.Reg(arch.RIP))
	}
	e.SetReg(arch.RIP, at+2)
	if end := run(Never); end != Halted || e.Reg(arch.RIP) != handler(2)+1 || e.NMI() {
		t.Fatalf("after it: end %v at %#x", end, e.Reg(arch.RIP))
	}
}
