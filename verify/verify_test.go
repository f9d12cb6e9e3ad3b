package verify

import (
	"bytes"
	"strings"
	"testing"

	"trapline/emu"
	"trapline/images/tiny"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/trampoline"
)

// Every instruction of tiny, on each architecture, does the same displaced as it does in place.
func TestTiny(t *testing.T) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			r := open(t, a).verify(t, "*")
			states, mismatches, refused := r.Totals()
			if mismatches > 0 || states < 4*(r.Instructions-refused) || refused*2000 > r.Instructions || r.Faults == 0 {
				t.Errorf("mismatches, or too little was verified:\n%s", text(r))
			}
		})
	}
}

// What was wrong once, by the functions of tiny that have such instructions.
func TestRegressions(t *testing.T) {
	for _, c := range []struct {
		what, function string
		arch           *arch.Arch
	}{
		{"a breakpoint of the guest's keeps its number in ESR", "awk_breakpoint", arch.ARM64},
		{"wfi is charged alone, though it does not end its block", "awk_wait", arch.RISCV64},
		{"popf asks for a trap after the next instruction, not after the jump back", "awk_conditions", arch.AMD64},
		{"a call reads its operand before it writes to the stack, and a fault leaves that as it was", "awk_call_fault", arch.AMD64},
		{"a call through memory at the stack pointer", "awk_calls_by_rsp", arch.AMD64},
		{"each round of a string instruction is a single step", "thread_frame_user", arch.AMD64},
	} {
		t.Run(c.what, func(t *testing.T) {
			if r := open(t, c.arch).verify(t, c.function); r.Functions != 1 || len(r.Mismatches) > 0 {
				t.Error(text(r))
			}
		})
	}
}

// A trampoline that is wrong is found, and the state that shows it has what matters alone.
func TestFinds(t *testing.T) {
	g := open(t, arch.AMD64)
	isa := *g.isa
	isa.Encode = func(p trampoline.Plan, code []byte, pc, slot uint64) ([]byte, error) {
		if bytes.Equal(code, []byte{0x55}) { // push %rbp becomes push %rbx
			code = []byte{0x53}
		}
		return trampoline.AMD64.Encode(p, code, pc, slot)
	}
	g.isa = &isa
	r := g.verify(t, "awk_atomics")
	if len(r.Mismatches) != 1 {
		t.Fatal(text(r))
	}
	m := r.Mismatches[0]
	if m.Text != "push %rbp" || m.Offset != 0 || !strings.HasPrefix(m.Why, "memory") || len(m.Registers) > 3 {
		t.Errorf("%+v", m)
	}
}

// Parts add up to the whole, in whatever order they come.
func TestAdd(t *testing.T) {
	g := open(t, arch.RISCV64)
	whole, parts := g.verify(t, "awk_*"), new(Report)
	for _, pattern := range []string{"awk_[b-z]*", "awk_[!b-z]*"} {
		parts.Add(g.verify(t, pattern))
	}
	parts.Sort()
	if have, want := text(parts), text(whole); have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

func text(r *Report) string {
	var b strings.Builder
	r.WriteTo(&b)
	return b.String()
}

// guest is tiny, in the state in which it has just booted.
type guest struct {
	*Verifier
	funcs []kernel.Symbol
}

func open(t testing.TB, a *arch.Arch) *guest {
	data, err := tiny.Kernel(a.Name)
	if err != nil {
		t.Fatal(err)
	}
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	m, err := emu.New(a, emu.Config{Memory: 64 << 20, Console: func(byte) {}, Control: func(byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if _, err := m.Boot(emu.Boot{Kernel: bytes.NewReader(data)}); err != nil {
		t.Fatal(err)
	}
	m.SetLimit(10e6)
	if end, err := m.Run(); end != emu.Limit {
		t.Fatal(end, err)
	}
	v, err := New(Config{Machine: m, States: States, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return &guest{v, img.Symtab().Funcs()}
}

// verify verifies the functions of a pattern.
func (g *guest) verify(t *testing.T, pattern string) *Report {
	r := new(Report)
	for _, f := range g.funcs {
		if f.Size > 0 && !f.Label && kernel.Match(pattern, f.Name) {
			if err := g.Function(f, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.Sort()
	return r
}
