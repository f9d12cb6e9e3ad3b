// Package tracejson reads the aggregations of a trace that trapline dtrace --format json has
// written. docs/format.md describes the format.
package tracejson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Row is the value of one aggregation for one tuple of keys.
type Row struct {
	Name     string // of the aggregation: "@", "@time"
	Function string // "count", "quantize"
	Keys     []Key
	Value    int64    // of functions that have one number
	Buckets  []Bucket // of distributions, those that are not empty, in order
}

// A Key is a part of a tuple: a text, a number or a stack.
type Key struct {
	Text  string  // as it is shown in a line
	Stack []Frame // of a stack, innermost first; nil for others
}

// A Frame is an address in a stack.
type Frame struct {
	Address, Module, Symbol string
	Offset                  uint64
}

// String is the name of the function, or the address where there is none.
func (f Frame) String() string {
	if f.Symbol == "" {
		return f.Address
	}
	return f.Symbol
}

// A Bucket is a part of a distribution.
type Bucket struct {
	Label string // the number before it: "4096", "<0" and ">=10" at open ends
	Count int64
}

// Read reads the aggregations of a trace, in their order. Lines of other kinds, and what the
// guest's command has written between them, are passed over.
func Read(r io.Reader) (rows []Row, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"aggregation"`)) {
			continue
		}
		more, err := parse(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("reading a trace: %w", err)
		}
		rows = append(rows, more...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a trace: %w", err)
	}
	return rows, nil
}

// object is the part of a line that is still to be read.
type object struct {
	Keys   []json.RawMessage
	Values []struct {
		Name, Function string
		Value          int64
		Buckets        []struct {
			Value, Below, Above *int64
			Count               int64
		}
	}
}

func parse(line []byte) (rows []Row, err error) {
	var o object
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, err
	}
	var keys []Key
	for _, raw := range o.Keys {
		k, err := key(raw)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	for _, v := range o.Values {
		row := Row{Name: v.Name, Function: v.Function, Keys: keys, Value: v.Value}
		for _, b := range v.Buckets {
			row.Buckets = append(row.Buckets, Bucket{label(b.Value, b.Below, b.Above), b.Count})
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func label(value, below, above *int64) string {
	switch {
	case below != nil:
		return "<" + strconv.FormatInt(*below, 10)
	case above != nil:
		return ">=" + strconv.FormatInt(*above, 10)
	case value != nil:
		return strconv.FormatInt(*value, 10)
	}
	return ""
}

// key reads a key: a string, a number, a list of frames, or an object as it stands there.
func key(raw json.RawMessage) (k Key, err error) {
	switch raw[0] {
	case '"':
		err = json.Unmarshal(raw, &k.Text)
	case '[':
		err = json.Unmarshal(raw, &k.Stack)
		names := make([]string, len(k.Stack))
		for i, f := range k.Stack {
			names[i] = f.String()
		}
		k.Text = strings.Join(names, " < ")
	case '{':
		var f Frame
		if err = json.Unmarshal(raw, &f); f.Address != "" {
			k.Text = f.String()
			break
		}
		k.Text = string(raw)
	default:
		k.Text = string(raw)
	}
	return k, err
}
