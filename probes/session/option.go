package session

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"trapline/probes/d/consume"
	"trapline/probes/d/vm"
	"trapline/probes/ktext"
)

// Options are the settings of a session: -x on the command line, #pragma D option in a
// program.
type Options struct {
	VM  vm.Config       // sizes
	Out consume.Options // how the trace is shown

	SwitchRate  uint64 // virtual nanoseconds after which what was recorded is shown
	Destructive bool
	DefaultArgs bool     // macro arguments that are not given are 0 or ""
	ArgRef      bool     // macro arguments need not all be used
	Empty       bool     // a program may be empty
	NoLibs      bool     // libraries are not read
	LibDirs     []string // where they are
	Cpp         Cpp
	ErrTags     bool // errors show their tags
	ZeroDefs    bool // a description may match no probe
	Verbose     bool // report what was skipped, and why

	Patch       string // split, inplace: for whoever makes the target
	Engine      string // trap, hook: likewise
	Tramp       string // probe, thread: likewise, and for the session
	Kept        string // translations, keep, none, check: for whoever makes the target
	KinstPolicy ktext.Policy
	CrossCheck  bool
	Defer       bool // firings that need not come at once may come later
	CPU         int  // the one on which probes fire, -1 for all

	InlineFrames bool // stacks show inlined functions
}

// NewOptions are the defaults.
func NewOptions() *Options {
	return &Options{VM: vm.DefaultConfig(), Out: consume.DefaultOptions(), SwitchRate: 1e9, Patch: "split", Engine: "trap", Tramp: "probe", Kept: "keep", Defer: true, CPU: -1}
}

// target are the options that whoever makes the target has followed.
func (o *Options) target() [3]string { return [3]string{o.Patch, o.Engine, o.Kept} }

// An option is a row of the table of options.
type option struct {
	set func(o *Options, value string) error // nil: not here
	why string                               // with set nil: why not
}

const (
	noObject = "32-bit and process objects, and linking them, have no meaning here"
	noAttr   = "stability attributes are shown by -v and not enforced"
	noDump   = "types are not written to files"
	noDefs   = "a symbol of the kernel must be there"
)

// table is every option that dtrace(1) or we have, but those of vm and consume.
var table = map[string]option{
	// Ours.
	"crosscheck":   {set: flag(func(o *Options) *bool { return &o.CrossCheck })},
	"defer":        {set: flag(func(o *Options) *bool { return &o.Defer })},
	"engine":       {set: oneOf(func(o *Options) *string { return &o.Engine }, "trap", "hook")},
	"inlineframes": {set: flag(func(o *Options) *bool { return &o.InlineFrames })},
	"kinstpolicy":  {set: setPolicy},
	"patch":        {set: oneOf(func(o *Options) *string { return &o.Patch }, "split", "inplace")},
	"tramp":        {set: oneOf(func(o *Options) *string { return &o.Tramp }, "probe", "thread")},
	"translations": {set: oneOf(func(o *Options) *string { return &o.Kept }, "keep", "none", "check")},

	// At run time.
	"bufresize":   {set: only("auto", "manual")},
	"cleanrate":   {set: anyRate},
	"cpu":         {set: setCPU},
	"destructive": {set: flag(func(o *Options) *bool { return &o.Destructive })},
	"statusrate":  {set: anyRate},
	"aggrate":     {set: anyRate},
	"switchrate":  {set: rate(func(o *Options) *uint64 { return &o.SwitchRate })},
	"temporal":    {set: flag(func(*Options) *bool { return new(bool) })},

	// Of the compiler.
	"amin":        {why: noAttr},
	"argref":      {set: flag(func(o *Options) *bool { return &o.ArgRef })},
	"core":        {why: noObject},
	"cpp":         {set: flag(func(o *Options) *bool { return &o.Cpp.On })},
	"cpphdrs":     {set: flag(func(o *Options) *bool { return &o.Cpp.Headers })},
	"cpppath":     {set: func(o *Options, v string) error { o.Cpp.Path = v; return nil }},
	"ctypes":      {why: noDump},
	"debug":       {why: "there is no compiler debug output; -S shows the code"},
	"defaultargs": {set: flag(func(o *Options) *bool { return &o.DefaultArgs })},
	"define":      {set: cppArg("-D")},
	"dtypes":      {why: noDump},
	"empty":       {set: flag(func(o *Options) *bool { return &o.Empty })},
	"errtags":     {set: flag(func(o *Options) *bool { return &o.ErrTags })},
	"evaltime":    {why: noObject},
	"incdir":      {set: cppArg("-I")},
	"iregs":       {why: "there are no registers in the bytecode: it is a stack machine"},
	"knodefs":     {why: noDefs},
	"libdir":      {set: addLibDir},
	"linkmode":    {why: noObject},
	"linktype":    {why: noObject},
	"nolibs":      {set: flag(func(o *Options) *bool { return &o.NoLibs })},
	"pgmax":       {why: noObject},
	"pspec":       {why: "a name that is not defined is an error"},
	"setenv":      {why: noObject},
	"stdc":        {set: setStandard},
	"strip":       {why: noObject},
	"syslibdir":   {set: addLibDir},
	"tree":        {why: "the compiler's trees are not shown; -d shows the program as it reads it"},
	"typenames":   {why: "a name of a type may not be a variable"},
	"undef":       {set: cppArg("-U")},
	"undefs":      {why: noDefs},
	"unodefs":     {why: noObject},
	"verbose":     {set: flag(func(o *Options) *bool { return &o.Verbose })},
	"version":     {set: setVersion},
	"zdefs":       {set: flag(func(o *Options) *bool { return &o.ZeroDefs })},
}

