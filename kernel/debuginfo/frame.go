package debuginfo

import (
	"fmt"
	"maps"
)

// A frame is a function that has been called: what its expressions are evaluated with.
type frame struct {
	l    *Locals
	g    Guest
	at   localPlace
	regs map[uint64]uint64 // by DWARF number: of callers, what is not the CPU's own
	lost map[uint64]bool   // registers whose value in the caller is not known
}

// frame is the one that the guest is in.
func (l *Locals) frame(at localPlace, g Guest) *frame { return &frame{l: l, g: g, at: at} }

// reg is a register by its DWARF number.
func (f *frame) reg(n uint64) (uint64, error) {
	if v, ok := f.regs[n]; ok {
		return v, nil
	}
	r, ok := f.l.regs[n]
	if f.lost[n] || !ok {
		return 0, ErrOptimizedOut
	}
	return f.g.Reg(r), nil
}

// moved is where an address that an expression names is in the running kernel. Those that it
// has from registers and memory are the running kernel's already.
func (f *frame) moved(addr uint64) uint64 {
	for _, c := range f.l.image {
		if run, ok := f.l.at.Run(addr); ok && c.Contains(addr) {
			return run
		}
	}
	return addr
}

// base is what DW_OP_fbreg counts from.
func (f *frame) base(e *evaluation) (uint64, error) {
	_, a := f.l.completed(f.at.function, atFrameBase)
	if a == nil {
		return 0, errExpression
	}
	expr := a.block
	if expr == nil {
		expr = f.l.location(f.at.unit, a, f.at)
	}
	return e.number(expr)
}

// cfa is the canonical frame address: the stack pointer of the caller at the call.
func (f *frame) cfa() (uint64, error) {
	rules, ok := f.l.cfi.at(f.at.pc, &f.l.steps)
	if !ok {
		return 0, fmt.Errorf("%w: no unwind information at %#x", errExpression, f.at.pc)
	}
	return f.cfaOf(&rules)
}

func (f *frame) cfaOf(r *frameRules) (uint64, error) {
	if r.cfaExpr != nil {
		return (&evaluation{l: f.l, frame: f}).number(r.cfaExpr)
	}
	v, err := f.reg(r.cfaReg)
	return v + uint64(r.cfaOffset), err
}

// caller is the frame that called this one, as it is at the return.
func (f *frame) caller() (*frame, error) {
	rules, ok := f.l.cfi.at(f.at.pc, &f.l.steps)
	if !ok {
		return nil, ErrOptimizedOut
	}
	cfa, err := f.cfaOf(&rules)
	if err != nil {
		return nil, err
	}
	up := &frame{l: f.l, g: f.g, regs: maps.Clone(f.regs), lost: maps.Clone(f.lost)}
	if up.regs == nil {
		up.regs, up.lost = make(map[uint64]uint64), make(map[uint64]bool)
	}
	for reg, rule := range rules.regs {
		v, ok := f.recover(rule, cfa)
		if delete(up.lost, reg); !ok {
			up.lost[reg] = true
			continue
		}
		up.regs[reg] = v
	}
	up.regs[uint64(f.l.arch.Regs[f.l.arch.SP].DWARF)] = cfa
	ra, err := up.reg(rules.returnReg)
	if err != nil {
		return nil, err
	}
	if rules.signed { // by pointer authentication; the kernel's half of addresses begins with ones
		ra |= 0xff << 56
	}
	return up, up.enter(ra)
}

// recover is the value that a register had in the caller.
func (f *frame) recover(r regRule, cfa uint64) (v uint64, ok bool) {
	var p [8]byte
	var err error
	switch r.kind {
	case ruleOffset:
		err = f.g.Read(cfa+uint64(r.offset), p[:])
		return le.Uint64(p[:]), err == nil
	case ruleValOffset:
		return cfa + uint64(r.offset), true
	case ruleRegister:
		v, err = f.reg(r.reg)
		return v, err == nil
	}
	return 0, false
}

// enter puts the frame behind the call that returns to an address.
func (f *frame) enter(ra uint64) error {
	ra, ok := f.l.at.Link(ra)
	if !ok {
		return ErrOptimizedOut
	}
	die, ok := f.l.x.definitionAt(ra - 1)
	if !ok {
		return ErrOptimizedOut
	}
	u := f.l.unitAt(die)
	if u == nil {
		return ErrOptimizedOut
	}
	n, ok := f.l.node(u, die)
	if !ok {
		return ErrOptimizedOut
	}
	f.at = localPlace{ra, u, &n}
	return nil
}

// entryValue returns what the function was called with, if the caller's debug information says what
// it passed as the parameter that is wanted (DWARF 5, 2.5.1.7 and 3.4.2).
func (f *frame) entryValue(is func(*node) bool, depth int) (uint64, error) {
	if depth > maxEvaluations {
		return 0, errTooDeep
	}
	up, err := f.caller()
	if err != nil {
		return 0, ErrOptimizedOut
	}
	value := up.passed(f.at.function, is)
	if value == nil {
		return 0, ErrOptimizedOut
	}
	e := &evaluation{l: f.l, frame: up, depth: depth}
	return e.number(value)
}

// passed finds the call of a function that returns to where the frame is, and in it the
// value of a parameter: an expression, nil if it is not told or another function was
// called, so that this one has been jumped to.
func (f *frame) passed(callee *node, is func(*node) bool) (value []byte) {
	site := f.callSite(f.at.function, 0)
	if site == nil || !f.calls(site, callee) {
		return nil
	}
	f.l.below(site, func(n *node) bool {
		if is(n) {
			for _, name := range []uint64{atCallValue, atGNUCallValue} {
				if a := n.get(name); a != nil {
					value = a.block
				}
			}
		}
		return value == nil
	})
	return value
}

// callSite is the entry of the call that returns to where the frame is, nil if none.
func (f *frame) callSite(in *node, depth int) (site *node) {
	if depth > maxScopes {
		return nil
	}
	f.l.below(in, func(n *node) bool {
		switch n.tag {
		case tagCallSite, tagGNUCallSite:
			name := uint64(atCallReturnPC)
			if n.tag == tagGNUCallSite {
				name = atLowPC
			}
			if a := n.get(name); a != nil {
				if at, _ := f.l.s.address(n.unit.unit, &n.unit.root, a.value); at == f.at.pc {
					site = n
				}
			}
		case tagInlined, tagLexicalBlock:
			site = f.callSite(n, depth+1)
		}
		return site == nil
	})
	return site
}

// calls reports whether a call goes to a function: as the site says, or by the address that
// is called.
func (f *frame) calls(site, callee *node) bool {
	origin := site.refers(atCallOrigin)
	if origin == 0 {
		origin = site.refers(atOrigin)
	}
	if origin != 0 {
		u := f.l.unitAt(origin)
		if u == nil {
			return false
		}
		n, ok := f.l.node(u, origin)
		return ok && f.l.nameOf(&n) == f.l.nameOf(callee)
	}
	for _, name := range []uint64{atCallTarget, atGNUCallTarget} {
		if a := site.get(name); a != nil {
			to, err := (&evaluation{l: f.l, frame: f}).number(a.block)
			link, ok := f.l.at.Link(to)
			return err == nil && ok && f.l.contains(callee, link)
		}
	}
	return false
}

func (l *Locals) nameOf(n *node) string {
	named, _ := l.completed(n, atName)
	return l.text(named, atName)
}
