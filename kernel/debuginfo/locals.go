package debuginfo

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
)

// Locals finds the local variables and parameters of an image's functions, and reads them
// in a stopped guest.
//
//	address --Index--> definition --scopes that contain it, innermost first--> variable
//	variable --location at the address--> expression --registers, memory--> its bytes
//
// It is used by one goroutine at a time.
type Locals struct {
	at      Placement
	symbols *kernel.Symtab
	x       *Index
	types   *Types
	d       *dwarf
	s       *sections
	arch    *arch.Arch
	regs    map[uint64]arch.Reg // by DWARF number
	units   map[uint64]*localUnit
	found   map[localKey]*Local
	lists   []byte // .debug_loclists
	loc     []byte // .debug_loc
	cfi     *callFrames
	image   []Range // what is loaded of the image: addresses in it have moved
	steps   int     // that are left for the question at hand
}

type localKey struct {
	pc   uint64
	name string
}

// A Local is a variable as it can be seen from one address.
type Local struct {
	Name string
	Type *ctypes.Type

	at   localPlace
	expr []byte // of its location at the address; nil: it is nowhere, or constant
	data []byte // of a constant
}

// A localPlace is where code is, in the debug information.
type localPlace struct {
	pc       uint64
	unit     *localUnit
	function *node // the one that has the code
}

// ErrOptimizedOut is wrapped by [Locals.Read] for a variable that has no value where the
// guest is: the compiler has kept none.
var ErrOptimizedOut = errors.New("optimized out")

// A Guest is what a variable is read from: the registers and the memory of a stopped CPU.
type Guest interface {
	Reg(arch.Reg) uint64
	Read(addr uint64, p []byte) error
}

// A Placement knows where the code of an image runs. *kernel.Image is one.
type Placement interface {
	// Link is the link-time address of an address of the running kernel, Run the other way
	// round. They are not ok where nothing of the image is.
	Link(addr uint64) (link uint64, ok bool)
	Run(link uint64) (addr uint64, ok bool)
}

// NewLocals makes the Locals of an image with DWARF, which must stay open. x is its index,
// types has its types; at knows where it runs.
func NewLocals(img *kernel.Image, x *Index, types *Types, at Placement) *Locals {
	l := &Locals{
		at: at, symbols: img.Symtab(), x: x, types: types, d: newDWARF(img, types), s: newSections(img), arch: img.Arch(),
		regs: make(map[uint64]arch.Reg), units: make(map[uint64]*localUnit), found: make(map[localKey]*Local),
		steps: maxSteps,
	}
	for i, r := range l.arch.Regs {
		if r.DWARF >= 0 {
			l.regs[uint64(r.DWARF)] = arch.Reg(i)
		}
	}
	l.lists, _, _ = img.Section(".debug_loclists")
	l.loc, _, _ = img.Section(".debug_loc")
	frames, _, _ := img.Section(".debug_frame")
	l.cfi = newCallFrames(frames)
	for _, s := range img.Segments() {
		if s.Vaddr != 0 { // offsets in what each CPU has of its own
			l.image = append(l.image, Range{s.Vaddr, s.Vaddr + s.Memsz})
		}
	}
	return l
}

// Find finds the variable or parameter that a name means at an address of the running
// kernel, of the innermost scope that has one: an inlined copy's before its caller's. It is
// not ok if there is none.
func (l *Locals) Find(addr uint64, name string) (v *Local, ok bool) {
	pc, ok := l.place(addr)
	if !ok {
		return nil, false
	}
	key := localKey{pc, name}
	v, known := l.found[key]
	if !known {
		all := l.all(pc)
		if i := slices.IndexFunc(all, func(v *Local) bool { return v.Name == name }); i >= 0 {
			v = all[i]
		}
		l.found[key] = v
	}
	return v, v != nil
}

