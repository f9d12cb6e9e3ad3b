package emu

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"trapline/images/tiny"
	"trapline/kernel/arch"
)

// guest is a machine with the teaching kernel, and what it said.
type guest struct {
	*Machine
	console bytes.Buffer
}

// start boots the teaching kernel with a workload; the machine is closed with the test.
func start(t testing.TB, a *arch.Arch, c Config, cmdline string) *guest {
	t.Helper()
	g := &guest{}
	c.Console = func(b byte) { g.console.WriteByte(b) }
	if c.Memory == 0 {
		c.Memory = 64 << 20
	}
	file, err := tiny.Kernel(a.Name)
	if err != nil {
		t.Fatal(err)
	}
	if g.Machine, err = New(a, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	if _, err := g.Boot(Boot{Kernel: bytes.NewReader(file), CommandLine: cmdline}); err != nil {
		t.Fatal(err)
	}
	g.SetLimit(60e9)
	return g
}

// run runs it to its end.
func (g *guest) run(t testing.TB, want End) {
	t.Helper()
	end, err := g.Run()
	if end != want || err != nil {
		t.Fatalf("end %d, %v, want %d; console:\n%s", end, err, want, &g.console)
	}
}

func (g *guest) state(t testing.TB) string {
	t.Helper()
	h, err := g.StateHash()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x at %d", h, g.Now())
}

// machines runs a test for every architecture that has a machine.
func machines(t *testing.T, f func(*testing.T, *arch.Arch)) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) { f(t, a) })
	}
}

// endings are the ends of the teaching kernel that differ: a PC without ACPI is off when its
// CPU is halted for good; elsewhere firmware is asked to switch off or to reset the machine,
// and a CPU that waits with interrupts off hangs.
var endings = map[*arch.Arch]struct{ off, panic, fatal End }{
	arch.AMD64:   {Halt, Halt, Triple},
	arch.ARM64:   {PowerOff, Hang, Reset},
	arch.RISCV64: {PowerOff, Hang, Reset},
}

// runOff runs it until it switches itself off.
func (g *guest) runOff(t testing.TB) {
	t.Helper()
	g.run(t, endings[g.arch].off)
}

const workload = `cmd="awkward; shapes; forks 3; echo done"`

func TestEnds(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		for _, tt := range []struct {
			command string
			want    End
		}{
			{"echo fine", endings[a].off},
			{"reboot", Reset},
			{"panic", endings[a].panic},
			{"hang", Hang},
			{"triple", endings[a].fatal},
			{"spin 1000000000000", Limit},
		} {
			t.Run(tt.command, func(t *testing.T) {
				g := start(t, a, Config{}, fmt.Sprintf("cmd=%q", tt.command))
				g.SetLimit(1e9)
				g.run(t, tt.want)
			})
		}
	})
}

// The same guest twice: the same console, the same clock, the same state.
func TestSame(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		var first, console string
		for range 2 {
			g := start(t, a, Config{}, workload)
			g.runOff(t)
			if !strings.Contains(g.console.String(), "3 forks\ndone\n") {
				t.Fatalf("workload did not end well:\n%s", &g.console)
			}
			if first == "" {
				first, console = g.state(t), g.console.String()
			} else if g.state(t) != first || g.console.String() != console {
				t.Errorf("state %s, want %s", g.state(t), first)
			}
			g.Close()
		}
	})
}

func TestMemorySizes(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		for _, mib := range []uint64{16, 64, 256, 2048, 4096} {
			g := start(t, a, Config{Memory: mib << 20}, workload)
			g.runOff(t)
			if !strings.Contains(g.console.String(), "done\n") {
				t.Errorf("%d MiB:\n%s", mib, &g.console)
			}
			g.Close()
		}
	})
}

func TestNewErrors(t *testing.T) {
	for _, size := range []uint64{0, 1 << 20, 64<<20 + 1, 5 << 30} {
		if m, err := New(arch.AMD64, Config{Memory: size}); err == nil {
			m.Close()
			t.Errorf("a machine with %d bytes", size)
		}
	}
	start(t, arch.AMD64, Config{}, "")
	if _, err := New(arch.AMD64, Config{Memory: 64 << 20}); !errors.Is(err, ErrBusy) {
		t.Errorf("second machine: %v, want ErrBusy", err)
	}
}

// Stop comes from another goroutine; the guest goes on as if it had not been stopped.
func TestStop(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		const line = `cmd="spin 300000000"`
		g := start(t, a, Config{}, line)
		g.runOff(t)
		want := g.state(t)
		g.Close()

		g = start(t, a, Config{}, line)
		go func() {
			time.Sleep(10 * time.Millisecond)
			g.Stop()
		}()
		g.run(t, Stopped)
		g.runOff(t)
		if got := g.state(t); got != want {
			t.Errorf("state after a stop %s, want %s", got, want)
		}
	})
}

// A tick comes when it was asked for, and the guest does not notice.
func TestTick(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		g := start(t, a, Config{}, workload)
		g.runOff(t)
		want := g.state(t)
		g.Close()

		g = start(t, a, Config{}, workload)
		const step = 1_000_000
		var late []uint64
		next := uint64(step)
		var tick func(arch.CPU)
		tick = func(arch.CPU) {
			if now := g.Now(); now < next || now > next+step {
				late = append(late, now)
			}
			next += step
			g.OnTick(next, tick)
		}
		g.OnTick(next, tick)
		g.runOff(t)
		if len(late) > 0 || next < 10*step {
			t.Errorf("ticks at %v; the last was due at %d", late, next-step)
		}
		if got := g.state(t); got != want {
			t.Errorf("state with ticks %s, want %s", got, want)
		}
	})
}

// Before there is a guest nothing is mapped, RAM at its physical address included: the text of a kernel
// that is linked there comes from its file.
func TestMemoryBefore(t *testing.T) {
	machines(t, func(t *testing.T, a *arch.Arch) {
		m, err := New(a, Config{Memory: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		at := m.engine.RAMBase() + 4<<20
		var fault *arch.Fault
		if err := m.ReadMem(at, make([]byte, 4)); !errors.As(err, &fault) || fault.Addr != at {
			t.Errorf("reading RAM: %v", err)
		}
	})
}

func TestMemory(t *testing.T) { machines(t, testMemory) }

func testMemory(t *testing.T, a *arch.Arch) {
	g := start(t, a, Config{}, workload)
	g.runOff(t)
	text := map[*arch.Arch]uint64{
		arch.AMD64: 0xffffffff80100000, arch.ARM64: 0xffffffff80200000, arch.RISCV64: 0xffffffff80200000,
	}[a]
	want := []byte("written across the end of a page")
	at := text + pageSize - 5
	if err := g.WriteMem(at, want); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if err := g.ReadMem(at, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read back %q, %v", got, err)
	}
	var fault *arch.Fault
	if err := g.ReadMem(0x1234_5678_9abc_def0, got); !errors.As(err, &fault) || fault.Addr != 0x1234_5678_9abc_def0 {
		t.Errorf("reading a bad address: %v", err)
	}
}
