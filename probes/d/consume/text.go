package consume

import (
	"fmt"
	"io"
	"slices"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// Text shows a trace as dtrace(1) does: records and aggregations on one stream, faults and
// drops on the other. Output waits in memory until Flush, or until there is much of it.
type Text struct {
	trace   *Trace
	opts    option.View
	out     io.Writer
	err     io.Writer
	buf     []byte
	full    int  // how long buf may become while print shows a value
	started bool // the header is out
	formats map[*code.Action]*code.Format
	flows   map[int]*flow // by CPU
	failed  error         // of an action on the host
}

// flushAt is when output that waits is written, in bytes.
const flushAt = 32 << 10

// NewText makes a printer of t. It fails on a malformed format in the program.
func NewText(t *Trace, o option.View, out, err io.Writer) (*Text, error) {
	x := &Text{trace: t, opts: o, out: out, err: err, formats: make(map[*code.Action]*code.Format)}
	for _, c := range t.Program.Clauses {
		for i := range c.Actions {
			a := &c.Actions[i]
			if !printed(a) {
				continue
			}
			f, err := code.ParseFormat(a.Format)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", a.Line, err)
			}
			x.formats[a] = f
		}
	}
	return x, nil
}

// Flush writes what waits.
func (t *Text) Flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	_, err := t.out.Write(t.buf)
	t.buf = t.buf[:0]
	if err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

func (t *Text) flushIfMuch() error {
	if len(t.buf) < flushAt {
		return nil
	}
	return t.Flush()
}

// Record prints the columns of a firing, what its actions recorded, and the end of the
// line.
func (t *Text) Record(r *Record) error {
	if !t.opts.Quiet {
		t.columns(r)
	}
	for i := range r.Items {
		t.item(&r.Items[i])
	}
	if !t.opts.Quiet {
		t.buf = append(t.buf, '\n')
	}
	if err := t.failed; err != nil {
		return err
	}
	return t.flushIfMuch()
}

