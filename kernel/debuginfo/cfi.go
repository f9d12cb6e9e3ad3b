package debuginfo

import (
	"cmp"
	"maps"
	"slices"
)

// callFrames is .debug_frame: how to find a caller's registers (DWARF 5, 6.4).
type callFrames struct {
	data    []byte
	entries []frameEntry // by address
}

// A frameEntry is the FDE of a function and its CIE.
type frameEntry struct {
	Range
	cie   *frameCommon
	start uint64 // of its instructions, in data
	end   uint64
}

// A frameCommon is a CIE.
type frameCommon struct {
	codeAlign  uint64
	dataAlign  int64
	returnReg  uint64
	start, end uint64
}

// frameRules say how the caller's registers are found at one address.
type frameRules struct {
	cfaReg    uint64
	cfaOffset int64
	cfaExpr   []byte
	regs      map[uint64]regRule
	returnReg uint64
	signed    bool // the return address, on arm64
}

type regRule struct {
	kind   ruleKind
	offset int64
	reg    uint64
}

type ruleKind uint8

const (
	ruleUndefined ruleKind = iota
	ruleOffset             // in memory, there from the CFA
	ruleValOffset          // the CFA plus an offset
	ruleRegister           // in another register
	ruleUnknown            // by an expression
)

// Bounds of what is read: entries, of them CIEs, and in one entry registers with rules and
// remembered states. What is not damaged has far less of each.
const (
	maxFrames  = 1 << 20
	maxCommons = 1 << 16
	maxRules   = 256
	maxSaved   = 64
)

// newCallFrames finds the entries. Those of what the linker has dropped have low addresses
// and do no harm. What follows damage is left out.
func newCallFrames(data []byte) *callFrames {
	f := &callFrames{data: data}
	commons := make(map[uint64]*frameCommon)
	for off := uint64(0); off+8 <= uint64(len(data)) && len(commons) < maxCommons && len(f.entries) < maxFrames; {
		c := cursor{data: data, off: off}
		n := c.fixed(4)
		end := c.off + n
		if n < 4 || n >= 0xfffffff0 || end > uint64(len(data)) {
			break
		}
		c.data = data[:end]
		if id := c.fixed(4); id == 0xffffffff {
			commons[off] = readCommon(c, end)
		} else if cie := commons[id]; cie != nil {
			lo := c.fixed(8)
			f.entries = append(f.entries, frameEntry{Range{lo, lo + c.fixed(8)}, cie, c.off, end})
		}
		off = end
	}
	slices.SortFunc(f.entries, func(a, b frameEntry) int { return cmp.Compare(a.Lo, b.Lo) })
	return f
}

// readCommon reads a CIE, behind its ID; nil if it is of a kind that is not known.
func readCommon(c cursor, end uint64) *frameCommon {
	version := c.byte()
	if c.byte() != 0 { // an augmentation
		return nil
	}
	if version >= 4 {
		c.off += 2 // sizes of an address and of a segment selector
	}
	f := &frameCommon{codeAlign: c.uleb(), dataAlign: c.sleb(), end: end}
	if version == 1 {
		f.returnReg = uint64(c.byte())
	} else {
		f.returnReg = c.uleb()
	}
	f.start = c.off
	if c.bad {
		return nil
	}
	return f
}

// find is the entry of the function with an address, nil if there is none.
func (f *callFrames) find(pc uint64) *frameEntry {
	i, found := slices.BinarySearchFunc(f.entries, pc, func(e frameEntry, pc uint64) int { return cmp.Compare(e.Lo, pc) })
	if !found {
		i--
	}
	if i < 0 || !f.entries[i].Contains(pc) {
		return nil
	}
	return &f.entries[i]
}

// at gives the rules that hold at an address. The bytes of instructions that are run for it are
// taken off steps.
func (f *callFrames) at(pc uint64, steps *int) (r frameRules, ok bool) {
	e := f.find(pc)
	if e == nil {
		return r, false
	}
	if *steps -= int(e.end - e.start + e.cie.end - e.cie.start); *steps < 0 {
		return r, false
	}
	run := frameRun{
		cie: e.cie, pc: pc,
		rules: frameRules{regs: make(map[uint64]regRule), returnReg: e.cie.returnReg},
	}
	if !run.instructions(f.data, e.cie.start, e.cie.end) {
		return r, false
	}
	run.initial, run.loc = maps.Clone(run.rules.regs), e.Lo
	return run.rules, run.instructions(f.data, e.start, e.end)
}

// A frameRun runs the instructions of an entry up to an address.
type frameRun struct {
	cie     *frameCommon
	rules   frameRules
	initial map[uint64]regRule
	saved   []frameRules
	loc, pc uint64
}

