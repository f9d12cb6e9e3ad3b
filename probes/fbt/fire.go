package fbt

import (
	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes"
)

// Always is true of entries.
func (p *Provider) Always(q *probes.Probe) bool { return isEntry(q) && p.Fires == nil }

// Select reports whether the CPU leaves the function, at a return probe.
func (p *Provider) Select(f *probes.Firing) bool {
	return p.boundary(f) && (p.Fires == nil || p.Fires(f))
}

func (p *Provider) boundary(f *probes.Firing) bool {
	if isEntry(f.Probe) {
		return true
	}
	fn := p.funcs[f.Probe.Key]
	pc := f.CPU.Reg(p.arch.PC)
	w := fn.at(pc)
	if w == nil { // nothing leaves here any more, if the text has changed
		return p.Await != nil && p.arrived(f, pc)
	}
	f.Args[0], f.Args[1], f.Args[2] = pc-fn.start(), 0, 0
	switch w.flow.Way {
	case insn.Return:
		f.Args[1] = f.CPU.Reg(p.arch.Ret)
		return true
	case insn.Jump:
		f.Args[2] = w.flow.Target
	default:
		to, ok := w.flow.Next(f.CPU, p.Target.ReadMem)
		if !ok || fn.inside(to) {
			return false
		}
		f.Args[2] = to
	}
	return p.Await == nil || !p.await(fn, f, f.Args[0])
}

// ErrorOf implements probes.Failer.
func (p *Provider) ErrorOf(f *probes.Firing) (errno int32, ok bool) {
	if p.Errno == nil {
		return 0, false
	}
	return p.Errno(f), true
}

// returnArgs is how many arguments a return has.
const returnArgs = 3

// Arg is an argument of the function, or of its return.
func (p *Provider) Arg(f *probes.Firing, i int) uint64 {
	switch {
	case p.Args != nil:
		return p.Args(f, i, isEntry(f.Probe))
	case isEntry(f.Probe):
		return p.argument(f.CPU, i)
	case i < returnArgs:
		return f.Args[i]
	}
	return 0
}

// Reads implements probes.RegReader for entries with arguments in registers, and returns by an
// instruction that always leaves.
func (p *Provider) Reads(q *probes.Probe, addr uint64, args uint16) (regs []arch.Reg, ok bool) {
	if p.Fires != nil {
		return nil, false
	}
	if isEntry(q) {
		inRegs := args>>len(p.arch.Args) == 0 && p.Args == nil
		return probes.ArgRegs(p.arch.Args, args), inRegs || args == 0
	}
	w := p.funcs[q.Key].at(addr)
	switch {
	case w == nil:
		return nil, false
	case w.flow.Way == insn.Return:
		return []arch.Reg{p.arch.Ret}, true
	}
	return nil, w.flow.Way == insn.Jump && p.Await == nil
}

// argument is integer argument i at the first instruction of a function: in a register or
// on the stack. It is 0 where the stack cannot be read.
func (p *Provider) argument(cpu probes.CPU, i int) uint64 {
	if i < len(p.arch.Args) {
		return cpu.Reg(p.arch.Args[i])
	}
	size := p.arch.PtrSize
	at := cpu.Reg(p.arch.SP) + p.arch.StackArgs + uint64((i-len(p.arch.Args))*size)
	if p.Target.ReadMem(at, p.word[:size]) != nil {
		return 0
	}
	return p.arch.ByteOrder.Uint64(p.word[:])
}

var _ interface {
	probes.Selector
	probes.Arguer
	probes.Typed
	probes.Reporter
} = (*Provider)(nil)
