package ctypes

import "strings"

// The types every D program knows.
var (
	VoidType = &Type{Kind: Void, Name: "void"}
	VoidPtr  = PointerTo(VoidType)

	CharType     = integer("char", 1, true)
	ShortType    = integer("short", 2, true)
	IntType      = integer("int", 4, true)
	LongType     = integer("long", 8, true)
	LongLongType = integer("long long", 8, true)

	UnsignedType     = integer("unsigned int", 4, false)
	UlongType        = integer("unsigned long", 8, false)
	UlongLongType    = integer("unsigned long long", 8, false)
	SignedCharType   = integer("signed char", 1, true)
	UnsignedCharType = integer("unsigned char", 1, false)
)

func integer(name string, size int, signed bool) *Type {
	return &Type{Kind: Int, Name: name, Size: size, Signed: signed}
}

// arithmetic are the types by their canonical names: sign, length, then int.
var arithmetic = func() map[string]*Type {
	m := map[string]*Type{"char": CharType, "signed char": SignedCharType, "unsigned char": UnsignedCharType}
	ushort := integer("unsigned short", 2, false)
	for _, t := range []*Type{ShortType, IntType, LongType, LongLongType, UnsignedType, UlongType, UlongLongType, ushort} {
		m[t.Name] = t
	}
	for name, size := range map[string]int{"float": 4, "double": 8, "long double": 16} {
		m[name] = &Type{Kind: Float, Name: name, Size: size}
	}
	return m
}()

// typedefs that the manual (chapter 2, tables 2-3 and 2-4, and those of its builtins)
// gives every program.
var typedefs = func() map[string]*Type {
	m := make(map[string]*Type)
	for target, names := range map[*Type]string{
		CharType:                     "int8_t",
		ShortType:                    "int16_t",
		IntType:                      "int32_t pid_t id_t processorid_t cpuid_t chipid_t zoneid_t key_t",
		LongType:                     "int64_t intptr_t ssize_t ptrdiff_t off_t time_t longlong_t",
		UnsignedCharType:             "uint8_t uchar_t u_char",
		UnsignedType:                 "uint32_t uint_t u_int uid_t gid_t",
		UlongType:                    "uint64_t uintptr_t size_t ulong_t u_long u_longlong_t dev_t ino_t hrtime_t",
		arithmetic["unsigned short"]: "uint16_t ushort_t u_short",
	} {
		for _, name := range strings.Fields(names) {
			m[name] = &Type{Kind: Typedef, Name: name, Elem: target}
		}
	}
	return m
}()

// LookupTypedef finds a predefined typedef: uint64_t, pid_t, ...
func LookupTypedef(name string) (*Type, bool) {
	t, ok := typedefs[name]
	return t, ok
}

// Named is LookupTypedef for a name that is known to be there.
func Named(name string) *Type {
	if t, ok := typedefs[name]; ok {
		return t
	}
	return arithmetic[name]
}

// Arithmetic finds the integer or floating-point type that C specifiers, in any order, stand for:
// "long", "unsigned", "int". It fails if they do not go together.
func Arithmetic(words []string) (*Type, bool) {
	var sign, length, base string
	for _, w := range words {
		slot := &base
		switch w {
		case "signed", "unsigned":
			slot = &sign
		case "long", "short":
			if length == "long" && w == "long" {
				length = "long long"
				continue
			}
			slot = &length
		}
		if *slot != "" {
			return nil, false
		}
		*slot = w
	}
	return arithmetic[canonical(sign, length, base)], arithmetic[canonical(sign, length, base)] != nil
}

// canonical is the name in the table of types, "" if there is none.
func canonical(sign, length, base string) string {
	if base == "char" {
		if length != "" {
			return ""
		}
		return strings.TrimSpace(sign + " char")
	}
	if base == "float" || base == "double" {
		return strings.Join(strings.Fields(sign+" "+length+" "+base), " ")
	}
	if base != "" && base != "int" {
		return ""
	}
	if length == "" {
		length = "int"
	}
	if sign == "unsigned" {
		return "unsigned " + length
	}
	return length
}
