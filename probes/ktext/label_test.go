package ktext

import (
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/patch"
	"trapline/trampoline"
)

// oneSymbol has one symbol, at every address.
type oneSymbol struct{ kernel.Symbol }

func (s oneSymbol) Lookup(string) []kernel.Symbol   { return []kernel.Symbol{s.Symbol} }
func (s oneSymbol) Glob(string) []kernel.Symbol     { return []kernel.Symbol{s.Symbol} }
func (oneSymbol) Nearest(string, int) []string      { return nil }
func (s oneSymbol) At(uint64) (kernel.Symbol, bool) { return s.Symbol, true }

// TestSized: a policy that goes by sizes has no function where the symbol table gives none.
func TestSized(t *testing.T) {
	isa, err := trampoline.For(arch.AMD64)
	if err != nil {
		t.Fatal(err)
	}
	push := []byte{0x55}
	instrs := []patch.Instr{{Len: 1, Plan: isa.Plan(push, 0x1000), Code: push}}
	for _, tt := range []struct {
		label  bool
		policy *guestos.Policy
		want   string
	}{
		{false, guestos.FreeBSDPolicy, ""},
		{true, guestos.FreeBSDPolicy, "the symbol table gives it no size"},
		{true, guestos.LinuxPolicy, ""},
		{true, nil, ""},
	} {
		s := kernel.Symbol{Name: "rdmsr_safe", Addr: 0x1000, Size: 16, Func: true, Label: tt.label}
		text := &Text{Symbols: oneSymbol{s}, Arch: arch.AMD64, Policy: tt.policy}
		if got := text.Refusal(&patch.Func{Start: 0x1000, Size: 16}, instrs, 0); got != tt.want {
			t.Errorf("label %t, policy %s: %q, want %q", tt.label, tt.policy, got, tt.want)
		}
	}
}
