package option

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"trapline/probes/d/code"
)

// when says until when an option can be set.
type when uint8

const (
	atStart   when = iota // until the trace starts
	reading               // until the program has been read: not by it
	compiling             // until the program is compiled: it may do so itself
	running               // at any time
	showing               // likewise: it is one of View
	never                 // it is not here
)

// A row is an option.
type row struct {
	until when
	about string                               // what it is for, or why it is not here
	set   func(o *Options, value string) error // nil: it is not here
}

const (
	noObject = "32-bit and process objects, and linking them, have no meaning here"
	noDump   = "types are not written to files"
	noDefs   = "a symbol of the kernel must be there"
)

// table is every option that dtrace(1) or we have.
var table = map[string]row{
	// Ours.
	"crosscheck":   {atStart, "count executions by other means as well, and fail where the counts differ", flag(func(o *Options) *bool { return &o.CrossCheck })},
	"cpu":          {atStart, "the only CPU on which probes fire", setCPU},
	"defer":        {atStart, "have firings come later, together, where that comes to the same; on unless it is switched off", flag(func(o *Options) *bool { return &o.Defer })},
	"engine":       {atStart, "trap or hook: by breakpoints, or by the emulator's own code hook", oneOf("trap or hook", func(o *Options) *string { return &o.Engine })},
	"inlineframes": {atStart, "stacks show inlined functions, from the debug information", flag(func(o *Options) *bool { return &o.InlineFrames })},
	"kinstpolicy":  {atStart, "all, linux or freebsd: leave out what a tracer in that kernel could not probe", oneOf("all, linux or freebsd", func(o *Options) *string { return &o.KinstPolicy })},
	"patch":        {atStart, "split or inplace: breakpoints hidden from the guest, or in its own text", oneOf("split or inplace", func(o *Options) *string { return &o.Patch })},
	"tramp":        {atStart, "probe or thread: a trampoline for each probe, or one for each thread, written at each hit", oneOf("probe or thread", func(o *Options) *string { return &o.Tramp })},
	"translations": {atStart, "keep, none or check: use the translations of former runs, translate anew, or do so and compare", oneOf("keep or none or check", func(o *Options) *string { return &o.Translations })},

	// How much a program may use.
	"aggsize":      {atStart, "memory for aggregations", size(0, math.MaxInt, func(o *Options) *int { return &o.AggSize })},
	"bufpolicy":    {atStart, "switch, fill or ring", setBufPolicy},
	"bufresize":    {atStart, "auto or manual: a size for which there is no memory is lowered, or an error", setResize},
	"bufsize":      {atStart, "memory for records", size(0, math.MaxInt, func(o *Options) *int { return &o.BufSize })},
	"dynvarsize":   {atStart, "memory for dynamic variables", size(0, math.MaxInt, func(o *Options) *int { return &o.DynVarSize })},
	"nspec":        {atStart, "number of speculations", size(0, 1<<16, func(o *Options) *int { return &o.NSpec })},
	"specsize":     {atStart, "memory for a speculation", size(0, math.MaxInt, func(o *Options) *int { return &o.SpecSize })},
	"stackframes":  {atStart, "most frames of stack()", size(1, code.MaxFrames, func(o *Options) *int { return &o.StackFrames })},
	"strsize":      {atStart, "bytes of a string", size(2, code.MaxSize, func(o *Options) *int { return &o.StrSize })},
	"ustackframes": {atStart, "most frames of ustack()", size(1, code.MaxFrames, func(o *Options) *int { return &o.UStackFrames })},

	// How a trace is shown.
	"agghist":       {showing, "with a picture of each value", flag(func(o *Options) *bool { return &o.AggHist })},
	"aggpack":       {showing, "distributions in a line", flag(func(o *Options) *bool { return &o.AggPack })},
	"aggsortkey":    {showing, "sort aggregations by key", flag(func(o *Options) *bool { return &o.Order.ByKey })},
	"aggsortkeypos": {showing, "by which of the keys", number(func(o *Options) *int { return &o.Order.KeyPos })},
	"aggsortpos":    {showing, "by which of several aggregations", number(func(o *Options) *int { return &o.Order.AggPos })},
	"aggsortrev":    {showing, "in reverse order", flag(func(o *Options) *bool { return &o.Order.Rev })},
	"aggzoom":       {showing, "distributions scaled to their largest row", flag(func(o *Options) *bool { return &o.AggZoom })},
	"droptags":      {showing, "show the tags of drops", flag(func(o *Options) *bool { return &o.DropTags })},
	"encoding":      {showing, "ascii or utf8: what bars are made of", setEncoding},
	"flowindent":    {showing, "indent entries and returns by the depth of calls (-F)", flag(func(o *Options) *bool { return &o.FlowIndent })},
	"oformat":       {atStart, "text, or json: an object to a line (-O)", setFormat},
	"quiet":         {showing, "only what actions print (-q)", flag(func(o *Options) *bool { return &o.Quiet })},
	"rawbytes":      {showing, "show traced strings as raw dumps", flag(func(o *Options) *bool { return &o.RawBytes })},
	"stackindent":   {showing, "blanks before each frame", number(func(o *Options) *int { return &o.StackIndent })},

	// At run time.
	"aggrate":     {running, "time after which aggsize is there anew", rate(func(o *Options) *uint64 { return &o.AggRate })},
	"cleanrate":   {atStart, "accepted: speculations are cleaned at once", anyRate},
	"destructive": {atStart, "allow destructive actions (-w)", flag(func(o *Options) *bool { return &o.Destructive })},
	"statusrate":  {running, "time between two looks for exit(); at once unless it is set", rate(func(o *Options) *uint64 { return &o.StatusRate })},
	"switchrate":  {running, "time between two looks into the buffers, as 100ms or 10hz", rate(func(o *Options) *uint64 { return &o.SwitchRate })},
	"temporal":    {running, "accepted: records are always in the order in which they were made", flag(func(*Options) *bool { return new(bool) })},
	"verbose":     {atStart, "report what was skipped, and why (-v)", flag(func(o *Options) *bool { return &o.Verbose })},

	// Of the compiler.
	"argref":      {compiling, "macro arguments need not all be used", flag(func(o *Options) *bool { return &o.ArgRef })},
	"cpp":         {reading, "pass scripts through the C preprocessor (-C)", flag(func(o *Options) *bool { return &o.Cpp.On })},
	"cpphdrs":     {reading, "tell the files that the preprocessor includes (-H)", flag(func(o *Options) *bool { return &o.Cpp.Headers })},
	"cpppath":     {reading, "the preprocessor's path", func(o *Options, v string) error { o.Cpp.Path = v; return nil }},
	"defaultargs": {compiling, "macro arguments that are not given are 0 or \"\"", flag(func(o *Options) *bool { return &o.DefaultArgs })},
	"define":      {reading, "define a name in the preprocessor (-D)", cppArg("-D")},
	"empty":       {compiling, "a program may be empty", flag(func(o *Options) *bool { return &o.Empty })},
	"errtags":     {compiling, "show the tags of errors", flag(func(o *Options) *bool { return &o.ErrTags })},
	"incdir":      {reading, "look for included files there (-I)", cppArg("-I")},
	"libdir":      {reading, "read the D libraries there (-L)", addLibDir},
	"nolibs":      {reading, "read no D libraries", flag(func(o *Options) *bool { return &o.NoLibs })},
	"stdc":        {reading, "a, c, s or t: standard that the preprocessor keeps to (-X)", setStandard},
	"syslibdir":   {reading, "as libdir", addLibDir},
	"undef":       {reading, "undefine a name in the preprocessor (-U)", cppArg("-U")},
	"version":     {compiling, "version of D that the program asks for: later names are its own", setVersion},
	"zdefs":       {atStart, "allow descriptions that match no probe (-Z)", flag(func(o *Options) *bool { return &o.ZeroDefs })},

	// Not here.
	"amin":      {never, "stability attributes are shown by -v and not enforced", nil},
	"core":      {never, noObject, nil},
	"ctypes":    {never, noDump, nil},
	"debug":     {never, "there is no compiler debug output; -S shows the code", nil},
	"dtypes":    {never, noDump, nil},
	"evaltime":  {never, noObject, nil},
	"iregs":     {never, "there are no registers in the bytecode: it is a stack machine", nil},
	"knodefs":   {never, noDefs, nil},
	"linkmode":  {never, noObject, nil},
	"linktype":  {never, noObject, nil},
	"pgmax":     {never, noObject, nil},
	"pspec":     {never, "a name that is not defined is an error", nil},
	"setenv":    {never, noObject, nil},
	"strip":     {never, noObject, nil},
	"tree":      {never, "the compiler's trees are not shown; -d shows the program as it reads it", nil},
	"typenames": {never, "a name of a type may not be a variable", nil},
	"undefs":    {never, noDefs, nil},
	"unodefs":   {never, noObject, nil},
}

