package syscall

import (
	"slices"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/fbt"
)

// A state reads what a kernel keeps of the calls that its threads are in (guestos.CallState).
type state struct {
	*guestos.CallState
	target  probes.Target
	view    *view
	thread  func(cpu probes.CPU) guestos.Thread
	types   Types // nil: nothing is known of them
	number  ctypes.Field
	value   ctypes.Field
	args    map[uint64][]ctypes.Field // by the addresses of functions
	missing bool                      // the members are not known
}

// Types are those of the kernel. *debuginfo.Types are some.
type Types interface {
	fbt.Types
	Tagged(kind ctypes.Kind, tag string) (*ctypes.Type, bool)
}

func newState(c *fbt.Config, v *view) *state {
	s := &state{CallState: v.calls.State, target: c.Target, view: v, thread: c.Await, args: map[uint64][]ctypes.Field{}}
	if c.Types != nil {
		for _, part := range c.Types(c.Text.Kernel().Module) {
			if t, ok := part.Types.(Types); ok && s.types == nil {
				s.types = t
			}
		}
	}
	return s
}

// layout finds the members, once. It reports whether they are known.
func (s *state) layout() bool {
	if s.number.Type != nil || s.missing || s.types == nil || s.thread == nil {
		return s.number.Type != nil
	}
	t, ok := s.types.Tagged(ctypes.Struct, s.Tag)
	number, hasNumber := follow(t, ok, s.Number)
	value, hasValue := follow(t, ok, s.Result)
	if s.missing = !hasNumber || !hasValue; !s.missing {
		s.number, s.value = number, value
	}
	return !s.missing
}

// follow is the member of a structure to which names lead.
func follow(t *ctypes.Type, ok bool, names []string) (f ctypes.Field, found bool) {
	off := 0
	for _, name := range names {
		if !ok || !t.IsStruct() {
			return f, false
		}
		if f, ok = t.Member(name); ok {
			off, t = off+f.Offset, f.Type
		}
	}
	f.Offset = off
	return f, ok
}

// fires reports whether a function is called for the probe's own call. If the kernel's types do not
// tell, it is.
func (s *state) fires(f *probes.Firing) bool {
	numbers := s.view.all().Numbers[f.Probe.Function()]
	thread := s.thread(f.CPU)
	if !s.layout() || thread.Addr == 0 {
		return true
	}
	number, ok := s.read(thread.Addr, s.number)
	return !ok || slices.Contains(numbers, int(int32(number)))
}

// result is what a call gives at its return: -1 after an error, else an int, as the original has it.
func (s *state) result(f *probes.Firing) uint64 {
	if int32(f.Args[1]) != 0 {
		return ^uint64(0)
	}
	if !s.layout() {
		return 0
	}
	value, _ := s.read(s.thread(f.CPU).Addr, s.value)
	return uint64(int32(value))
}

// errno is the error with which a call returns.
func (s *state) errno(f *probes.Firing) int32 { return int32(f.Args[1]) }

// arg is argument i of a call at its entry: a member of the structure to which the second argument of
// the function points.
func (s *state) arg(f *probes.Firing, i int) uint64 {
	members := s.members(f.Probe.Key)
	if i >= len(members) {
		return 0
	}
	v, _ := s.read(f.CPU.Reg(s.target.Arch().Args[1]), members[i])
	return v
}

// members are those of the structure of a function's arguments, without what fills registers up.
func (s *state) members(function uint64) []ctypes.Field {
	all, ok := s.args[function]
	if !ok {
		all = s.find(function)
		s.args[function] = all
	}
	return all
}

// rawArgs are the arguments of a function of which the types are not known: registers.
var rawArgs = func() (all []ctypes.Field) {
	for i := range maxArgs {
		all = append(all, ctypes.Field{Type: ctypes.Named("uint64_t"), Offset: 8 * i})
	}
	return all
}()

func (s *state) find(function uint64) (all []ctypes.Field) {
	sym, ok := s.view.At(function)
	if !ok || s.types == nil {
		return rawArgs
	}
	t, ok := s.types.Function(sym.Name)
	if !ok || t.Base().Kind != ctypes.Func || len(t.Base().Params) < 2 || !t.Base().Params[1].IsPointer() {
		return rawArgs
	}
	for _, m := range t.Base().Params[1].Base().Elem.Base().Fields {
		if m.Name == "dummy" { // of a call without arguments
			break
		}
		if !strings.HasSuffix(m.Name, "_l_") && !strings.HasSuffix(m.Name, "_r_") && m.Type.IsScalar() {
			all = append(all, m)
		}
	}
	return all
}

// read reads a member of the structure at an address, with its sign.
func (s *state) read(at uint64, m ctypes.Field) (v uint64, ok bool) {
	var p [8]byte
	n := min(m.Type.Bytes(), len(p))
	if at == 0 || s.target.ReadMem(at+uint64(m.Offset), p[:n]) != nil {
		return 0, false
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	if shift := uint(64 - 8*n); m.Type.IsSigned() {
		v = uint64(int64(v<<shift) >> shift)
	}
	return v, true
}
