package guestos

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"trapline/kernel/ctypes"
)

// freebsdTracepoints are FreeBSD's static probes, SDT(9). The kernel has them in linker sets: pointers
// to providers, to probes and to the types of their arguments, and the places of the probes themselves,
// each with the address of the code that computes the arguments and calls sdt_probe. Places are there
// since 15.0. Earlier kernels ask at each place whether the probe is on: Find would have to look for
// these questions.
var freebsdTracepoints = &Tracepoints{
	Any:      func(symbols Symbols) bool { return len(symbols.Lookup(setStart+sdtPlaces)) > 0 },
	Find:     findFreebsdTracepoints,
	Declared: freebsdProviders,
	Switches: freebsdSwitches,
}

// freebsdSwitches: with the first the kernel leaves the functions of file systems, and others, by
// their slow paths, with the second the locks.
func freebsdSwitches(provider string) []string {
	if provider == "lockstat" {
		return []string{"sdt_probes_enabled", "lockstat_enabled"}
	}
	return []string{"sdt_probes_enabled"}
}

// Linker sets, and what the linker calls their ends.
const (
	setStart = "__start_set_"
	setStop  = "__stop_set_"

	sdtProviders = "sdt_providers_set"
	sdtProbes    = "sdt_probes_set"
	sdtArguments = "sdt_argtypes_set"
	sdtPlaces    = "sdt_tracepoint_set"
)

// Structures of sys/sdt.h, and where their members are, in bytes. They are the same on all
// architectures.
const (
	sdtProbeSize     = 80 + 8
	sdtProbeProvider = 8 // struct sdt_probe
	sdtProbeModule   = 64
	sdtProbeFunction = 72
	sdtProbeName     = 80

	sdtArgSize  = 48 // struct sdt_argtype
	sdtArgType  = 8
	sdtArgAs    = 16
	sdtArgProbe = 40

	sdtPlaceSize   = 32 // struct sdt_tracepoint
	sdtPlaceSite   = 8
	sdtPlaceTarget = 16
)

// sdtCalls are the functions that the kernel calls at a place, with how many arguments.
var sdtCalls = map[string]int{"sdt_probe": 5, "sdt_probe6": 6}

// maxDeclared bounds a name or a type, and an argument's number.
const (
	maxDeclared     = 256
	maxDeclaredArgs = 16
)

// freebsdProviders are the names of providers, in the kernel's order.
func freebsdProviders(symbols Symbols, read Reader) (names []string) {
	m := memory(read)
	for _, at := range m.pointers(symbols, sdtProviders) {
		if name := m.text(m.pointer(at)); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func findFreebsdTracepoints(symbols Symbols, read Reader) (all []Tracepoint) {
	m := memory(read)
	args, places := m.declaredArgs(symbols), m.places(symbols)
	var calls []TracepointCall
	for name, n := range sdtCalls {
		if addr := addressOf(symbols, name); addr != 0 {
			calls = append(calls, TracepointCall{addr, n})
		}
	}
	slices.SortFunc(calls, func(a, b TracepointCall) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, at := range m.pointers(symbols, sdtProbes) {
		p, ok := m.declared(at)
		if !ok {
			continue
		}
		p.Args, p.Calls = args[at], calls
		if len(places[at]) == 0 {
			all = append(all, p)
		}
		for _, x := range places[at] {
			p.Site, p.Target = x.site, x.target
			all = append(all, p)
		}
	}
	return all
}

// memory reads what a kernel has declared.
type memory Reader

// declared is the struct sdt_probe at an address.
func (m memory) declared(at uint64) (p Tracepoint, ok bool) {
	d := m.words(at, sdtProbeSize)
	if d == nil {
		return p, false
	}
	text := func(off int) string { return m.text(binary.LittleEndian.Uint64(d[off:])) }
	p = Tracepoint{
		Provider: m.text(m.pointer(binary.LittleEndian.Uint64(d[sdtProbeProvider:]))),
		Module:   text(sdtProbeModule),
		Function: cmp.Or(text(sdtProbeFunction), "none"),
		Name:     strings.ReplaceAll(text(sdtProbeName), "__", "-"),
		Key:      at,
	}
	return p, p.Provider != "" && p.Name != ""
}

// declaredArgs are the arguments of probes, by the addresses of these.
func (m memory) declaredArgs(symbols Symbols) map[uint64][]ctypes.Arg {
	out := map[uint64][]ctypes.Arg{}
	for _, at := range m.pointers(symbols, sdtArguments) {
		d := m.words(at, sdtArgSize)
		if d == nil {
			continue
		}
		word := func(off int) uint64 { return binary.LittleEndian.Uint64(d[off:]) }
		n, probe := int(int32(word(0))), word(sdtArgProbe)
		if n < 0 || n >= maxDeclaredArgs {
			continue
		}
		args := out[probe]
		args = append(args, make([]ctypes.Arg, max(0, n+1-len(args)))...)
		args[n] = ctypes.Arg{Type: m.text(word(sdtArgType)), As: m.text(word(sdtArgAs))}
		out[probe] = args
	}
	return out
}

// A sdtPlace is a place of a probe.
type sdtPlace struct{ site, target uint64 }

// places are those of probes, by the addresses of these.
func (m memory) places(symbols Symbols) map[uint64][]sdtPlace {
	out := map[uint64][]sdtPlace{}
	d := m.set(symbols, sdtPlaces)
	for ; len(d) >= sdtPlaceSize; d = d[sdtPlaceSize:] {
		word := func(off int) uint64 { return binary.LittleEndian.Uint64(d[off:]) }
		out[word(0)] = append(out[word(0)], sdtPlace{word(sdtPlaceSite), word(sdtPlaceTarget)})
	}
	return out
}

// set is a linker set, nil if it is not there, too long, or cannot be read.
func (m memory) set(symbols Symbols, name string) []byte {
	start, end := addressOf(symbols, setStart+name), addressOf(symbols, setStop+name)
	if start == 0 || end <= start || end-start > maxTable {
		return nil
	}
	return m.words(start, int(end-start))
}

// pointers are those in a linker set.
func (m memory) pointers(symbols Symbols, name string) (out []uint64) {
	for d := m.set(symbols, name); len(d) >= 8; d = d[8:] {
		out = append(out, binary.LittleEndian.Uint64(d))
	}
	return out
}

func (m memory) words(at uint64, n int) []byte {
	d := make([]byte, n)
	if m(at, d) != nil {
		return nil
	}
	return d
}

// pointer is the pointer at an address, 0 if it cannot be read.
func (m memory) pointer(at uint64) uint64 {
	if d := m.words(at, 8); d != nil {
		return binary.LittleEndian.Uint64(d)
	}
	return 0
}

// text is the string at an address, "" if there is none of up to maxDeclared bytes.
func (m memory) text(at uint64) string {
	var s []byte
	for at != 0 && len(s) < maxDeclared {
		d := m.words(at+uint64(len(s)), 16-int(at+uint64(len(s)))%16) // it may end where memory does
		if d == nil {
			return ""
		}
		if i := bytes.IndexByte(d, 0); i >= 0 {
			return string(append(s, d[:i]...))
		}
		s = append(s, d...)
	}
	return ""
}
