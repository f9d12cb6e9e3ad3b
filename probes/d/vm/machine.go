package vm

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A Machine runs one program: it owns its variables, aggregations and buffers. It serves
// all CPUs, one at a time.
type Machine struct {
	// OnFault, if set, is called at a fault, between two clauses: it may call Fire for the
	// ERROR probe. A fault in there is only counted.
	OnFault func(Env, Fault)
	// Base, if set, is the address under which an aggregation keeps all those that have the
	// same form: the start of the symbol, or one address of the module.
	Base func(form code.Form, addr uint64) uint64
	// ErrorFaults counts faults in clauses of the ERROR probe.
	ErrorFaults uint64

	// SpecDrops counts records that found no room in a speculation, SpecFails calls of
	// speculation() when none was free.
	SpecDrops, SpecFails uint64

	prog    *code.Program
	cfg     option.Limits
	clauses []clause
	tables  []*agg.Table
	aggs    aggRoom
	bufs    []*buffer.Buffer
	consts  []code.Ref // of Program.Strings
	lits    []byte     // their bytes
	globals []variable
	dyn     dynTable
	zeros   []byte // what new parts of dynamic variables are made of
	specs   []speculation
	seed    uint64 // of rand
	chill   chilled
	frames  []*frame // of firings within firings
	depth   int
	times   uint64 // firings that the one under way stands for
	exited  bool
	status  int32
}

// An Enabling is one clause at one probe.
type Enabling struct {
	EPID   uint32 // number of the enabling, never 0
	Clause int    // index into Program.Clauses
}

// New makes a machine for a program with all variables unset. It fails on a program that
// does not verify or whose aggregations have no buckets.
func New(p *code.Program, cfg option.Limits) (*Machine, error) {
	if err := check(p); err != nil {
		return nil, err
	}
	if err := checkLimits(cfg); err != nil {
		return nil, err
	}
	m := &Machine{prog: p, cfg: cfg, globals: make([]variable, len(p.Vars)), times: 1}
	m.dyn.limit, m.dyn.chunk = cfg.DynVarSize, chunk(p)
	m.specs = make([]speculation, cfg.NSpec)
	for _, s := range p.Strings {
		m.consts = append(m.consts, code.MakeRef(uint32(len(m.lits)), uint32(len(s))))
		m.lits = append(m.lits, s...)
	}
	m.aggs.Budget = agg.NewBudget(cfg.AggSize)
	for _, a := range p.Aggs {
		t, err := newTable(a, m.aggs.Budget)
		if err != nil {
			return nil, err
		}
		m.tables = append(m.tables, t)
	}
	for _, c := range p.Clauses {
		m.clauses = append(m.clauses, m.prepare(c))
	}
	for cpu := range cfg.CPUs {
		b := buffer.New(cpu, cfg.BufSize)
		b.Policy = cfg.BufPolicy
		m.bufs = append(m.bufs, b)
	}
	m.frames = []*frame{newFrame(m)}
	return m, nil
}

// depth0 is how many frames a stack has that does not say.
func (m *Machine) depth0(user bool) int {
	if user {
		return m.cfg.UStackFrames
	}
	return m.cfg.StackFrames
}

// newTable makes the table of an aggregation.
func newTable(a code.Agg, b *agg.Budget) (*agg.Table, error) {
	s := agg.Spec{Name: a.Name, Fn: a.Fn, Args: a.Args}
	for _, t := range a.Keys {
		k := agg.Key{Kind: agg.KeyBytes, Size: t.Size, Signed: t.Signed}
		switch {
		case t.Form != code.Number:
			k.Kind, k.Form = agg.KeySym, uint8(t.Form)
		case t.Kind == code.Int:
			k.Kind = agg.KeyInt
		case t.Kind == code.String:
			k.Kind = agg.KeyString
		case t.Kind == code.Frames:
			k.Kind = agg.KeyStack
		}
		s.Keys = append(s.Keys, k)
	}
	return agg.NewShared(s, b)
}

// Tables are the aggregations, in the order of Program.Aggs.
func (m *Machine) Tables() []*agg.Table { return m.tables }

// Buffers are the buffers, one for each CPU.
func (m *Machine) Buffers() []*buffer.Buffer { return m.bufs }

// Layouts are the layouts of the clauses' records, in the order of Program.Clauses.
func (m *Machine) Layouts() []*buffer.Layout {
	l := make([]*buffer.Layout, len(m.clauses))
	for i := range l {
		l[i] = &m.clauses[i].layout
	}
	return l
}

// Filled says whether a buffer of policy fill has no room left: the trace is over.
func (m *Machine) Filled() bool {
	for _, b := range m.bufs {
		if b.Filled {
			return true
		}
	}
	return false
}

// VarDrops counts stores that found no room for a dynamic variable.
func (m *Machine) VarDrops() uint64 { return m.dyn.drops }

// Exited says whether an exit action has run, and with which status: that of the last.
func (m *Machine) Exited() (status int, ok bool) { return int(m.status), m.exited }

// Fire runs clauses at a firing, in order. this-> variables are unset at its start and
// live until its end. After the first exit of the trace the rest of the firing's clauses
// do not run.
func (m *Machine) Fire(env Env, es []Enabling) {
	if m.depth == len(m.frames) {
		m.frames = append(m.frames, newFrame(m))
	}
	f := m.frames[m.depth]
	m.depth++
	f.begin(env)
	exited := m.exited
	for _, e := range es {
		if !f.clause(e) {
			m.fault(env, f.fault)
		}
		if m.exited && !exited {
			break
		}
	}
	m.depth--
}

func (m *Machine) fault(env Env, f Fault) {
	switch {
	case m.depth > 1:
		m.ErrorFaults++
	case m.OnFault != nil:
		m.OnFault(env, f)
	}
}
