package ktext

import (
	"fmt"

	"trapline/kernel"
	"trapline/probes"
	"trapline/trampoline"
)

// An Unloaded is the file of a module that the guest may load, at link-time addresses.
type Unloaded struct {
	Part
	Image *kernel.Image
}

// A Foreseen is a probe that there will be when a module is loaded.
type Foreseen struct {
	probes.Desc
	Addr uint64 // link-time
}

// A Forecaster is a provider that knows from a module's file which of its probes a description
// means, whatever module that names. What a loaded module turns out to lack may be among them.
type Forecaster interface {
	Foresee(u Unloaded, d probes.Desc) []Foreseen
}

// Foretell is a probe of a function.
func (u Unloaded) Foretell(provider string, s kernel.Symbol, off uint64, name string) Foreseen {
	return Foreseen{probes.Desc{Provider: provider, Module: u.Module, Function: s.Name, Name: name}, s.Addr + off}
}

// Each yields the instructions of a function that the file has, up to where they end early.
func (u Unloaded) Each(s kernel.Symbol, yield func(off int, plan trampoline.Plan)) error {
	isa, err := trampoline.For(u.Image.Arch())
	if err != nil {
		return err
	}
	code := make([]byte, s.Size)
	if err := u.Image.TextLink(s.Addr, code); err != nil {
		return fmt.Errorf("reading %s: %w", s.Name, err)
	}
	return isa.Walk(code, s.Addr, func(off, n int) bool {
		yield(off, isa.Plan(code[off:], s.Addr+uint64(off)))
		return true
	})
}
