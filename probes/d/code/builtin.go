package code

import "fmt"

// Builtin is a built-in variable, other than arg0 to arg9 and regs[].
type Builtin uint8

// Built-in variables, of the firing and of the thread and CPU that it happened on.
const (
	Caller        Builtin = iota // program counter of the caller of the probed function
	CPU                          // index of the CPU
	Curthread                    // address of the guest's current thread structure
	EPID                         // number of the enabling: which clause at which probe
	Errno                        // error of the last system call of the thread; 0 on guests without such a thing
	Execargs                     // arguments of the current process
	Execname                     // name of the current process
	GID                          // real group id
	ID                           // number of the probe
	JID                          // jail of the process; 0
	IPL                          // interrupt priority level; 0
	PID                          // process id
	PPID                         // process id of the parent
	Probefunc                    // the four parts of the probe's description
	Probemod                     //
	Probename                    //
	Probeprov                    //
	Stackdepth                   // frames of the kernel stack
	TID                          // thread id
	Timestamp                    // virtual ns since the guest's start
	UCaller                      // program counter of the caller in the process
	UStackdepth                  // frames of the stack of the process
	UID                          // real user id
	VTimestamp                   // virtual ns that the thread has run
	WallTimestamp                // virtual ns since 1970-01-01 UTC
	builtinMax
)

// The integer types of builtins.
var (
	intType   = Type{Kind: Int, Size: 4, Signed: true, Name: "int"}
	uintType  = Type{Kind: Int, Size: 4, Name: "uint_t"}
	idType    = Type{Kind: Int, Size: 4, Name: "id_t"}
	pidType   = Type{Kind: Int, Size: 4, Signed: true, Name: "pid_t"}
	int64Type = Type{Kind: Int, Size: 8, Signed: true, Name: "int64_t"}
	u64Type   = Type{Kind: Int, Size: 8, Name: "uint64_t"}
	addrType  = Type{Kind: Int, Size: 8, Name: "uintptr_t"}
	strType   = Type{Kind: String, Size: DefaultStrSize, Name: "string"}
)

// DefaultStrSize is the bytes of a D string, with its NUL, unless option strsize says
// otherwise.
const DefaultStrSize = 256

var builtins = [builtinMax]struct {
	name string
	typ  Type
}{
	Caller:        {"caller", addrType},
	CPU:           {"cpu", intType},
	Curthread:     {"curthread", addrType},
	EPID:          {"epid", uintType},
	Errno:         {"errno", intType},
	Execargs:      {"execargs", strType},
	Execname:      {"execname", strType},
	GID:           {"gid", Type{Kind: Int, Size: 4, Name: "gid_t"}},
	ID:            {"id", uintType},
	JID:           {"jid", intType},
	IPL:           {"ipl", uintType},
	PID:           {"pid", pidType},
	PPID:          {"ppid", pidType},
	Probefunc:     {"probefunc", strType},
	Probemod:      {"probemod", strType},
	Probename:     {"probename", strType},
	Probeprov:     {"probeprov", strType},
	Stackdepth:    {"stackdepth", Type{Kind: Int, Size: 4, Name: "uint32_t"}},
	TID:           {"tid", idType},
	Timestamp:     {"timestamp", u64Type},
	UCaller:       {"ucaller", addrType},
	UStackdepth:   {"ustackdepth", Type{Kind: Int, Size: 4, Name: "uint32_t"}},
	UID:           {"uid", Type{Kind: Int, Size: 4, Name: "uid_t"}},
	VTimestamp:    {"vtimestamp", u64Type},
	WallTimestamp: {"walltimestamp", int64Type},
}

// Builtins lists the built-in variables in the order of their numbers.
func Builtins() []Builtin {
	b := make([]Builtin, builtinMax)
	for i := range b {
		b[i] = Builtin(i)
	}
	return b
}

func (b Builtin) String() string {
	if b < builtinMax {
		return builtins[b].name
	}
	return fmt.Sprintf("builtin(%d)", uint8(b))
}

// Type is the type of the variable. A string has the default size.
func (b Builtin) Type() Type { return builtins[b].typ }
