package sdt

import (
	"fmt"
	"slices"

	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/sdt/walk"
)

// A walker finds out arguments for all tracepoints.
type walker struct {
	*walk.Walker
	arch  *arch.Arch
	point *point           // whose walk is under way
	stuck map[string]error // by tracepoint: why there were none, the first time
	order []string         // of stuck
}

// A point is a site of a tracepoint.
type point struct {
	t *Tracepoints
	guestos.Tracepoint
	stops []guestos.TracepointCall // functions that stand for those of a tracepoint
}

// NewTracepoints makes those that a system's kernel has. read reads its memory.
func NewTracepoints(of *guestos.Tracepoints, kernel ktext.Part, types Types, a *arch.Arch, read guestos.Reader) (*Tracepoints, error) {
	w, err := walk.New(a, read)
	if err != nil {
		return nil, err
	}
	t := &Tracepoints{Tracepoints: of, kernel: kernel, types: types, read: read}
	t.walk = &walker{Walker: w, arch: a, stuck: map[string]error{}}
	w.Load = t.walk.load
	w.Divert = t.walk.divert
	return t, nil
}

// point makes the arguments of a site.
func (t *Tracepoints) point(x guestos.Tracepoint) *point {
	return &point{t, x, append([]guestos.TracepointCall{{Addr: function}}, x.Calls...)}
}

// While a tracepoint is off it has no functions to call. The walk sees one that is not
// there, in memory that is not either. A kernel may have put its own function in place of
// the call (static calls): what it is given first tells the call then.
const (
	funcs    = 0x6c746c70_00000000 // struct tracepoint_func[2]: func, data, prio; the second is empty
	function = 0x6c746c70_10000000
	data     = 0x6c746c70_20000000 // its first argument
)

// load is what the walk sees in place of memory.
func (w *walker) load(addr uint64) (uint64, bool) {
	switch hook := w.point.Hook; {
	case hook[0] <= addr && addr < hook[1]:
		return funcs, true
	case addr == funcs:
		return function, true
	case addr == funcs+8:
		return data, true
	case addr > funcs && addr < funcs+64:
		return 0, true
	}
	return 0, false
}

// divert takes the jumps of other sites of the tracepoint: code that asks whether it is on may
// call a function that asks again.
func (w *walker) divert(pc uint64) (to uint64, ok bool) {
	p := w.point
	for _, x := range p.t.sites[p.Key] {
		if x.Site == pc && pc != p.Site && p.Hook[1] != 0 {
			return x.Target, true
		}
	}
	return 0, false
}

// Select finds out the arguments. The tracepoint does not fire if the walk comes back behind
// the site without having met the call: it has a condition that does not hold.
func (p *point) Select(f *probes.Firing) bool {
	f.Args = [10]uint64{}
	if len(p.t.late) > 0 {
		p.t.catchUp()
	}
	call, err := p.follow(f)
	switch {
	case err != nil:
		p.t.walk.fail(p, err)
		return true
	case call != nil:
		p.take(f, call.Args)
	}
	return call != nil
}

// follow walks from the target of the site's jump to the call, or behind the site: then there is none.
func (p *point) follow(f *probes.Firing) (call *guestos.TracepointCall, err error) {
	w := p.t.walk
	w.point = p
	behind, err := w.Next(p.Site)
	if err != nil {
		return nil, err
	}
	err = w.Run(f.CPU, p.Target, func(pc uint64) bool {
		call = p.callAt(pc)
		return call != nil || pc == behind
	})
	return call, err
}

// callAt is the call that the walk has come to, nil if it has come to none.
func (p *point) callAt(pc uint64) *guestos.TracepointCall {
	if i := slices.IndexFunc(p.stops, func(c guestos.TracepointCall) bool { return c.Addr == pc }); i >= 0 {
		return &p.stops[i]
	}
	if w := p.t.walk; w.Called && w.Reg(w.arch.Args[0]) == data {
		return &p.stops[0]
	}
	return nil
}

// take gets the arguments where the call has them: behind the first, which is data. Of how many there
// are 0 says nothing.
func (p *point) take(f *probes.Firing, passed int) {
	w := p.t.walk
	n := len(w.arch.Args)
	for i := range f.Args {
		if passed > 0 && i >= passed {
			break
		}
		if i+1 < n {
			f.Args[i] = w.Reg(w.arch.Args[i+1])
			continue
		}
		if passed == 0 && i >= len(p.Types()) {
			break
		}
		at := w.Reg(w.arch.SP) + w.arch.StackArgs + uint64((i+1-n)*w.arch.PtrSize)
		f.Args[i] = w.Mem(at, w.arch.PtrSize)
	}
}

// fail remembers that arguments are not known.
func (w *walker) fail(p *point, err error) {
	if w.stuck[p.Name] == nil {
		w.stuck[p.Name] = err
		w.order = append(w.order, p.Name)
	}
}

// Types are the parameters of the function that is called, without the first.
func (p *point) Types() []*ctypes.Type {
	if p.t.types == nil || p.Tracepoint.Types == "" {
		return nil
	}
	f, ok := p.t.types.Function(p.Tracepoint.Types)
	if !ok || f.Base().Kind != ctypes.Func || len(f.Base().Params) == 0 {
		return nil
	}
	return f.Base().Params[1:]
}

// report says which tracepoints fired without arguments, and why.
func (t *Tracepoints) report() []string {
	var out []string
	for _, name := range t.walk.order {
		out = append(out, fmt.Sprintf("sdt: %s fired without arguments: %v", name, t.walk.stuck[name]))
	}
	return out
}
