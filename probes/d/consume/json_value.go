package consume

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"trapline/kernel/ctypes"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// jsonBytes are bytes that are no text: {"bytes":"0badf00d"}.
type jsonBytes []byte

// MarshalJSON implements json.Marshaler.
func (b jsonBytes) MarshalJSON() ([]byte, error) {
	return []byte(`{"bytes":"` + hex.EncodeToString(b) + `"}`), nil
}

// jsonString is the text of a string, or its bytes where they are no UTF-8.
func jsonString(s []byte) any {
	if utf8.Valid(s) {
		return string(s)
	}
	return jsonBytes(s)
}

// A jsonSymbol is an address of the guest, and as much as is known of it.
type jsonSymbol struct {
	Addr   string  `json:"address"`
	Module string  `json:"module,omitempty"`
	Symbol string  `json:"symbol,omitempty"`
	Offset *uint64 `json:"offset,omitempty"`
	// Inlined is of a frame, with the option inlineframes.
	Inlined []string `json:"inlined,omitempty"`
}

func hexAddress(addr uint64) string { return fmt.Sprintf("0x%x", addr) }

func (j *JSON) address(addr uint64) jsonSymbol { return jsonPlace(addr, j.text.trace.symbol(addr)) }

func jsonPlace(addr uint64, s symbol) jsonSymbol {
	out := jsonSymbol{Addr: hexAddress(addr)}
	if s.ok {
		out.Module, out.Symbol = s.module, s.name
	}
	if s.name != "" {
		out.Offset = &s.off
	}
	return out
}

// values are the arguments of printf.
func (j *JSON) values(vs []Value) (out []any) {
	for i := range vs {
		out = append(out, j.value(&vs[i]))
	}
	return out
}

// value is a recorded value: a number, a string, bytes, an address with its symbol, or the
// list of those of a stack.
func (j *JSON) value(v *Value) any {
	switch {
	case v.Kind == buffer.Stack:
		frames := []any{}
		for i, pc := range v.Stack {
			frame := jsonPlace(pc, j.text.trace.frame(v.Stack, i))
			frame.Inlined = j.text.trace.inlined(v.Stack, i)
			frames = append(frames, frame)
		}
		return frames
	case v.Kind == buffer.Bytes:
		return jsonBytes(v.Bytes)
	case v.Kind == buffer.String:
		return jsonString(v.Bytes)
	case v.Form != code.Number:
		return j.address(v.Int)
	}
	return jsonInt(v.Int, 8*v.Size, v.Signed)
}

// jsonInt is an integer of so many bits by the sign of its type.
func jsonInt(v uint64, bits int, signed bool) any {
	unused := 64 - bits
	if signed {
		return int64(v<<unused) >> unused
	}
	return v << unused >> unused
}

// A jsonObject is a structure: its members in their order.
type jsonObject []jsonMember

type jsonMember struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), m.name...), '"', ':')
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

// typed is a value by its C type.
func (j *JSON) typed(typ *ctypes.Type, v *Value) any {
	if v.Kind == buffer.String {
		return jsonString(v.Bytes)
	}
	p := v.Bytes
	if v.Kind == buffer.Int {
		p = binary.LittleEndian.AppendUint64(nil, v.Int)[:v.Size]
	}
	return (&jsonShape{room(p)}).value(typ, p, 0)
}

// A jsonShape makes the value of a C type, and has room for as many characters.
type jsonShape struct{ room int }

// value is the bytes p by their C type: structures are objects, arrays lists, arrays
// of char strings, enumerations the names of their values, pointers strings. What is not
// there, or too deep, or has no room, is null.
func (j *jsonShape) value(typ *ctypes.Type, p []byte, depth int) any {
	b := typ.Base()
	j.room--
	switch {
	case len(p) < b.Size || depth > maxDepth || j.room < 0:
		return nil
	case b.Kind == ctypes.Struct || b.Kind == ctypes.Union:
		return j.members(b, p, depth)
	case b.Kind == ctypes.Array:
		return j.elements(b, p, depth)
	case b.Kind == ctypes.String:
		return j.text(p)
	case b.Size > 0 && b.Size <= 8:
		var word [8]byte
		copy(word[:], p[:b.Size])
		return jsonScalar(b, binary.LittleEndian.Uint64(word[:]), 8*b.Size)
	}
	return nil
}

// members takes the members of a member without a name as the structure's own. Those behind the one
// for which there is no room are left out.
func (j *jsonShape) members(typ *ctypes.Type, p []byte, depth int) jsonObject {
	out := jsonObject{}
	for i := 0; i < len(typ.Fields) && j.room >= 0; i++ {
		f := &typ.Fields[i]
		j.room -= len(f.Name)
		var v any
		if size := f.Type.Bytes(); f.Bits > 0 {
			v = jsonScalar(f.Type.Base(), bitsOf(f, p), f.Bits)
		} else if f.Offset+size <= len(p) {
			v = j.value(f.Type, p[f.Offset:f.Offset+size], depth+1)
		}
		if inner, ok := v.(jsonObject); ok && f.Name == "" {
			out = append(out, inner...)
		} else if f.Name != "" {
			out = append(out, jsonMember{f.Name, v})
		}
	}
	return out
}

func (j *jsonShape) elements(typ *ctypes.Type, p []byte, depth int) any {
	elem := typ.Elem.Base()
	if isChar(elem) {
		return j.text(p)
	}
	out := []any{}
	for i := range length(typ, p) {
		out = append(out, j.value(typ.Elem, p[i*elem.Size:(i+1)*elem.Size], depth+1))
	}
	return out
}

func (j *jsonShape) text(p []byte) any {
	s, _, _ := bytes.Cut(p, []byte{0})
	j.room -= len(s)
	return jsonString(s)
}

// jsonScalar is a number of so many bits.
func jsonScalar(b *ctypes.Type, v uint64, bits int) any {
	if name := enumerator(b, v); name != "" {
		return name
	}
	if b.Kind == ctypes.Pointer {
		return hexAddress(v)
	}
	return jsonInt(v, bits, b.Signed)
}
