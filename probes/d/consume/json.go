package consume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"trapline/probes/d/agg"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// JSON shows a trace as objects of JSON, one to a line: records and aggregations on one
// stream, faults and drops on the other. What an object holds is in docs/format.md; members
// are added there and never change. What actions ask of the host or do to aggregations
// happens as with Text.
type JSON struct {
	text *Text
}

// A jsonProbe and the types below are the objects, member by member.
type jsonProbe struct {
	ID     uint32 `json:"id"`
	Prov   string `json:"provider"`
	Module string `json:"module"`
	Func   string `json:"function"`
	Name   string `json:"name"`
}

type jsonRecord struct {
	Type   string     `json:"type"`
	Time   uint64     `json:"timestamp"`
	CPU    int        `json:"cpu"`
	EPID   uint32     `json:"epid"`
	Probe  jsonProbe  `json:"probe"`
	Output []jsonItem `json:"output"`
}

// A jsonItem has what its action has: text what is printed, value what is recorded.
type jsonItem struct {
	Action  string    `json:"action"`
	Command *string   `json:"command,omitempty"`
	CType   string    `json:"ctype,omitempty"`
	Text    *string   `json:"text,omitempty"`
	Value   any       `json:"value,omitempty"`
	Args    []any     `json:"args,omitempty"`
	Rows    []jsonRow `json:"rows,omitempty"`
}

type jsonRow struct {
	Type   string    `json:"type,omitempty"`
	Keys   []any     `json:"keys"`
	Values []jsonAgg `json:"values"`
}

type jsonAgg struct {
	Name    string       `json:"name"`
	Fn      string       `json:"function"`
	Value   *int64       `json:"value,omitempty"`
	Buckets []jsonBucket `json:"buckets,omitempty"`
}

// A jsonBucket has one of its first three members.
type jsonBucket struct {
	From  *int64 `json:"value,omitempty"`
	Below *int64 `json:"below,omitempty"`
	Above *int64 `json:"above,omitempty"`
	Count int64  `json:"count"`
}

type jsonFault struct {
	Type   string    `json:"type"`
	EPID   uint32    `json:"epid"`
	Probe  jsonProbe `json:"probe"`
	Fault  string    `json:"fault"`
	Action int       `json:"action"`
	Offset int       `json:"offset"`
}

type jsonDrops struct {
	Type         string `json:"type"`
	CPU          int    `json:"cpu"`
	Records      uint64 `json:"records"`
	Aggregations uint64 `json:"aggregations"`
	Variables    uint64 `json:"dynamic_variables"`
	Spec         uint64 `json:"speculations"`
	SpecFails    uint64 `json:"failed_speculations"`
	Errors       uint64 `json:"errors"`
}

// NewJSON makes a printer of t. It fails on a malformed format in the program.
func NewJSON(t *Trace, o option.View, out, err io.Writer) (*JSON, error) {
	text, e := NewText(t, o, out, err)
	if e != nil {
		return nil, e
	}
	return &JSON{text}, nil
}

// Flush writes what waits.
func (j *JSON) Flush() error { return j.text.Flush() }

// Record shows a firing; with the option quiet, if an action has something to show.
func (j *JSON) Record(r *Record) error {
	out := jsonRecord{Type: "record", Time: r.Time, CPU: r.CPU, EPID: r.EPID, Probe: jsonProbe(r.Probe), Output: []jsonItem{}}
	for i := range r.Items {
		out.Output = append(out.Output, j.item(&r.Items[i])...)
	}
	if len(out.Output) > 0 || !j.text.opts.Quiet {
		j.text.buf = appendJSON(j.text.buf, out)
	}
	if err := j.text.failed; err != nil {
		return err
	}
	return j.text.flushIfMuch()
}

// Fault writes a run-time error.
func (j *JSON) Fault(f Fault) error {
	return j.tell(jsonFault{"fault", f.EPID, jsonProbe(f.Probe), f.Text, f.Action, f.Offset})
}

// Drops writes how many of each kind, if any.
func (j *JSON) Drops(d Drops) error {
	out := jsonDrops{"drops", d.CPU, d.Records, d.Aggregations, d.Variables, d.Spec, d.SpecFails, d.Errors}
	if out == (jsonDrops{Type: "drops", CPU: d.CPU}) {
		return nil
	}
	return j.tell(out)
}

