package consume

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"trapline/kernel/ctypes"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// wide is a union of many members, each of which is one, and so on.
func wide(name string, of *ctypes.Type) *ctypes.Type {
	for range maxDepth {
		inner := of
		of = ctypes.Lazy(ctypes.Union, "", func(u *ctypes.Type) {
			u.Size = inner.Bytes()
			for range 100 {
				u.Fields = append(u.Fields, ctypes.Field{Name: name, Type: inner})
			}
		})
	}
	return of
}

// bothWays is a value as print writes it, as text and as JSON.
func bothWays(t *testing.T, typ *ctypes.Type, p []byte) (text, asJSON string) {
	t.Helper()
	s := newStage(t, code.Action{Act: code.Print, Shape: typ})
	s.text().print(typ, &Value{Kind: buffer.Bytes, Bytes: p})
	text = string(s.text().buf)
	b, err := json.Marshal(new(JSON).typed(typ, &Value{Kind: buffer.Bytes, Bytes: p}))
	if err != nil {
		t.Fatal(err)
	}
	return text, string(b)
}

// A value takes no more room than a multiple of its bytes, whatever its type says of them.
func TestPrintWide(t *testing.T) {
	long := strings.Repeat("x", 10000)
	function := ctypes.CharType
	for range 100 {
		function = ctypes.PointerTo(ctypes.FuncOf(function, []*ctypes.Type{ctypes.TypedefOf(long, ctypes.IntType)}, false))
	}
	for name, typ := range map[string]*ctypes.Type{
		"members":    wide("m", ctypes.CharType),
		"anonymous":  wide("", ctypes.CharType),
		"long names": wide(long, ctypes.CharType),
		"text":       wide("t", ctypes.ArrayOf(ctypes.CharType, 1000)),
		"no bytes":   wide("n", ctypes.ArrayOf(ctypes.IntType, 0)),
		"functions":  wide("f", function),
	} {
		p := bytes.Repeat([]byte{'a'}, typ.Bytes())
		text, asJSON := bothWays(t, typ, p)
		longest := room(p) + 1<<25 // a member more, with its type
		if len(text) > longest || len(asJSON) > longest {
			t.Errorf("%s: %d bytes of text, %d of JSON, of %d", name, len(text), len(asJSON), len(p))
		}
		if !strings.Contains(text, "?") {
			t.Errorf("%s: nothing says that it is not all", name)
		}
	}
}

// What has room is shown wholly: every byte of it on a line of its own, or in a list.
func TestPrintLarge(t *testing.T) {
	const n = 100_000
	s := ctypes.Incomplete(ctypes.Struct, "large")
	var fields []ctypes.Field
	for range n {
		fields = append(fields, ctypes.Field{Name: "a_long_name_of_a_member", Type: ctypes.Named("uint8_t")})
	}
	if err := s.Complete(fields, n); err != nil {
		t.Fatal(err)
	}
	for _, typ := range []*ctypes.Type{s, ctypes.ArrayOf(ctypes.Named("uint8_t"), n)} {
		text, asJSON := bothWays(t, typ, bytes.Repeat([]byte{1}, n))
		if strings.Contains(text, "?") || strings.Count(text, "0x1") != n || strings.Contains(asJSON, "null") {
			t.Errorf("of %d values %d are shown", n, strings.Count(text, "0x1"))
		}
	}
}
