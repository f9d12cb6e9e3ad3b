package consume

import (
	"slices"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// A Record is what one clause recorded at one firing.
type Record struct {
	CPU    int
	EPID   uint32
	Time   uint64 // virtual nanoseconds
	Probe  Probe
	Clause int
	// Again: the next record of this CPU is of the same probe, by another clause.
	Again bool
	Items []Item // one for each action of the clause, in order
}

// An Item is what one action recorded: nothing, when it shows nothing or its effect is
// elsewhere.
type Item struct {
	Action *code.Action
	Values []Value
}

// A Value is one recorded value.
type Value struct {
	Kind   buffer.Kind
	Size   int  // bytes of an integer
	Signed bool // of an integer
	Form   code.Form
	Int    uint64 // extended to 64 bits by its sign
	Bytes  []byte // of a string, without the NUL, or of bytes
	Stack  []uint64
}

// A Reader takes records apart. It keeps its memory between records.
type Reader struct {
	trace  *Trace
	counts func() // nil: no record shows aggregations
	rec    Record
	values []Value
}

// NewReader makes a reader of the records of t.
func NewReader(t *Trace) *Reader {
	r := &Reader{trace: t}
	if slices.ContainsFunc(t.Program.Clauses, (*code.Clause).OnAggs) {
		r.counts = t.Counts
	}
	return r
}

// Drain shows the records of b to s, oldest first, then the drops, and leaves b empty.
func (r *Reader) Drain(b *buffer.Buffer, s Sink) error {
	if r.counts != nil {
		r.counts()
	}
	var last struct {
		buffer.Header
		p []byte
	}
	show := func(next uint32) error {
		if last.p == nil {
			return nil
		}
		rec := r.decode(b.CPU, last.Header, last.p)
		rec.Again = next != 0 && next != rec.EPID && r.sameProbe(next, rec.Probe.ID)
		return s.Record(rec)
	}
	err := b.Records(r.layout, func(h buffer.Header, p []byte) error {
		err := show(h.EPID)
		last.Header, last.p = h, p
		return err
	})
	if err == nil {
		err = show(0)
	}
	b.Reset()
	if err == nil && b.Drops > 0 {
		err = s.Drops(Drops{CPU: b.CPU, Records: b.Drops})
		b.Drops = 0
	}
	return err
}

func (r *Reader) sameProbe(epid, id uint32) bool {
	e := r.trace.Enabling(epid)
	return e != nil && e.Probe.ID == id
}

func (r *Reader) layout(epid uint32) *buffer.Layout {
	if e := r.trace.Enabling(epid); e != nil {
		return r.trace.Layouts[e.Clause]
	}
	return nil
}

// decode fills r.rec in from a record that r.layout knows.
func (r *Reader) decode(cpu int, h buffer.Header, p []byte) *Record {
	rec := &r.rec
	if rec.EPID != h.EPID {
		r.shape(h.EPID)
	}
	rec.CPU, rec.Time = cpu, h.Time
	fields := r.trace.Layouts[rec.Clause].Fields
	for i := range fields {
		r.values[i].read(&fields[i], p)
	}
	return rec
}

// shape makes r.rec one of an enabling, and room for its values. Most records are of the same
// enabling as the one before.
func (r *Reader) shape(epid uint32) {
	e := r.trace.Enabling(epid)
	l := r.trace.Layouts[e.Clause]
	rec := &r.rec
	rec.EPID, rec.Probe, rec.Clause = epid, e.Probe, e.Clause
	r.values = r.values[:0]
	for _, f := range l.Fields {
		r.values = append(r.values, Value{Kind: f.Kind, Size: f.Size, Signed: f.Signed})
	}
	rec.Items = rec.Items[:0]
	actions := r.trace.Program.Clauses[e.Clause].Actions
	for i, n := 0, 0; i < len(actions); i++ {
		first := n
		for n < len(l.Fields) && l.Fields[n].Action == i {
			n++
		}
		rec.Items = append(rec.Items, Item{&actions[i], r.values[first:n]})
	}
}

// read takes a value of f's kind out of a record.
func (v *Value) read(f *buffer.Field, p []byte) {
	switch f.Kind {
	case buffer.Int:
		v.Int = f.Int(p)
	case buffer.String:
		v.Bytes = f.String(p)
	case buffer.Bytes:
		v.Bytes = f.Bytes(p)
	case buffer.Stack:
		v.Stack = f.Stack(p)
	}
}
