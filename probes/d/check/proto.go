package check

import (
	"strings"

	"trapline/kernel/ctypes"
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// locks are the functions that look at a lock of FreeBSD's, and what they take.
var locks = func() map[string]string {
	m := make(map[string]string)
	for lock, names := range map[string]string{
		"struct mtx *":    "mutex_owned mutex_owner mutex_type_adaptive mutex_type_spin",
		"struct rwlock *": "rw_read_held rw_write_held rw_iswriter",
		"struct sx *":     "sx_shared_held sx_exclusive_held sx_isexclusive",
	} {
		for _, name := range strings.Fields(names) {
			m[name] = lock
		}
	}
	return m
}()

// lockArg checks a call of a function of locks, which is refused after that.
func (c *checker) lockArg(x *syntax.Call, name string) {
	lock := locks[name]
	if lock == "" {
		return
	}
	c.args(x)
	if len(x.Args) != 1 {
		c.protoLen(x, name, 1, 1)
	}
	if t := decay(x.Args[0].Info().Type); !t.IsPointer() {
		c.protoArg(x.Args[0], name, 0, lock, t)
	}
}

// notHere are functions of other kernels' D.
var notHere = func() map[string]string {
	m := make(map[string]string)
	for name := range locks {
		m[name] = "it is for the locks of Solaris and FreeBSD kernels"
	}
	for _, name := range []string{"msgsize", "msgdsize"} {
		m[name] = "there are no STREAMS"
	}
	for _, name := range []string{"ddi_pathname", "getf"} {
		m[name] = "it knows another kernel"
	}
	m["pcap"] = "no packets are captured"
	return m
}()

// A proto is what a subroutine takes, beyond the kinds that package code has, and its
// result if that is neither a string nor an int.
type proto struct {
	args   string // as in C, a blank between; "" for what package code says
	result *ctypes.Type
}

var protos = map[code.Sub]proto{
	code.SubAlloca:     {"int", ctypes.VoidPtr},
	code.SubBcopy:      {"void* void* int", ctypes.VoidType},
	code.SubCopyin:     {"uintptr_t int", ctypes.VoidPtr},
	code.SubCopyinstr:  {"uintptr_t int", nil},
	code.SubCopyinto:   {"uintptr_t int void*", ctypes.VoidType},
	code.SubCopyout:    {"void* uintptr_t int", ctypes.VoidType},
	code.SubCopyoutstr: {"string uintptr_t int", ctypes.VoidType},
	code.SubGetmajor:   {"", ctypes.UnsignedType},
	code.SubGetminor:   {"", ctypes.UnsignedType},
	code.SubHtonl:      {"", ctypes.Named("uint32_t")},
	code.SubHtonll:     {"", ctypes.Named("uint64_t")},
	code.SubHtons:      {"", ctypes.Named("uint16_t")},
	code.SubInetNtoa:   {"void*", nil},
	code.SubInetNtoa6:  {"void*", nil},
	code.SubInetNtop:   {"int void*", nil},
	code.SubMemstr:     {"void* int int", nil},
	code.SubNtohl:      {"", ctypes.Named("uint32_t")},
	code.SubNtohll:     {"", ctypes.Named("uint64_t")},
	code.SubNtohs:      {"", ctypes.Named("uint16_t")},
	code.SubStrlen:     {"", ctypes.Named("size_t")},
	code.SubStrtok:     {"string string", nil},
	code.SubStrtoll:    {"", ctypes.Named("int64_t")},
}

// arg is the type of argument i in words.
func (p proto) arg(s code.Sub, i int) string {
	if p.args != "" {
		return strings.Replace(strings.Fields(p.args)[i], "*", " *", 1)
	}
	if kinds, _ := s.Signature(); kinds[i] == code.String {
		return "string"
	}
	return "int"
}

// isNull reports whether x is the constant 0.
func isNull(x syntax.Expr) bool {
	i := x.Info()
	return i.Const && i.Value == 0
}

// tracemem checks tracemem(address, size [, size that counts]).
func (c *checker) tracemem(x *syntax.Call) {
	if x.Fun.(*syntax.Ident).Name == "printm" {
		c.printm(x)
		return
	}
	switch n := len(x.Args); {
	case n < 2:
		c.protoLen(x, "tracemem", 2, 3)
	case n > 3:
		c.fail(x, TracememArgs, "tracemem( ) prototype mismatch: %d args passed, at most 3 expected", n)
	}
	if t := x.Args[1].Info().Type; !t.IsInt() {
		c.protoArg(x.Args[1], "tracemem", 1, "size_t", t)
	}
	if t := decay(x.Args[0].Info().Type); !t.IsScalar() {
		c.fail(x.Args[0], TracememAddr, "tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or integer\n\t argument: %s", t)
	}
	if !positive(x.Args[1], code.MaxSize) {
		c.fail(x.Args[1], TracememSize, "tracemem( ) argument #2 must be a non-zero positive integral constant expression")
	}
	if len(x.Args) == 3 {
		if t := x.Args[2].Info().Type; !t.IsScalar() {
			c.fail(x.Args[2], TracememDynsize, "tracemem( ) argument #3, the size that counts, must be of scalar type")
		}
	}
}

// printm checks printm(size, address).
func (c *checker) printm(x *syntax.Call) {
	if len(x.Args) != 2 {
		c.protoLen(x, "printm", 2, 2)
	}
	if t := x.Args[0].Info().Type; !t.IsInt() || !positive(x.Args[0], code.MaxSize) {
		c.fail(x.Args[0], ProtoArg, "printm( ) argument #1 must be a non-zero positive integral constant expression")
	}
	if t := decay(x.Args[1].Info().Type); !t.IsPointer() {
		c.protoArg(x.Args[1], "printm", 1, "void *", t)
	}
}

// print checks print(value): a number, a string, or an object in memory.
func (c *checker) print(x *syntax.Call) {
	if len(x.Args) != 1 {
		c.protoLen(x, "print", 1, 1)
	}
	t := x.Args[0].Info().Type
	switch {
	case t == aggType:
		c.fail(x.Args[0], PrintAgg, "print( ) may not be applied to an aggregation: printa( ) shows one")
	case t.Base().Kind == ctypes.Void:
		c.fail(x.Args[0], PrintVoid, "print( ) may not be applied to a void expression")
	case t.Kind == ctypes.Dyn:
		c.notInside(x.Args[0])
	}
	if b := t.Base(); t.Bytes() <= 0 || t.Bytes() > code.MaxSize || b.Kind == ctypes.Dyn || b.Kind == ctypes.Func {
		c.fail(x.Args[0], ProtoArg, "print( ) argument #1 may not be of type %s", t)
	}
}

// setopt checks setopt(name [, value]).
func (c *checker) setopt(x *syntax.Call) {
	if len(x.Args) < 1 || len(x.Args) > 2 {
		c.protoLen(x, "setopt", 1, 2)
	}
	for i, a := range x.Args {
		if t := a.Info().Type; !isStringLike(t) {
			c.protoArg(a, "setopt", i, "string", t)
		}
	}
}
