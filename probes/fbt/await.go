package fbt

import (
	"cmp"
	"slices"

	"trapline/probes"
	"trapline/probes/patch"
)

// A jump out of a function leaves its return address to whom it jumps to. Where returns wait
// (Config.Await), the return of such a function is at that address:
//
//	call f     behind: <-- f returns here, if the thread and its stack are those of the jump
//	f: jmp g           <-- what is awaited is noted
//	g: ret
//
// The address is known when the jump is first taken, and gets its point then.

// awaited are the returns that one thread is to make, and where the jumps were, in bytes from the
// functions' starts. A call that never returns is awaited until its thread has ended: calls on one
// thread's stack are as many as fit there.
type awaited map[call]uint64

// A call is one of a probe's function.
type call struct {
	probe  *probes.Probe
	at, sp uint64 // the return address, and the stack pointer there
}

// await notes that a call returns elsewhere, off bytes from the function's start having jumped
// there. It reports false if no probe can be where that is.
func (p *Provider) await(fn *function, f *probes.Firing, off uint64) bool {
	x := call{probe: f.Probe}
	var ok bool
	if x.at, x.sp, ok = p.returnTo(f.CPU); !ok {
		return false
	}
	if !slices.Contains(fn.behind, x.at) && !p.arrive(fn, x.at) {
		return false
	}
	thread := p.Await(f.CPU)
	calls := p.awaited.Of(&thread)
	if calls == nil {
		return false
	}
	if *calls == nil {
		*calls = awaited{}
	}
	(*calls)[x] = off
	return true
}

// returnTo is where a function that is about to be jumped to will return to.
func (p *Provider) returnTo(cpu probes.CPU) (addr, sp uint64, ok bool) {
	sp = cpu.Reg(p.arch.SP)
	if p.arch.StackArgs == 0 {
		return cpu.Reg(p.arch.Link), sp, true
	}
	size := p.arch.PtrSize
	if p.Target.ReadMem(sp, p.word[:size]) != nil {
		return 0, 0, false
	}
	return p.arch.ByteOrder.Uint64(p.word[:]), sp + uint64(size), true
}

// arrive makes a point of an instruction that a function returns to, and enables its return
// probes there.
func (p *Provider) arrive(fn *function, addr uint64) (ok bool) {
	s, _, ok := p.Text.At(addr)
	if !ok {
		return false
	}
	f, ok := p.Text.Set.Func(s.Addr, int(s.Size)), false
	err := f.Each(func(off int, code []byte) bool {
		here := f.Start+uint64(off) == addr
		ok = here && p.point(f, off, code) == ""
		return !here
	})
	if err != nil || !ok {
		return false
	}
	fn.behind = append(fn.behind, addr)
	var sites []patch.Site
	for _, q := range fn.on {
		sites = append(sites, patch.Site{Probe: q, Addr: addr})
	}
	if err := p.Text.Set.EnableSites(sites); err != nil {
		p.Text.Set.Fail(err)
	}
	return true
}

// forgetBehind drops the places in [lo, hi) to which functions elsewhere return.
func (p *Provider) forgetBehind(lo, hi uint64) {
	var gone []patch.Site
	for _, fn := range p.funcs {
		fn.behind = slices.DeleteFunc(fn.behind, func(addr uint64) bool {
			if addr-lo >= hi-lo {
				return false
			}
			for _, q := range fn.on {
				gone = append(gone, patch.Site{Probe: q, Addr: addr})
			}
			return true
		})
	}
	slices.SortFunc(gone, func(a, b patch.Site) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Probe.ID(), b.Probe.ID()))
	})
	if err := p.Text.Set.DisableSites(gone); err != nil {
		p.Text.Set.Fail(err)
	}
}

// arrived reports whether a firing at a return address is the return that is awaited there.
func (p *Provider) arrived(f *probes.Firing, pc uint64) bool {
	thread := p.Await(f.CPU)
	calls := p.awaited.Find(&thread)
	if calls == nil {
		return false
	}
	x := call{f.Probe, pc, f.CPU.Reg(p.arch.SP)}
	off, ok := (*calls)[x]
	if !ok {
		return false
	}
	delete(*calls, x)
	f.Args[0], f.Args[1], f.Args[2] = off, f.CPU.Reg(p.arch.Ret), 0
	return true
}
