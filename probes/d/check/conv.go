package check

import (
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
)

// convWants is what a conversion takes, and whether t is that. As in DTrace, a size takes the one
// integer type that C has it for.
func convWants(conv code.Conv, t *ctypes.Type) (want string, ok bool) {
	switch conv.Verb {
	case "a", "A", "p":
		return "pointer or integer", t.IsScalar() || shown(t) && t.Size > 0
	case "s", "S":
		if conv.Size != "" {
			return "wchar_t []", false
		}
		return "char [] or string (or use stringof)", isStringLike(t)
	case "e", "E", "f", "g", "G":
		return "float, double, or long double", t.IsFloat()
	case "k":
		return "stack", isStack(t)
	case "c", "C":
		return "char, short, or int", t.IsInt() && t.Bytes() <= 4
	case "T", "Y":
		return "int64_t", t.IsInt() && t.Bytes() == 8
	}
	if conv.Size == "" {
		return "char, short, int, long, or long long", t.IsInt()
	}
	return sizedInteger(conv, t)
}

// sizedInteger is convWants of an integer with a size: hexadecimal conversions take it with a sign and
// without.
func sizedInteger(conv code.Conv, t *ctypes.Type) (want string, ok bool) {
	want = map[string]string{"h": "short", "l": "long", "ll": "long long"}[conv.Size]
	got := ""
	if a, ok := ctypes.Arithmetic(strings.Fields(t.Base().Name)); ok && t.Base().Kind == ctypes.Int {
		got = a.Name
	}
	switch conv.Verb {
	case "d", "i":
		return want, got == want
	case "o", "u":
		want = "unsigned " + want
		return want, got == want
	}
	return want, strings.TrimPrefix(got, "unsigned ") == want
}
