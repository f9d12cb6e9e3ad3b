package unicorn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"trapline/kernel/arch"
)

// nothing is a handler for guests that need none.
type nothing struct{}

func (nothing) Deadline()                  {}
func (nothing) Idle() End                  { return Hung }
func (nothing) Ack() int                   { return 0 }
func (nothing) Hit(uint64)                 {}
func (nothing) Deferred(*DeferredHit)      {}
func (nothing) Rewrite(uint64)             {}
func (nothing) In(uint16, int) uint32      { return 0xffffffff }
func (nothing) Out(uint16, int, uint32)    {}
func (nothing) Load(uint64, int) uint64    { return 0 }
func (nothing) Store(uint64, int, uint64)  {}
func (nothing) Call()                      {}
func (nothing) ReadSystem(uint32) uint64   { return 0 }
func (nothing) WriteSystem(uint32, uint64) {}

const mib = 1 << 20

func open(t testing.TB, h Handler) *Engine {
	t.Helper()
	e, err := Open(arch.AMD64, 16*mib, 8*mib, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// identity puts page tables at 0x10000 that map the first GiB to itself and to the
// kernel's half, and returns CR3.
func identity(ram []byte) uint64 {
	put := func(at int, v uint64) { arch.AMD64.ByteOrder.PutUint64(ram[at:], v) }
	put(0x10000, 0x11003)
	put(0x10000+511*8, 0x11003)
	put(0x11000, 0x12003)
	put(0x11000+510*8, 0x12003)
	for i := range 512 {
		put(0x12000+i*8, uint64(i)<<21|0x83)
	}
	return 0x10000
}

const kernelBase = 0xffffffff80000000

// load puts code at physical 0x100000 and starts the CPU there, in the kernel's half.
func load(e *Engine, code []byte) {
	copy(e.RAM()[0x100000:], code)
	e.Start(Entry{RIP: kernelBase + 0x100000, RSP: kernelBase + 0x80000, CR3: identity(e.RAM()), GDT: 0x18000, GDTLimit: 31})
}

func TestCheck(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
	if Version() != "2.0.1" {
		t.Errorf("version %s, want 2.0.1", Version())
	}
}

func TestOpenTwice(t *testing.T) {
	open(t, nothing{})
	if _, err := Open(arch.AMD64, 16*mib, 8*mib, nothing{}); !errors.Is(err, ErrBusy) {
		t.Errorf("second Open: %v, want ErrBusy", err)
	}
}

// The clock counts the bytes of every instruction once, also of those in a loop.
func TestClock(t *testing.T) {
	e := open(t, nothing{})
	load(e, []byte{
		0xb9, 0x0a, 0x00, 0x00, 0x00, // mov $10,%ecx
		0xff, 0xc9, // 1: dec %ecx
		0x75, 0xfc, // jnz 1b
		0xf4, // hlt
	})
	end, err := e.Run()
	if end != Halted || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := uint64(5 + 10*4 + 1); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
	if pc := e.Reg(arch.RIP); pc != kernelBase+0x10000a {
		t.Errorf("pc 0x%x", pc)
	}
}

// More code than the buffer for translations holds: it overflows several times in each of
// two rounds, the first time being the one that the library gets wrong.
func TestCodeBufferOverflow(t *testing.T) {
	const blocks = 60_000
	code := []byte{0x31, 0xd2} // xor %edx,%edx
	for range blocks {
		code = append(code, 0xff, 0xc0, 0x01, 0xc2, 0xeb, 0x00) // inc %eax; add %eax,%edx; jmp to the next
	}
	code = append(code, 0xff, 0xc3, 0x83, 0xfb, 0x02, 0x0f, 0x82) // inc %ebx; cmp $2,%ebx; jb to the first
	code = binary.LittleEndian.AppendUint32(code, uint32(2-len(code)-4))
	code = append(code, 0xf4) // hlt

	e, err := Open(arch.AMD64, 16*mib, 1*mib, nothing{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	load(e, code)
	if end, err := e.Run(); end != Halted || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if n := e.Counters().Flushes; n < 4 {
		t.Errorf("%d flushes: the buffer did not overflow", n)
	}
	if got := e.Reg(arch.RAX); got != 2*blocks {
		t.Errorf("%d blocks were run, want %d", got, 2*blocks)
	}
	if want := uint64(2 + 2*(blocks*6+11) + 1); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
}

// counter stands for the tracer: it counts hits and remembers the last one.
type counter struct {
	nothing
	hits int
	last uint64
}

func (c *counter) Hit(addr uint64) { c.hits++; c.last = addr }

// A breakpoint is hit each time, costs no time, and is seen by no data access.
func TestBreak(t *testing.T) {
	for _, inplace := range []bool{false, true} {
		t.Run(fmt.Sprintf("inplace=%v", inplace), func(t *testing.T) { testBreak(t, inplace) })
	}
}

func testBreak(t *testing.T, inplace bool) {
	c := &counter{}
	e := open(t, c)
	e.SetInPlace(inplace)
	base := uint64(kernelBase + 0x10000000)
	e.SetSlots(base)
	load(e, []byte{
		0xb9, 0x0a, 0x00, 0x00, 0x00, // mov $10,%ecx
		0x8a, 0x05, 0x02, 0x00, 0x00, 0x00, // 1: mov 2(%rip),%al: the instruction after next
		0xff, 0xc9, // dec %ecx
		0x75, 0xf6, // jnz 1b
		0xf4, // hlt
	})
	at := uint64(kernelBase + 0x10000d)
	if err := e.WriteSlots(base, []byte{0x0f, 0x85, 0xff, 0xff, 0x0f, 0xf0, 0xe9, 0x04, 0x00, 0x10, 0xf0}); err != nil {
		t.Fatal(err)
	}
	if err := e.SetBreak(Break{arch.Break{Addr: at, Slot: base, Len: 2}, 0x10000d}); err != nil {
		t.Fatal(err)
	}
	e.Commit()
	if end, err := e.Run(); end != Halted || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if c.hits != 10 || c.last != at || e.Counters().Hits != 10 {
		t.Errorf("inplace %v: %d hits, last at 0x%x, want 10 at 0x%x", inplace, c.hits, c.last, at)
	}
	if want := uint64(5 + 10*10 + 1); e.Total() != want {
		t.Errorf("inplace %v: clock %d, want %d", inplace, e.Total(), want)
	}
	want := byte(0x75)
	if inplace {
		want = 0xcc
	}
	if al := byte(e.Reg(arch.RAX)); al != want {
		t.Errorf("inplace %v: the guest reads 0x%x at the probe, want 0x%x", inplace, al, want)
	}
}

func BenchmarkHit(b *testing.B) {
	c := &counter{}
	e := open(b, c)
	base := uint64(kernelBase + 0x10000000)
	e.SetSlots(base)
	load(e, []byte{
		0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0, // mov $n,%rcx
		0x90,             // 1: nop
		0x48, 0xff, 0xc9, // dec %rcx
		0x75, 0xfa, // jnz 1b
		0xf4,
	})
	arch.AMD64.ByteOrder.PutUint64(e.RAM()[0x100002:], uint64(b.N))
	e.WriteSlots(base, []byte{0x90, 0xe9, 0x05, 0x00, 0x10, 0xf0})
	if err := e.SetBreak(Break{arch.Break{Addr: kernelBase + 0x10000a, Slot: base, Len: 1}, 0x10000a}); err != nil {
		b.Fatal(err)
	}
	e.Commit()
	b.ResetTimer()
	e.Run()
	if c.hits != b.N {
		b.Fatalf("%d hits, want %d", c.hits, b.N)
	}
}
