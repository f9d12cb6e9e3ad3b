package consume

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// printa prints aggregations in the middle of a trace: as they stand now.
func (t *Text) printa(a *code.Action) {
	tabs := t.tables(a)
	if f := t.formats[a]; f != nil {
		t.formatRows(f, tabs)
		return
	}
	t.buf = append(t.buf, '\n')
	t.rows(tabs)
}

func (t *Text) tables(a *code.Action) []*agg.Table {
	tabs := make([]*agg.Table, len(a.Aggs))
	for i, n := range a.Aggs {
		tabs[i] = t.trace.Tables[n]
	}
	return tabs
}

// change does what an action on an aggregation asks for.
func (t *Text) change(it *Item) {
	tab := t.trace.Tables[it.Action.Aggs[0]]
	n := int64(0)
	if len(it.Values) > 0 {
		n = int64(it.Values[0].Int)
	}
	switch it.Action.Act {
	case code.Clear:
		tab.Clear()
	case code.Trunc:
		tab.Truncate(n)
	case code.Normalize:
		tab.Normal = n
	case code.Denormalize:
		tab.Normal = 1
	}
}

func (t *Text) snapshot(tabs []*agg.Table) []agg.Row {
	rows := agg.Snapshot(t.opts.Order, tabs...)
	for _, tab := range tabs {
		tab.Printed = tab.Printed || len(rows) > 0
	}
	return rows
}

// rows prints aggregations in the default form: the keys, then a value of each.
func (t *Text) rows(tabs []*agg.Table) {
	all := t.snapshot(tabs)
	if len(tabs) == 1 && t.barRows(tabs[0], all) {
		return
	}
	for _, r := range all {
		for i, k := range tabs[0].Keys {
			t.key(k, r.Key[i])
		}
		for i, tab := range tabs {
			if tab.Fn.Distribution() {
				t.buf = t.appendDistribution(t.buf, tab, r.Data[i])
			} else {
				t.number(uint64(tab.Number(r.Data[i], tab.Normal)), 8)
			}
		}
		t.buf = append(t.buf, '\n')
	}
}

func (t *Text) key(k agg.Key, p agg.Part) {
	switch k.Kind {
	case agg.KeyInt:
		t.number(p.Int, p.Size)
	case agg.KeyString:
		t.string(p.Bytes, 50)
	case agg.KeySym:
		t.symOf(formOf(k), p.Int)
	case agg.KeyStack:
		t.buf = t.stack(t.buf, p.Stack)
	default:
		t.rawDump(p.Bytes)
	}
}

// formatRows prints aggregations through a format, once for each row.
func (t *Text) formatRows(f *code.Format, tabs []*agg.Table) {
	for _, r := range t.snapshot(tabs) {
		p := printer{Text: t, tabs: tabs, data: r.Data}
		for i, k := range tabs[0].Keys {
			p.values = append(p.values, keyValue(k, r.Key[i]))
		}
		p.format(f)
	}
}

func formOf(k agg.Key) code.Form { return code.Form(k.Form) }

func keyValue(k agg.Key, p agg.Part) Value {
	switch k.Kind {
	case agg.KeyInt:
		return Value{Kind: buffer.Int, Size: p.Size, Signed: k.Signed, Int: k.Extend(p)}
	case agg.KeySym:
		return Value{Kind: buffer.Int, Size: 8, Int: p.Int, Form: formOf(k)}
	case agg.KeyString:
		return Value{Kind: buffer.String, Bytes: p.Bytes}
	case agg.KeyStack:
		return Value{Kind: buffer.Stack, Stack: p.Stack}
	}
	return Value{Kind: buffer.Bytes, Bytes: p.Bytes}
}
