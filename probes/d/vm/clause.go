package vm

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// A clause is one of the program's, made ready to run.
type clause struct {
	pred    *code.Func
	actions []action
	layout  buffer.Layout
	spec    bool // has a speculate action
	counts  bool // does nothing else: see OnlyCounts
	defers  bool // see Deferrable
	thread  bool // see AsksThread
}

// An action is one of a clause's, with what it writes to.
type action struct {
	*code.Action
	number int            // of its first value, from 1: see Fault.Action
	fields []buffer.Field // of its values in the record
	table  *agg.Table
	keys   []*code.Func // of an aggregation
	value  *code.Func   // of an aggregation, nil for count
	stack  int          // frames
}

// prepare lays out the records of a clause. One without actions says that its probe has
// fired; one whose actions all record nothing leaves no records.
func (m *Machine) prepare(c *code.Clause) clause {
	l := buffer.NewLayout()
	records := len(c.Actions) == 0 || len(c.Actions) == 1 && c.Actions[0].Act == code.Speculate
	out := clause{pred: c.Pred, counts: onlyCounts(m.prog, c), defers: m.cfg.BufPolicy != buffer.Fill && defers(c), thread: asksThread(m.prog, c)}
	number := 1
	var first []int
	for i := range c.Actions {
		a := action{Action: &c.Actions[i], number: number}
		m.bind(&a)
		first = append(first, len(l.Fields))
		for _, f := range m.recorded(&a) {
			f.Action = i
			l.Add(f)
		}
		records = records || a.Act.Records()
		out.spec = out.spec || a.Act == code.Speculate
		number += a.parts()
		out.actions = append(out.actions, a)
	}
	first = append(first, len(l.Fields))
	for i := range out.actions {
		out.actions[i].fields = l.Fields[first[i]:first[i+1]]
	}
	if records {
		out.layout = *l
	}
	return out
}

func (m *Machine) bind(a *action) {
	switch a.Act {
	case code.Aggregate:
		a.table = m.tables[a.Aggs[0]]
		n := len(m.prog.Aggs[a.Aggs[0]].Keys)
		a.keys = a.Args[:n]
		if len(a.Args) > n {
			a.value = a.Args[n]
		}
	case code.Stack, code.UStack:
		a.stack = a.Depth
		if a.stack == 0 {
			a.stack = m.depth0(a.Act == code.UStack)
		}
		a.stack = min(a.stack, maxFrames)
	}
}

// recorded is the values that the action records.
func (m *Machine) recorded(a *action) []buffer.Field {
	switch {
	case !a.Act.Records():
		return nil
	case a.Act.Takes() == code.TakesFrames:
		return []buffer.Field{{Kind: buffer.Stack, Size: buffer.StackSize(a.stack)}}
	}
	fields := make([]buffer.Field, len(a.Args))
	for i, f := range a.Args {
		fields[i] = m.field(f)
	}
	return fields
}

func (m *Machine) field(fn *code.Func) buffer.Field {
	t := fn.Type
	f := buffer.Field{Kind: buffer.Bytes, Size: t.Size, Signed: t.Signed}
	switch t.Kind {
	case code.Int:
		f.Kind = buffer.Int
	case code.String:
		f.Kind = buffer.String
	case code.Frames:
		if t.Size == 0 {
			t.Size = m.depth0(t.Name == "ustack")
		}
		f.Kind, f.Size = buffer.Stack, buffer.StackSize(t.Size)
	}
	return f
}

// parts is how many actions this is in the eyes of a fault's number.
func (a *action) parts() int {
	switch a.Act {
	case code.Printf:
		return max(len(a.Args), 1)
	case code.Aggregate:
		return len(a.keys) + 1
	}
	return 1
}

// clause runs one clause. It returns false at a fault, which f.fault then reports.
func (f *frame) clause(e Enabling) bool {
	c := &f.m.clauses[e.Clause]
	f.fault.EPID = e.EPID
	f.mem = f.mem[:len(f.m.lits)]
	if c.pred != nil {
		v, ok := f.run(c.pred)
		if !ok {
			f.fault.Action = 0
			return false
		}
		if v == 0 {
			return true
		}
	}
	if c.spec {
		return f.speculate(c, e.EPID)
	}
	if c.layout.Size == 0 {
		return f.actions(c, nil)
	}
	return f.record(c, e.EPID)
}