// Call frame instructions (DWARF 5, 7.24).
const (
	cfaAdvance         = 1 // in the high 2 bits
	cfaOffset          = 2
	cfaRestore         = 3
	cfaNop             = 0x00
	cfaSetLoc          = 0x01
	cfaAdvance1        = 0x02
	cfaAdvance2        = 0x03
	cfaAdvance4        = 0x04
	cfaOffsetExtended  = 0x05
	cfaRestoreExtended = 0x06
	cfaUndefined       = 0x07
	cfaSameValue       = 0x08
	cfaRegister        = 0x09
	cfaRemember        = 0x0a
	cfaRestoreState    = 0x0b
	cfaDef             = 0x0c
	cfaDefRegister     = 0x0d
	cfaDefOffset       = 0x0e
	cfaDefExpression   = 0x0f
	cfaExpression      = 0x10
	cfaOffsetSigned    = 0x11
	cfaDefSigned       = 0x12
	cfaDefOffsetSigned = 0x13
	cfaValOffset       = 0x14
	cfaValOffsetSigned = 0x15
	cfaValExpression   = 0x16
	cfaNegateRAState   = 0x2d // of arm64: the return address is signed, or no more
	cfaArgsSize        = 0x2e
)

// instructions runs some. It is not ok if one is not known.
func (r *frameRun) instructions(data []byte, start, end uint64) bool {
	c := &cursor{data: data[:end], off: start}
	for c.off < end && !c.bad && r.loc <= r.pc && len(r.rules.regs) <= maxRules {
		op := c.byte()
		low := uint64(op & 0x3f)
		switch op >> 6 {
		case cfaAdvance:
			r.loc += low * r.cie.codeAlign
		case cfaOffset:
			r.rules.regs[low] = regRule{kind: ruleOffset, offset: int64(c.uleb()) * r.cie.dataAlign}
		case cfaRestore:
			r.restore(low)
		default:
			if !r.extended(c, op) {
				return false
			}
		}
	}
	return !c.bad
}

// restore gives a register the rule that it had at first.
func (r *frameRun) restore(reg uint64) {
	if rule, ok := r.initial[reg]; ok {
		r.rules.regs[reg] = rule
		return
	}
	delete(r.rules.regs, reg)
}

func (r *frameRun) extended(c *cursor, op byte) bool {
	switch op {
	case cfaNop:
	case cfaSetLoc:
		r.loc = c.fixed(8)
	case cfaAdvance1, cfaAdvance2, cfaAdvance4:
		r.loc += c.fixed(1<<(op-cfaAdvance1)) * r.cie.codeAlign
	case cfaRemember:
		if len(r.saved) == maxSaved {
			return false
		}
		saved := r.rules
		saved.regs = maps.Clone(saved.regs)
		r.saved = append(r.saved, saved)
	case cfaRestoreState:
		if len(r.saved) == 0 {
			return false
		}
		r.rules, r.saved = r.saved[len(r.saved)-1], r.saved[:len(r.saved)-1]
	case cfaNegateRAState:
		r.rules.signed = !r.rules.signed
	case cfaArgsSize:
		c.uleb()
	case cfaDef, cfaDefSigned, cfaDefRegister, cfaDefOffset, cfaDefOffsetSigned, cfaDefExpression:
		r.define(c, op)
	default:
		return r.register(c, op)
	}
	return true
}

// define changes the rule of the CFA.
func (r *frameRun) define(c *cursor, op byte) {
	rules := &r.rules
	rules.cfaExpr = nil
	switch op {
	case cfaDef:
		rules.cfaReg, rules.cfaOffset = c.uleb(), int64(c.uleb())
	case cfaDefSigned:
		rules.cfaReg, rules.cfaOffset = c.uleb(), c.sleb()*r.cie.dataAlign
	case cfaDefRegister:
		rules.cfaReg = c.uleb()
	case cfaDefOffset:
		rules.cfaOffset = int64(c.uleb())
	case cfaDefOffsetSigned:
		rules.cfaOffset = c.sleb() * r.cie.dataAlign
	case cfaDefExpression:
		rules.cfaExpr = c.bytes(c.uleb())
	}
}

// register changes the rule of a register.
func (r *frameRun) register(c *cursor, op byte) bool {
	if op < cfaOffsetExtended || op > cfaValExpression {
		return false
	}
	reg := c.uleb()
	align := r.cie.dataAlign
	rule := regRule{}
	switch op {
	case cfaOffsetExtended:
		rule = regRule{kind: ruleOffset, offset: int64(c.uleb()) * align}
	case cfaOffsetSigned:
		rule = regRule{kind: ruleOffset, offset: c.sleb() * align}
	case cfaValOffset:
		rule = regRule{kind: ruleValOffset, offset: int64(c.uleb()) * align}
	case cfaValOffsetSigned:
		rule = regRule{kind: ruleValOffset, offset: c.sleb() * align}
	case cfaRegister:
		rule = regRule{kind: ruleRegister, reg: c.uleb()}
	case cfaExpression, cfaValExpression:
		c.bytes(c.uleb())
		rule = regRule{kind: ruleUnknown}
	case cfaRestoreExtended:
		r.restore(reg)
		return true
	case cfaSameValue:
		delete(r.rules.regs, reg)
		return true
	}
	r.rules.regs[reg] = rule
	return true
}
