// Package arch describes guest architectures as values.
//
// An architecture is one *Arch: sizes, names and small functions that the rest of
// trapline asks instead of switching on a name. What other packages know of one is a
// row of a [Table]. Adding an architecture adds files, and its name to [All]. The
// package imports nothing of trapline.
package arch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// A Reg is a register of an architecture: an index into its Arch.Regs.
type Reg uint8

// RegInfo describes one register.
type RegInfo struct {
	Name  string // as a D script writes it, upper case: "RAX", "R_PC" has its own name "RIP"
	DWARF int    // DWARF register number, -1 if it has none
}

// Regs is the register file of a stopped guest CPU. A value has the width of the
// register, zero-extended to 64 bits.
type Regs interface {
	Reg(Reg) uint64
	SetReg(Reg, uint64)
}

// An Arch is everything about a guest architecture that is not code displacement
// (package trampoline) or emulation (package emu).
type Arch struct {
	Name      string           // as in image names: "amd64"
	Machine   elf.Machine      // of its kernels
	ByteOrder binary.ByteOrder // of its data
	PtrSize   int              // bytes of a pointer and of a C long
	PageSize  uint64           // bytes of the smallest page

	MinInstr int // bytes of the shortest instruction
	MaxInstr int // bytes of the longest instruction

	// Breakpoint returns the bytes that are written over an instruction of n bytes.
	// The result is shared: it must not be changed.
	Breakpoint func(n int) []byte
	// BreakpointSkip is how far past the breakpoint's first byte the trap reports
	// the program counter: 1 for INT3 (SDM vol. 3, 6.4.4), 0 for BRK and EBREAK.
	BreakpointSkip uint64

	Regs    []RegInfo
	Aliases map[string]Reg // other names of registers, upper case: "LR"

	PC    Reg   // program counter
	SP    Reg   // stack pointer
	FP    Reg   // frame pointer, where code keeps one
	Flags Reg   // condition flags and interrupt mask
	Ret   Reg   // integer return value
	Args  []Reg // integer arguments of a kernel function, in order
	// Interruptible reports from Flags whether the CPU takes interrupts.
	Interruptible func(flags uint64) bool
	// StackArgs is where further arguments begin at a function's first instruction, in
	// bytes from SP.
	StackArgs uint64
	// Link holds the return address there, unless StackArgs has room for it on the stack.
	Link Reg
}

// Lookup finds a register by its name or an alias; case does not matter.
func (a *Arch) Lookup(name string) (Reg, bool) {
	name = strings.ToUpper(name)
	for i, r := range a.Regs {
		if r.Name == name {
			return Reg(i), true
		}
	}
	r, ok := a.Aliases[name]
	return r, ok
}

// Numbers are the registers by all their names, in upper case: "PC", "SP" and "FP" too.
func (a *Arch) Numbers() map[string]int {
	regs := map[string]int{"PC": int(a.PC), "SP": int(a.SP), "FP": int(a.FP)}
	for i, r := range a.Regs {
		regs[r.Name] = i
	}
	for name, r := range a.Aliases {
		regs[name] = int(r)
	}
	return regs
}

func (a *Arch) String() string { return a.Name }

// All lists the architectures that trapline traces, in the order they are shown.
var All = []*Arch{AMD64, ARM64, RISCV64}

// ForELF finds the architecture of an ELF machine number.
func ForELF(m elf.Machine) (*Arch, error) {
	for _, a := range All {
		if a.Machine == m {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no support for %s kernels (supported: %s)", m, names())
}

func names() string {
	var s []string
	for _, a := range All {
		s = append(s, a.Name)
	}
	return strings.Join(s, ", ")
}

// numbered are n general registers whose DWARF numbers are their own: X0, X1, ...
func numbered(prefix string, n int) []RegInfo {
	regs := make([]RegInfo, n)
	for i := range regs {
		regs[i] = RegInfo{fmt.Sprint(prefix, i), i}
	}
	return regs
}

// consecutive are n registers from first on.
func consecutive(first Reg, n int) []Reg {
	regs := make([]Reg, n)
	for i := range regs {
		regs[i] = first + Reg(i)
	}
	return regs
}
