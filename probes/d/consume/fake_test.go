package consume

import (
	"bytes"
	"strings"
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
)

// A stage is a trace made by hand: one clause, its records and aggregations.
type stage struct {
	t       testing.TB
	trace   Trace
	opts    option.View
	layout  *buffer.Layout
	buf     *buffer.Buffer
	out     bytes.Buffer
	err     bytes.Buffer
	printer *Text
}

var probe = Probe{ID: 1234, Prov: "kinst", Module: "vmlinux", Func: "vfs_read", Name: "17"}

func newStage(t testing.TB, actions ...code.Action) *stage {
	s := &stage{t: t, opts: option.DefaultView(), layout: buffer.NewLayout(), buf: buffer.New(0, 64<<10)}
	s.trace = Trace{
		Program: &code.Program{Clauses: []*code.Clause{{Actions: actions}}},
		Layouts: []*buffer.Layout{s.layout},
		Symbol:  fakeSymbol,
		Enabling: func(epid uint32) *Enabling {
			if epid != 1 {
				return nil
			}
			return &Enabling{Probe: probe}
		},
	}
	return s
}

// fakeSymbol knows one function, one module and nothing else.
func fakeSymbol(addr uint64) (module, name string, off uint64, ok bool) {
	switch {
	case addr >= 0x1000 && addr < 0x1100:
		return "vmlinux", "vfs_read", addr - 0x1000, true
	case addr >= 0x2000 && addr < 0x3000:
		return "ext4", "", 0, true
	}
	return "", "", 0, false
}

func (s *stage) text() *Text {
	if s.printer == nil {
		p, err := NewText(&s.trace, s.opts, &s.out, &s.err)
		if err != nil {
			s.t.Fatal(err)
		}
		s.printer = p
	}
	return s.printer
}

// field adds a value of an action to the layout.
func (s *stage) field(f buffer.Field) *stage {
	s.layout.Add(f)
	return s
}

// record writes a record of integers, strings and stacks and shows it.
func (s *stage) record(values ...any) *stage {
	s.t.Helper()
	rec := s.buf.Reserve(s.layout.Size)
	for i, v := range values {
		f := &s.layout.Fields[i]
		switch v := v.(type) {
		case int:
			f.PutInt(rec, uint64(v))
		case string:
			if f.Kind == buffer.Bytes {
				f.PutBytes(rec, []byte(v))
			} else {
				f.PutString(rec, []byte(v))
			}
		case []uint64:
			f.PutStack(rec, v)
		}
	}
	s.buf.Commit(s.layout.Size, buffer.Header{EPID: 1})
	if err := NewReader(&s.trace).Drain(s.buf, s.text()); err != nil {
		s.t.Error(err)
	}
	return s
}

func (s *stage) table(spec agg.Spec) *agg.Table {
	t, err := agg.New(spec, 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	s.trace.Tables = append(s.trace.Tables, t)
	return t
}

// want compares the output, with a $ at the end of each line, line by line.
func (s *stage) want(want string) {
	s.t.Helper()
	if err := s.text().Flush(); err != nil {
		s.t.Error(err)
	}
	got := strings.ReplaceAll(s.out.String(), "\n", "$\n")
	if want = strings.TrimPrefix(want, "\n"); got != want {
		s.t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func act(a code.Act) code.Action { return code.Action{Act: a} }

func printf(format string) code.Action { return code.Action{Act: code.Printf, Format: format} }