// SetArg sets an option as -x has it: "name" or "name=value".
func (o *Options) SetArg(arg string) error {
	name, value, _ := strings.Cut(arg, "=")
	return o.Set(name, value)
}

// Set sets an option. An empty value means on, for an option that is on or off.
func (o *Options) Set(name, value string) error {
	if known, err := o.VM.Set(name, value); known {
		return err
	}
	if known, err := o.Out.Set(name, value); known {
		return err
	}
	opt, ok := table[name]
	switch {
	case !ok:
		return fmt.Errorf("no option is called %q", name)
	case opt.set == nil:
		return fmt.Errorf("option %s: %s", name, opt.why)
	}
	if err := opt.set(o, value); err != nil {
		return fmt.Errorf("option %s: %w", name, err)
	}
	return nil
}

func flag(field func(*Options) *bool) func(*Options, string) error {
	return func(o *Options, value string) error {
		switch value {
		case "", "1", "on", "yes", "set", "enable", "enabled":
			*field(o) = true
		case "0", "off", "no", "unset", "disable", "disabled":
			*field(o) = false
		default:
			return fmt.Errorf("%q is neither on nor off", value)
		}
		return nil
	}
}

// rateUnits are virtual nanoseconds; a rate in hz, or without a unit, has none.
var rateUnits = map[string]uint64{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9,
	"m": 60e9, "min": 60e9, "h": 3600e9, "hour": 3600e9, "d": 86400e9, "day": 86400e9, "hz": 0, "": 0,
}

// rate reads the time between two events, or with hz how many there are in a second.
func rate(field func(*Options) *uint64) func(*Options, string) error {
	return func(o *Options, value string) error {
		digits := strings.TrimRight(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz")
		unit, ok := rateUnits[strings.ToLower(value[len(digits):])]
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || !ok || n == 0 || unit > 0 && n > math.MaxInt64/unit {
			return fmt.Errorf("invalid rate %q (examples: 100ms, 1s, 10hz)", value)
		}
		if *field(o) = n * unit; unit == 0 {
			*field(o) = max(1, 1e9/n)
		}
		return nil
	}
}

// anyRate takes a rate and does nothing with it: aggregations are never copied, freed
// variables and speculations are free at once, and exit() and drops are seen at once.
func anyRate(_ *Options, value string) error {
	var ns uint64
	return rate(func(*Options) *uint64 { return &ns })(nil, value)
}

// only accepts values that change nothing, since there is only one way.
func only(values ...string) func(*Options, string) error {
	return func(_ *Options, value string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("%q is not possible here, only %s", value, strings.Join(slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" }), " or "))
	}
}

// oneOf takes one of some values.
func oneOf(field func(*Options) *string, values ...string) func(*Options, string) error {
	return func(o *Options, value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%s, not %q", strings.Join(values, " or "), value)
		}
		*field(o) = value
		return nil
	}
}

func setPolicy(o *Options, value string) error {
	p, err := ktext.ParsePolicy(value)
	if err == nil {
		o.KinstPolicy = p
	}
	return err
}

// setCPU takes the number of a CPU. How many the guest has is known when the trace starts.
func setCPU(o *Options, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not the number of a CPU", value)
	}
	o.CPU = int(n)
	return nil
}

// cppArg adds an argument for the preprocessor.
func cppArg(letter string) func(*Options, string) error {
	return func(o *Options, value string) error {
		if value == "" {
			return errors.New("it needs a value")
		}
		o.Cpp.Args = append(o.Cpp.Args, letter+value)
		return nil
	}
}

// setStandard makes the preprocessor that of K&R for s. It is one of ISO C for the others.
func setStandard(o *Options, value string) error {
	switch value {
	case "s":
		o.Cpp.Args = append(o.Cpp.Args, "-traditional-cpp")
	case "a", "c", "t":
	default:
		return fmt.Errorf("%q is not possible here, only a, c, s or t", value)
	}
	return nil
}

func addLibDir(o *Options, value string) error {
	o.LibDirs = append(o.LibDirs, value)
	return nil
}

// setVersion accepts the versions of the language up to this one.
func setVersion(_ *Options, value string) error {
	var major, minor, micro int
	n, _ := fmt.Sscanf(value, "%d.%d.%d", &major, &minor, &micro)
	if n < 2 || major != 1 || minor > 13 {
		return fmt.Errorf("%q is not a version of D up to 1.13", value)
	}
	return nil
}