func (j *JSON) tell(v any) error {
	if _, err := j.text.err.Write(appendJSON(nil, v)); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}

// End shows the aggregations that no printa has printed, one row to a line, and flushes.
func (j *JSON) End() error {
	for _, tab := range j.text.trace.Tables {
		if tab.Printed {
			continue
		}
		for _, r := range j.text.snapshot([]*agg.Table{tab}) {
			row := j.row([]*agg.Table{tab}, r)
			row.Type = "aggregation"
			j.text.buf = appendJSON(j.text.buf, row)
		}
	}
	return j.Flush()
}

// appendJSON appends an object and the end of its line.
func appendJSON(b []byte, v any) []byte {
	w := bytes.NewBuffer(b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("consume: %T as JSON: %v", v, err)) // every type above can be encoded
	}
	return w.Bytes()
}

// item is what an action shows: nothing, or one element of the output; of trace, one for
// each value.
func (j *JSON) item(it *Item) []jsonItem {
	name := it.Action.Act.String()
	switch it.Action.Act {
	case code.Trace, code.Stack, code.UStack, code.Exit:
		var out []jsonItem
		for i := range it.Values {
			out = append(out, jsonItem{Action: name, Value: j.value(&it.Values[i])})
		}
		return out
	case code.SymOf:
		return []jsonItem{{Action: name, Value: j.address(it.Values[0].Int)}}
	case code.Print:
		shape := it.Action.Shape
		return []jsonItem{{Action: name, CType: shape.String(), Value: j.typed(shape, &it.Values[0])}}
	case code.Tracemem:
		return []jsonItem{{Action: name, Value: jsonBytes(it.memory())}}
	case code.Printf:
		return []jsonItem{{Action: name, Text: j.formatted(it), Args: j.values(it.Values)}}
	case code.Printa:
		return []jsonItem{j.printa(it.Action)}
	case code.System:
		return []jsonItem{j.system(it)}
	default:
		j.text.act(it)
	}
	return nil
}

func (j *JSON) formatted(it *Item) *string {
	s := j.text.asText(it)
	return &s
}

// system is an item with a command and what it has printed.
func (j *JSON) system(it *Item) jsonItem {
	var out bytes.Buffer
	terminal := j.text.out
	j.text.out = &out
	j.text.host(it)
	j.text.out = terminal
	text := out.String()
	return jsonItem{Action: it.Action.Act.String(), Command: j.formatted(it), Text: &text}
}

// printa is an item with the rows of the aggregations, and what a format makes of them.
func (j *JSON) printa(a *code.Action) jsonItem {
	t := j.text
	tabs := t.tables(a)
	out := jsonItem{Action: a.Act.String(), Rows: []jsonRow{}}
	if f := t.formats[a]; f != nil {
		s := t.made(func() { t.formatRows(f, tabs) })
		out.Text = &s
	}
	for _, r := range t.snapshot(tabs) {
		out.Rows = append(out.Rows, j.row(tabs, r))
	}
	return out
}

func (j *JSON) row(tabs []*agg.Table, r agg.Row) jsonRow {
	out := jsonRow{Keys: []any{}}
	for i, k := range tabs[0].Keys {
		v := keyValue(k, r.Key[i])
		out.Keys = append(out.Keys, j.value(&v))
	}
	for i, tab := range tabs {
		out.Values = append(out.Values, j.aggregate(tab, r.Data[i]))
	}
	return out
}

func (j *JSON) aggregate(tab *agg.Table, data []int64) jsonAgg {
	out := jsonAgg{Name: "@" + tab.Name, Fn: tab.Fn.String()}
	if !tab.Fn.Distribution() {
		n := tab.Number(data, tab.Normal)
		out.Value = &n
		return out
	}
	for i, n := range data {
		if n == 0 {
			continue
		}
		b := jsonBucket{Count: n / tab.Normal}
		switch v, edge := tab.Bucket(i); edge {
		case agg.Below:
			b.Below = &v
		case agg.Above:
			b.Above = &v
		default:
			b.From = &v
		}
		out.Buckets = append(out.Buckets, b)
	}
	return out
}