// record runs the actions of a clause that leaves a record. Where there is no room for it
// nothing runs.
func (f *frame) record(c *clause, epid uint32) bool {
	b := f.m.bufs[f.env.CPU()]
	rec := b.Reserve(c.layout.Size)
	if rec == nil {
		return true
	}
	if !f.actions(c, rec) {
		return false
	}
	b.Commit(c.layout.Size, buffer.Header{EPID: epid, Time: f.env.Now()})
	return true
}

func (f *frame) actions(c *clause, rec []byte) bool {
	for i := range c.actions {
		a := &c.actions[i]
		if part, ok := f.action(a, rec); !ok {
			f.fault.Action = a.number + part
			return false
		}
		if a.Act == code.Speculate && f.into == nil {
			break
		}
	}
	return true
}

// action runs one action. At a fault part is the value it was in, from 0.
func (f *frame) action(a *action, rec []byte) (part int, ok bool) {
	switch a.Act {
	case code.Eval:
		_, ok := f.run(a.Args[0])
		return 0, ok
	case code.Aggregate:
		return f.aggregate(a)
	case code.Speculate, code.Commit, code.Discard:
		_, ok := f.speculating(a)
		return 0, ok
	case code.Normalize:
		v, ok := f.run(a.Args[0])
		if ok && v == 0 {
			ok = f.fail(DivZero, 0)
		}
		if !ok {
			return 0, false
		}
		a.fields[0].PutInt(rec, v)
	case code.Stack:
		a.fields[0].PutStack(rec, f.frames(a.stack))
	case code.UStack:
		a.fields[0].PutStack(rec, f.userFrames(a.stack))
	case code.Exit:
		v, ok := f.run(a.Args[0])
		if !ok {
			return 0, false
		}
		a.fields[0].PutInt(rec, v)
		f.m.exited, f.m.status = true, int32(v)
	default:
		if a.Act.Immediate() {
			return 0, f.immediate(a)
		}
		for i, fn := range a.Args {
			v, ok := f.run(fn)
			if !ok {
				return i, false
			}
			f.put(&a.fields[i], rec, v)
		}
	}
	return 0, true
}

func (f *frame) put(field *buffer.Field, rec []byte, v uint64) {
	switch field.Kind {
	case buffer.Int:
		field.PutInt(rec, v)
	case buffer.String:
		field.PutString(rec, f.bytes(v))
	case buffer.Stack:
		field.PutFrames(rec, f.bytes(v))
	default:
		field.PutBytes(rec, f.bytes(v))
	}
}

func (f *frame) aggregate(a *action) (part int, ok bool) {
	f.key = f.key[:0]
	for i, fn := range a.keys {
		v, ok := f.run(fn)
		if !ok {
			return i, false
		}
		f.appendKey(&fn.Type, v)
	}
	value, incr := uint64(0), f.m.times
	if a.value != nil {
		if value, ok = f.run(a.value); !ok {
			return len(a.keys), false
		}
	}
	if a.Incr != nil {
		if incr, ok = f.run(a.Incr); !ok {
			return len(a.keys), false
		}
	}
	f.update(a.table, int64(value), int64(incr))
	return 0, true
}

// appendKey packs one part of an aggregation's key.
func (f *frame) appendKey(t *code.Type, v uint64) {
	switch t.Kind {
	case code.Int:
		if t.Form != code.Number && f.m.Base != nil {
			v = f.m.Base(t.Form, v)
		}
		f.key = agg.AppendInt(f.key, v, t.Size)
	case code.String:
		f.key = agg.AppendBytes(f.key, cut(f.bytes(v), t.Size))
	case code.Frames:
		f.key = agg.AppendFrames(f.key, f.bytes(v))
	default:
		f.key = agg.AppendBytes(f.key, f.bytes(v))
	}
}

func cut(s []byte, n int) []byte { return s[:min(len(s), n)] }

// narrow is v as a value of an integer type, extended to 64 bits by its sign.
func narrow(v uint64, t code.Type) uint64 {
	if t.Size >= 8 || t.Size == 0 {
		return v
	}
	unused := 64 - 8*t.Size
	if t.Signed {
		return uint64(int64(v<<unused) >> unused)
	}
	return v << unused >> unused
}
