package consume

import (
	"errors"
	"fmt"

	"trapline/probes/d/code"
)

// printed reports whether an action prints through a format. That of printf and its kin may be
// empty.
func printed(a *code.Action) bool { return a.Act.Takes() == code.TakesFormat || a.Format != "" }

// memory is what tracemem() shows: as many bytes as count, all if there is no number of
// them or a strange one.
func (it *Item) memory() []byte {
	p := it.Values[0].Bytes
	if len(it.Values) > 1 {
		if n := int64(it.Values[1].Int); n >= 0 && n < int64(len(p)) {
			p = p[:n]
		}
	}
	return p
}

// host does what an action asks of the host, after all that was printed before it.
func (t *Text) host(it *Item) {
	if err := t.onHost(it); err != nil && t.failed == nil {
		if err := t.complain("%s( ): %v", it.Action.Act, err); err != nil {
			t.failed = err
		}
	}
}

func (t *Text) onHost(it *Item) error {
	h := t.trace.Host
	if h == nil {
		return errors.New("not possible here")
	}
	if it.Action.Act == code.Setopt {
		return t.setopt(h, it.Values)
	}
	text := t.asText(it)
	if err := t.Flush(); err != nil {
		t.failed = err
		return nil
	}
	switch it.Action.Act {
	case code.System:
		return h.System(text, t.out)
	case code.Ftruncate:
		return h.Truncate(t.out)
	}
	w, err := h.Reopen(text)
	if err != nil {
		return err
	}
	t.out = w
	return nil
}

// asText is what an action has printed through its format.
func (t *Text) asText(it *Item) string {
	f := t.formats[it.Action]
	if f == nil {
		return ""
	}
	return t.made(func() {
		p := printer{Text: t, values: it.Values}
		p.format(f)
	})
}

// made is what a function prints, which then is not printed.
func (t *Text) made(print func()) string {
	start := len(t.buf)
	print()
	text := string(t.buf[start:])
	t.buf = t.buf[:start]
	return text
}

func (t *Text) setopt(h Host, values []Value) error {
	name, value := string(values[0].Bytes), ""
	if len(values) > 1 {
		value = string(values[1].Bytes)
	}
	if name == "oformat" {
		return errors.New("oformat=" + value + ": it cannot be set while a trace runs")
	}
	known, err := t.opts.Set(name, value)
	if !known {
		err = h.SetOption(name, value)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return nil
}