func (t *Text) columns(r *Record) {
	if !t.started {
		t.started = true
		if t.opts.FlowIndent {
			t.buf = fmt.Appendf(t.buf, "%3s %-41s\n", "CPU", "FUNCTION")
		} else {
			t.buf = fmt.Appendf(t.buf, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME")
		}
	}
	if t.opts.FlowIndent {
		t.flow(r)
		return
	}
	t.int(int64(r.CPU), 3)
	t.buf = append(t.buf, ' ')
	t.int(int64(r.Probe.ID), 6)
	t.buf = append(t.buf, ' ')
	t.blanks(32 - len(r.Probe.Func) - 1 - len(r.Probe.Name))
	t.buf = append(t.buf, r.Probe.Func...)
	t.buf = append(t.buf, ':')
	t.buf = append(t.buf, r.Probe.Name...)
	t.buf = append(t.buf, ' ')
}

func (t *Text) item(it *Item) {
	switch it.Action.Act {
	case code.Trace:
		for i := range it.Values {
			t.value(&it.Values[i])
		}
	case code.Print:
		t.print(it.Action.Shape, &it.Values[0])
	case code.Tracemem:
		t.rawDump(it.memory())
	case code.Printf:
		p := printer{Text: t, values: it.Values}
		p.format(t.formats[it.Action])
	case code.Printa:
		t.printa(it.Action)
	case code.SymOf:
		t.symOf(it.Action.Args[0].Type.Form, it.Values[0].Int)
	case code.Stack, code.UStack:
		for _, v := range it.Values {
			t.buf = t.stack(t.buf, v.Stack)
		}
	default:
		t.act(it)
	}
}

// act does what an action does that shows nothing by itself.
func (t *Text) act(it *Item) {
	switch act := it.Action.Act; {
	case act.OnHost():
		t.host(it)
	case act.OnAggs():
		t.change(it)
	}
}

// value prints a value that was traced.
func (t *Text) value(v *Value) {
	switch {
	case v.Kind == buffer.Stack:
		t.buf = t.stack(t.buf, v.Stack)
	case v.Kind == buffer.Bytes, v.Kind == buffer.String && t.opts.RawBytes:
		t.rawDump(v.Bytes)
	case v.Kind == buffer.String && t.opts.Quiet:
		t.buf = append(t.buf, v.Bytes...)
	case v.Kind == buffer.String:
		t.string(v.Bytes, 33)
	case t.opts.Quiet:
		t.int(traced(v.Int, v.Size), 0)
	default:
		t.number(v.Int, v.Size)
	}
}

// columnOf is the width in which an integer of so many bytes is printed.
var columnOf = [...]int{1: 3, 2: 5, 4: 8, 8: 16}

// number prints an integer in the column of its size: 8, 4, 2 or 1 bytes.
func (t *Text) number(v uint64, size int) {
	t.buf = append(t.buf, ' ')
	t.int(traced(v, size), columnOf[size])
}

// traced is an integer as trace() and keys show it: of 8 and 4 bytes always signed, of
// fewer never.
func traced(v uint64, size int) int64 {
	switch size {
	case 1:
		return int64(uint8(v))
	case 2:
		return int64(uint16(v))
	case 4:
		return int64(int32(v))
	}
	return int64(v)
}

// string prints s in a column of at least width, two blanks before it.
func (t *Text) string(s []byte, width int) {
	t.buf = append(t.buf, "  "...)
	t.buf = append(t.buf, s...)
	t.blanks(width - len(s))
}

// Fault prints what dtrace(1) says of a run-time error.
func (t *Text) Fault(f Fault) error {
	where := "predicate"
	if f.Action > 0 {
		where = fmt.Sprintf("action #%d", f.Action)
	}
	p := f.Probe
	return t.complain("error on enabled probe ID %d (ID %d: %s:%s:%s:%s): %s in %s at DIF offset %d",
		f.EPID, p.ID, p.Prov, p.Module, p.Func, p.Name, f.Text, where, f.Offset)
}

// Drops prints a line for each kind of drop.
func (t *Text) Drops(d Drops) error {
	onCPU := fmt.Sprintf(" on CPU %d", d.CPU)
	for _, k := range []struct {
		n               uint64
		tag, word, rest string
	}{
		{d.Records, "PRINCIPAL", "drop", onCPU},
		{d.Aggregations, "AGGREGATION", "aggregation drop", onCPU},
		{d.Variables, "DYNAMIC", "dynamic variable drop", ""},
		{d.Spec, "SPEC", "speculative drop", ""},
		{d.SpecFails, "SPECUNAVAIL", "failed speculation", " (no speculative buffer available)"},
		{d.Errors, "DBLERROR", "error", " in ERROR probe enabling"},
	} {
		if k.n == 0 {
			continue
		}
		if err := t.complain("%s%d %s%s", t.dropTag(k.tag), k.n, plural(k.word, k.n), k.rest); err != nil {
			return err
		}
	}
	return nil
}

// dropTag is what stands before a drop of a kind.
func (t *Text) dropTag(kind string) string {
	if !t.opts.DropTags {
		return ""
	}
	return "[DTRACEDROP_" + kind + "] "
}

func plural(word string, n uint64) string {
	if n > 1 {
		return word + "s"
	}
	return word
}

func (t *Text) complain(format string, args ...any) error {
	if _, err := fmt.Fprintf(t.err, "dtrace: "+format+"\n", args...); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}

// End prints an empty line and the aggregations that no printa has printed, in the order
// of their declaration or, with aggsortrev, the other way round, and flushes.
func (t *Text) End() error {
	t.buf = append(t.buf, '\n')
	tabs := slices.Clone(t.trace.Tables)
	if t.opts.Order.Rev {
		slices.Reverse(tabs)
	}
	for _, tab := range tabs {
		if !tab.Printed {
			t.rows([]*agg.Table{tab})
		}
	}
	return t.Flush()
}
