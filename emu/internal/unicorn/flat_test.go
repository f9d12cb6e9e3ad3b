package unicorn

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"trapline/kernel/arch"
)

// Loops in which the guest does nothing but run: what the clock costs shows nowhere more. Each
// leaves with rcx at 0.
var flatLoops = []struct {
	name string
	code []byte
}{
	{"branch", []byte{
		0x48, 0xff, 0xc9, // 1: dec %rcx
		0x75, 0xfb, // jnz 1b
		0xf4, // hlt
	}},
	{"straight", []byte{
		0x48, 0x01, 0xc8, // 1: add %rcx,%rax
		0x48, 0x31, 0xc2, // xor %rax,%rdx
		0x48, 0xc1, 0xc2, 0x05, // rol $5,%rdx
		0x48, 0x8d, 0x5c, 0x13, 0x07, // lea 7(%rbx,%rdx),%rbx
		0x48, 0x01, 0xd8, // add %rbx,%rax
		0x48, 0x0f, 0xaf, 0xc2, // imul %rdx,%rax
		0x48, 0xff, 0xc9, // dec %rcx
		0x75, 0xe5, // jnz 1b
		0xf4,
	}},
	{"memory", []byte{
		0x48, 0x8b, 0x04, 0x24, // 1: mov (%rsp),%rax
		0x48, 0x01, 0xc8, // add %rcx,%rax
		0x48, 0x89, 0x44, 0x24, 0x08, // mov %rax,8(%rsp)
		0x48, 0xff, 0xc9, // dec %rcx
		0x75, 0xef, // jnz 1b
		0xf4,
	}},
	{"call", []byte{
		0xe8, 0x06, 0x00, 0x00, 0x00, // 1: call 2f
		0x48, 0xff, 0xc9, // dec %rcx
		0x75, 0xf6, // jnz 1b
		0xf4,
		0xc3, // 2: ret
	}},
}

// What the clock costs: each loop with the hook that keeps it, and without. On a busy host
// cpu-ns/op is the figure to look at.
func BenchmarkFlat(b *testing.B) {
	for _, loop := range flatLoops {
		for _, clock := range []bool{true, false} {
			name := loop.name + "/bare"
			if clock {
				name = loop.name + "/clock"
			}
			b.Run(name, func(b *testing.B) { benchmarkFlat(b, loop.code, clock) })
		}
	}
}

func benchmarkFlat(b *testing.B, code []byte, clock bool) {
	e := open(b, nothing{})
	if !clock {
		e.unclock()
	}
	load(e, code)
	e.SetReg(arch.RCX, uint64(b.N))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ResetTimer()
	start := threadTime(b)
	if end, err := e.Run(); end != Halted || err != nil {
		b.Fatalf("end %v, %v", end, err)
	}
	b.ReportMetric(float64(threadTime(b)-start)/float64(b.N), "cpu-ns/op")
	b.StopTimer()
	if e.Reg(arch.RCX) != 0 || clock == (e.Total() < uint64(b.N)) {
		b.Fatalf("rcx %d, clock %d after %d rounds", e.Reg(arch.RCX), e.Total(), b.N)
	}
	e.Close()
}

// threadTime is the CPU time of this thread in nanoseconds.
func threadTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