// Names lists the options by name, those that are not here among them.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// About says what an option is for, or why it is not here.
func About(name string) string { return table[name].about }

// Known reports whether there is an option of that name (manual, chapter 16).
func Known(name string) bool { _, ok := table[name]; return ok }

// WhileReading reports whether an option has its effect before a program has been read: the program
// cannot set it.
func WhileReading(name string) bool { return table[name].until == reading }

// WhileCompiling reports whether an option of a program is one of its own compilation.
func WhileCompiling(name string) bool { return table[name].until == compiling }

// WhileRunning reports whether an option may change while the trace runs.
func WhileRunning(name string) bool { return table[name].until == running }

// SetArg sets an option as -x has it: "name" or "name=value".
func (o *Options) SetArg(arg string) error {
	name, value, _ := strings.Cut(arg, "=")
	return o.Set(name, value)
}

// Set sets an option. An empty value means on, for an option that is on or off.
func (o *Options) Set(name, value string) error {
	r, ok := table[name]
	switch {
	case !ok:
		return fmt.Errorf("no option is called %q", name)
	case r.set == nil:
		return fmt.Errorf("option %s: %s", name, r.about)
	}
	if err := r.set(o, value); err != nil {
		return fmt.Errorf("option %s: %w", name, err)
	}
	return nil
}

// Set sets an option while the trace is being shown. It reports whether the option is one of a
// view that may change then.
func (v *View) Set(name, value string) (known bool, err error) {
	if table[name].until != showing {
		return false, nil
	}
	o := Options{View: *v}
	err = o.Set(name, value)
	*v = o.View
	return true, err
}
