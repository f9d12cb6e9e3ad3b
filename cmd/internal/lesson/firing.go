package lesson

import (
	"fmt"
	"strings"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/trampoline"
)

// A Firing is what happened when a probe fired once.
type Firing struct {
	Image    string
	Probe    string // its full name
	Function string
	Offset   int    // of the instruction in the function
	Code     []byte // of the function, as the guest has it
	PC       uint64
	Plan     trampoline.Plan
	Break    probes.Break
	Slot     []byte // the bytes of the trampoline, nil without one
	At       uint64 // when, in virtual nanoseconds
	Took     uint64 // until the guest went on
	Next     uint64 // where it went on
	Landed   bool   // it went on, and Took, Next and After are known
	Before   []uint64
	After    []uint64 // registers, by arch.Reg
	// Name names an address by the symbol that covers it and the symbol's own address.
	Name func(addr uint64) (name string, base uint64)

	isa *trampoline.ISA
}

func (f *Firing) arch() *arch.Arch { return f.isa.Arch }

// instr is the displaced instruction.
func (f *Firing) instr() []byte { return f.Code[f.Offset : f.Offset+int(f.Plan.Len)] }

func (f *Firing) after() uint64 { return f.PC + uint64(f.Plan.Len) }

// place names an address: vfs_read+12, or a number where nothing is.
func (f *Firing) place(addr uint64) string {
	name, base := f.Name(addr)
	switch {
	case name == "":
		return fmt.Sprintf("0x%x", addr)
	case addr == base:
		return name
	}
	return fmt.Sprintf("%s+%d", name, addr-base)
}

// row is one instruction as a line: place, text, bytes.
func row(at, text string, code []byte) string {
	return fmt.Sprintf("%-22s  %-32s  % x\n", at, text, code)
}

// around lists the instructions before and after the probe's, which is marked.
func (f *Firing) around(n int) (lines []string) {
	base := f.PC - uint64(f.Offset)
	mark := 0
	f.isa.Walk(f.Code, base, func(off, size int) bool {
		at := fmt.Sprintf("  %s+%d", f.Function, off)
		if off == f.Offset {
			mark = len(lines)
			at = ">" + at[1:]
		}
		code := f.Code[off:]
		lines = append(lines, row(at, f.isa.Text(code, base+uint64(off), f.Name), code[:size]))
		return off <= f.Offset || len(lines) <= mark+n
	}) // ends early where the bytes stop being instructions
	return lines[max(0, mark-n):]
}

// inSlot lists the instructions of the trampoline, without the filling.
func (f *Firing) inSlot(c *course) (lines []string) {
	for off := 0; off < len(f.Slot); {
		rest := f.Slot[off:]
		n, err := f.isa.Length(rest)
		if err != nil || !c.double && filled(rest, f.isa.Fill) {
			break
		}
		addr := f.Break.Slot + uint64(off)
		lines = append(lines, row(fmt.Sprintf("  0x%x", addr), f.isa.Text(rest, addr, f.Name), rest[:n]))
		off += n
	}
	return lines
}

// filled reports whether there is nothing but filling.
func filled(code, fill []byte) bool {
	return strings.TrimLeft(string(code), string(fill)) == ""
}

// change is a register whose value the instruction has changed.
type change struct {
	name        string
	before, now uint64
}

// changes are the general registers and flags that are not what they were.
func (f *Firing) changes() (all []change) {
	a := f.arch()
	for i, r := range a.Regs {
		if reg := arch.Reg(i); reg != a.PC && f.Before[i] != f.After[i] {
			all = append(all, change{r.Name, f.Before[i], f.After[i]})
		}
	}
	return all
}