// Names are the names that mean something at an address of the running kernel, sorted.
func (l *Locals) Names(addr uint64) []string {
	pc, ok := l.place(addr)
	if !ok {
		return nil
	}
	var names []string
	for _, v := range l.all(pc) {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxPatchable is no less than the bytes of what compilers leave before the code of a function
// for tracers to fill (-fpatchable-function-entry): 8 on arm64 and riscv64 Linux.
const maxPatchable = 16

// place is the link-time address of what the debug information has at an address of the running
// kernel. It has nothing of the no-operations with which a function may begin: there, it is the
// code behind.
func (l *Locals) place(addr uint64) (pc uint64, ok bool) {
	if pc, ok = l.at.Link(addr); !ok {
		return 0, false
	}
	if _, known := l.x.definitionAt(pc); known {
		return pc, true
	}
	f, _ := l.symbols.AtLink(pc)
	if code, ok := l.x.codeAfter(pc); ok && code-f.Addr <= min(maxPatchable, f.Size) {
		return code, true
	}
	return pc, true
}

// all are the variables that can be seen from an address, those of inner scopes first. Of what is
// damaged there are none, or fewer.
func (l *Locals) all(pc uint64) (found []*Local) {
	var err error
	defer kernel.Recover(&err)
	l.steps = maxSteps
	scopes := l.scopes(pc)
	for i := len(scopes) - 1; i >= 0; i-- {
		found = l.declared(found, &scopes[i], localPlace{pc, scopes[i].unit, &scopes[0]}, 0)
	}
	return found
}

// maxLocals is more than the variables that can be seen from one address in what is not damaged.
const maxLocals = 1 << 16

// declared adds the variables of a scope, and those of blocks in it of which the compiler
// has left no code of their own. Of a copy's, some may be described only where the function
// is described that it is a copy of: static ones, and those that have no value.
func (l *Locals) declared(found []*Local, scope *node, at localPlace, depth int) []*Local {
	if depth > maxScopes || len(found) > maxLocals {
		return found
	}
	described := make(map[uint64]bool)
	l.below(scope, func(n *node) bool {
		described[n.refers(atOrigin)] = true
		found = l.declares(found, n, at, depth)
		return true
	})
	origin := scope.refers(atOrigin)
	if u := l.unitAt(origin); origin != 0 && u != nil {
		if o, ok := l.node(u, origin); ok {
			l.below(&o, func(n *node) bool {
				if !described[n.off] {
					found = l.declares(found, n, at, depth)
				}
				return true
			})
		}
	}
	return found
}

// declares adds what one entry of a scope declares. A declaration of what is defined
// elsewhere is no local variable.
func (l *Locals) declares(found []*Local, n *node, at localPlace, depth int) []*Local {
	switch n.tag {
	case tagVariable, tagParam:
		if v := l.local(n, at); v.Name != "" && n.get(atDecl) == nil {
			return append(found, v)
		}
	case tagLexicalBlock:
		if n.get(atLowPC) == nil && n.get(atRanges) == nil {
			return l.declared(found, n, at, depth+1)
		}
	}
	return found
}

// scopes are the function that an address is in, and the copies and blocks in that,
// outermost first.
func (l *Locals) scopes(pc uint64) []node {
	die, ok := l.x.definitionAt(pc)
	if !ok {
		return nil
	}
	u := l.unitAt(die)
	if u == nil {
		return nil
	}
	n, ok := l.node(u, die)
	if !ok {
		return nil
	}
	scopes := []node{n}
	for inner := &n; inner != nil && len(scopes) < maxScopes; {
		outer := inner
		inner = nil
		l.below(outer, func(n *node) bool {
			if (n.tag == tagLexicalBlock || n.tag == tagInlined) && l.contains(n, pc) {
				inner = n
				scopes = append(scopes, *n)
			}
			return inner == nil
		})
	}
	return scopes
}

// definitionAt finds the entry of the function whose code is at an address.
func (x *Index) definitionAt(pc uint64) (die uint64, ok bool) {
	t := x.t.spans
	for i := sort.Search(t.rows(), func(i int) bool { return t.address(i, spanLo) > pc }) - 1; i >= 0; i-- {
		if pc < t.address(i, spanHi) {
			return uint64(x.t.defs.at(int(t.at(i, spanDef)), defDie)), true
		}
		if t.address(i, spanLo) < pc {
			return 0, false
		}
	}
	return 0, false
}

// codeAfter is where the next piece of a function begins behind an address.
func (x *Index) codeAfter(pc uint64) (addr uint64, ok bool) {
	t := x.t.spans
	i := sort.Search(t.rows(), func(i int) bool { return t.address(i, spanLo) > pc })
	if i == t.rows() {
		return 0, false
	}
	return t.address(i, spanLo), true
}

// local makes a variable of its entry.
func (l *Locals) local(n *node, at localPlace) *Local {
	named, a := l.completed(n, atName)
	if a == nil {
		return &Local{}
	}
	v := &Local{Name: l.text(named, atName), Type: ctypes.VoidType, at: at}
	if typed, a := l.completed(n, atType); a != nil {
		v.Type = l.d.types.typ(typed.refers(atType))
	}
	if a := n.get(atLocation); a != nil {
		v.expr = l.location(n.unit, a, at)
	} else if _, a := l.completed(n, atConst); a != nil {
		v.data = constant(a)
	} else if origin, a := l.completed(n, atLocation); a != nil { // a static variable
		v.expr = l.location(origin.unit, a, at)
	}
	return v
}

// constant is the bytes of DW_AT_const_value. Compilers write negative ones as such.
func constant(a *attribute) []byte {
	if a.block != nil {
		return a.block
	}
	return le.AppendUint64(nil, a.value.raw)
}

// location is the expression of a DW_AT_location that holds at an address. An empty range
// stands for the first instruction of the function alone.
func (l *Locals) location(u *localUnit, a *attribute, at localPlace) []byte {
	holds := func(r Range) bool {
		return r.Contains(at.pc) || r.Lo == r.Hi && r.Lo == at.pc && l.begins(at)
	}
	switch {
	case a.block != nil:
		return a.block
	case u.version < 5:
		return l.pairs(u, a.value.raw, holds)
	case a.value.form == formLoclistx:
		c := cursor{data: l.lists, off: u.root.loclists + 4*a.value.raw}
		return l.list(u, u.root.loclists+c.fixed(4), holds)
	}
	return l.list(u, a.value.raw, holds)
}

// begins reports whether a place is the first instruction of its function.
func (l *Locals) begins(at localPlace) bool {
	return len(l.places(at.function, func(r Range) bool { return r.Lo == at.pc })) > 0
}

// pairs looks into a list of .debug_loc (DWARF 4, 2.6.2).
func (l *Locals) pairs(u *localUnit, at uint64, holds func(Range) bool) []byte {
	c, base := cursor{data: l.loc, off: at}, u.root.low
	highest := ^uint64(0) >> (64 - 8*u.addrSize)
	for {
		lo, hi := c.fixed(u.addrSize), c.fixed(u.addrSize)
		l.steps--
		switch {
		case c.bad || lo == 0 && hi == 0 || l.steps < 0:
			return nil
		case lo == highest:
			base = hi
			continue
		}
		expr := c.bytes(c.fixed(2))
		if holds(Range{base + lo, base + hi}) {
			return expr
		}
	}
}

// Kinds of entries of a location list that range lists have not (DWARF 5, 7.7.3). The
// others have other numbers.
const (
	lleEnd = iota
	lleBaseAddressx
	lleStartxEndx
	lleStartxLength
	lleOffsetPair
	lleDefault
	lleBaseAddress
	lleStartEnd
	lleStartLength
)

// list looks into a list of .debug_loclists (DWARF 5, 2.6.2).
func (l *Locals) list(u *localUnit, at uint64, holds func(Range) bool) []byte {
	c, base := cursor{data: l.lists, off: at}, u.root.low
	var otherwise []byte
	for ; !c.bad && l.steps >= 0; l.steps-- {
		var r Range
		switch c.byte() {
		case lleBaseAddressx:
			base = l.s.indexedAddress(u.unit, &u.root, c.uleb())
			continue
		case lleBaseAddress:
			base = c.fixed(u.addrSize)
			continue
		case lleDefault:
			otherwise = c.bytes(c.uleb())
			continue
		case lleStartxEndx:
			r.Lo, r.Hi = l.s.indexedAddress(u.unit, &u.root, c.uleb()), l.s.indexedAddress(u.unit, &u.root, c.uleb())
		case lleStartxLength:
			r.Lo = l.s.indexedAddress(u.unit, &u.root, c.uleb())
			r.Hi = r.Lo + c.uleb()
		case lleOffsetPair:
			r.Lo, r.Hi = base+c.uleb(), base+c.uleb()
		case lleStartEnd:
			r.Lo, r.Hi = c.fixed(u.addrSize), c.fixed(u.addrSize)
		case lleStartLength:
			r.Lo = c.fixed(u.addrSize)
			r.Hi = r.Lo + c.uleb()
		default:
			return otherwise
		}
		if expr := c.bytes(c.uleb()); holds(r) {
			return expr
		}
	}
	return otherwise
}

// maxValue is the bytes of a variable that is not in memory as a whole.
const maxValue = 1 << 20

// Read reads a variable where the guest is, at the address that it was found for. If it
// lies in memory as a whole addr is where, at the address of the running kernel; data
// is nil then. Otherwise data is what it consists of, as many bytes as its type has, at most
// maxValue.
func (l *Locals) Read(v *Local, g Guest) (addr uint64, data []byte, err error) {
	if addr, data, err = l.read(v, g); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", v.Name, err)
	}
	return addr, data, nil
}

func (l *Locals) read(v *Local, g Guest) (addr uint64, data []byte, err error) {
	defer kernel.Recover(&err)
	l.steps = maxSteps
	size := v.Type.Bytes()
	switch {
	case v.data != nil && size <= maxValue:
		return 0, fit(v.data, size), nil
	case len(v.expr) == 0:
		return 0, nil, ErrOptimizedOut
	}
	e := &evaluation{l: l, frame: l.frame(v.at, g)}
	pieces, err := e.locate(v.expr)
	if err != nil {
		return 0, nil, err
	}
	return e.assemble(pieces, size)
}

// fit cuts or extends bytes with zeros.
func fit(p []byte, n int) []byte {
	out := make([]byte, n)
	copy(out, p)
	return out
}
