package unicorn

import (
	"bytes"
	"testing"

	"trapline/kernel/arch"
)

// openFor opens an engine for guests of a that has not run.
func openFor(t testing.TB, a *arch.Arch) *Engine {
	t.Helper()
	e, err := Open(a, 16*mib, 8*mib, nothing{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	switch a {
	case arch.AMD64:
		load(e, nil)
	case arch.ARM64:
		e.StartARM64(0, 0)
	case arch.RISCV64:
		e.StartRISCV64(0, 0)
	}
	return e
}

func saveCPU(t testing.TB, e *Engine) []byte {
	t.Helper()
	b, err := e.SaveCPU()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What no guest can have brought about is refused. The offsets are those of the library's state.
func TestStateUnsound(t *testing.T) {
	amd64, arm64, riscv64 := arch.AMD64, arch.ARM64, arch.RISCV64
	for _, c := range []struct {
		name   string
		a      *arch.Arch
		offset int
		by     byte
	}{
		{"paging without protection", amd64, 424, 0x01},
		{"LA57", amd64, 457, 0x10},
		{"long mode without PAE", amd64, 456, 0x20},
		{"unknown EFER", amd64, 562, 1},
		{"LMA without LME", amd64, 561, 1},
		{"16-bit code in long mode", amd64, 177, 0x80},
		{"user mode of a kernel's segments", amd64, 176, 3},
		{"virtual machine", amd64, 178, 0x20},
		{"virtual 8086 mode", amd64, 138, 2},
		{"cc_op", amd64, 169, 1},
		{"direction", amd64, 172, 2},
		{"hflags2", amd64, 180, 0x20},
		{"top of the FPU's stack", amd64, 573, 1},
		{"FPU rounding", amd64, 745, 0x80},
		{"FPU precision", amd64, 747, 1},
		{"SSE rounding", amd64, 777, 0x40},
		{"selector", amd64, 187, 1},
		{"EL2", arm64, 328, 0x0c},
		{"AArch32", arm64, 328, 0x10},
		{"carry", arm64, 520, 2},
		{"DAIF", arm64, 562, 1},
		{"cache of the host's memory", arm64, 649, 1},
		{"performance monitor", arm64, 1169, 1},
		{"number of performance monitors", arm64, 1137, 0x80},
		{"rounding", arm64, 11977, 0x80},
		{"rounding of halves", arm64, 11985, 0x10},
		{"mode", riscv64, 592, 0x40},
		{"reserved mode", riscv64, 592, 3},
		{"machine mode with firmware", riscv64, 592, 2},
		{"paging", riscv64, 679, 0x50},
		{"protected regions", riscv64, 1520, 17},
		{"frm", riscv64, 536, 8},
		{"fflags", riscv64, 1539, 0x80},
	} {
		t.Run(c.a.Name+" "+c.name, func(t *testing.T) {
			e := openFor(t, c.a)
			b := saveCPU(t, e)
			if _, err := e.ParseCPU(b); err != nil {
				t.Fatal(err)
			}
			b[e.saved(c.offset)] ^= c.by
			if _, err := e.ParseCPU(b); err == nil {
				t.Error("it is accepted")
			}
			e.Close()
		})
	}
}

// A state of another length is refused, and a clock that no guest comes to.
func TestStateShape(t *testing.T) {
	for _, a := range arch.All {
		e := openFor(t, a)
		b := saveCPU(t, e)
		late := bytes.Clone(b)
		late[7] = 0x80
		never := bytes.Clone(b)
		for i := range 8 {
			never[8+i] = 0xff
		}
		for name, bad := range map[string][]byte{"empty": nil, "short": b[:len(b)-8], "long": append(bytes.Clone(b), 0), "late": late, "never": never} {
			if _, err := e.ParseCPU(bad); err == nil {
				t.Errorf("%s: %s is accepted", a.Name, name)
			}
		}
		e.Close()
	}
}

// Host pointers are not saved, nor anything else that a guest has no hand in; a CPU that has come to
// differ there cannot be saved.
func TestStateStray(t *testing.T) {
	for _, c := range []struct {
		a      *arch.Arch
		offset int
	}{
		{arch.AMD64, 5432},       // a breakpoint
		{arch.AMD64, 5472},       // of a virtual machine
		{arch.ARM64, 12344},      // a breakpoint
		{arch.ARM64, 12000},      // length of SVE's vectors
		{arch.ARM64, 332},        // AArch64
		{arch.RISCV64, 600},      // a virtual machine
		{arch.RISCV64, 1528},     // a function
		{arch.RISCV64, 16 + 568}, // features
	} {
		e := openFor(t, c.a)
		b := saveCPU(t, e)
		e.poke(c.offset, 1)
		if _, err := e.SaveCPU(); err == nil {
			t.Errorf("%s: what is at %d can be saved", c.a.Name, c.offset)
		}
		e.poke(c.offset, 1)
		if !bytes.Equal(saveCPU(t, e), b) {
			t.Errorf("%s: saved again it is another state", c.a.Name)
		}
		e.Close()
	}
}

// The exceptions of floating point that the guest has yet to look at are part of the state, though the
// library's copy of it leaves them out.
func TestStateFloatRISCV64(t *testing.T) {
	const (
		fsOn  = 0x00006537 // lui a0, 6
		setFS = 0x10052073 // csrs sstatus, a0
		one   = 0x00100593 // li a1, 1
		fone  = 0xd22580d3 // fcvt.d.l fa1, a1
		fdiv  = 0x1a20f1d3 // fdiv.d f3, f1, f2: by zero
		flags = 0x00102673 // frflags a2
	)
	run := func(code []uint32, state []byte) (*Engine, []byte) {
		e := openRISCV64(t, nothing{}, 8*mib, code)
		if state != nil {
			s, err := e.ParseCPU(state)
			if err != nil {
				t.Fatal(err)
			}
			e.SetCPU(s)
			e.SetReg(arch.RISCV64PC, riscv64Base+1*mib)
		}
		if end, err := e.Run(); end != Hung || err != nil {
			t.Fatalf("end %v, %v", end, err)
		}
		return e, saveCPU(t, e)
	}
	e, state := run([]uint32{fsOn, setFS, one, fone, fdiv, wfi}, nil)
	e.Close()
	e, _ = run([]uint32{flags, wfi}, state)
	if got := e.Reg(arch.RISCV64A0 + 2); got != 8 {
		t.Errorf("fflags %#x, want divided by zero", got)
	}
}
