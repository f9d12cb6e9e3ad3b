// Package option has the options of a trace: -x on the command line, #pragma D option in a
// program, setopt() in a clause. Options says what they are for, its table has their names, what
// values they take, and when they can be set. A new option is a field and a row here, and the
// place that goes by the field.
package option

import (
	"trapline/probes/d/agg"
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// Options are the settings of a trace.
type Options struct {
	Limits
	View
	Target
	Cpp Cpp

	SwitchRate  uint64 // virtual nanoseconds after which what was recorded is shown
	StatusRate  uint64 // virtual nanoseconds after a multiple of which exit() is seen; 0: at once
	Destructive bool
	DefaultArgs bool     // macro arguments that are not given are 0 or ""
	ArgRef      bool     // macro arguments need not all be used
	Empty       bool     // a program may be empty
	NoLibs      bool     // libraries are not read
	LibDirs     []string // where they are
	ErrTags     bool     // errors show their tags
	ZeroDefs    bool     // a description may match no probe
	Version     Version  // of D that is asked for; the zero value: this one
	Verbose     bool     // report what was skipped, and why

	Tramp        string // probe, thread: whose trampolines are
	KinstPolicy  string // all, linux, freebsd: what kinst leaves out
	CrossCheck   bool
	Defer        bool // firings that need not come at once may come later
	CPU          int  // the one on which probes fire, -1 for all
	InlineFrames bool // stacks show inlined functions
}

// Target are the options that whoever makes the target goes by: they cannot change when there is
// one.
type Target struct {
	Patch        string // split, inplace
	Engine       string // trap, hook
	Translations string // keep, none, check
}

// Cpp says whether and how scripts pass through the C preprocessor of the host.
type Cpp struct {
	On      bool
	Path    string   // of the preprocessor; "" for cpp
	Args    []string // -Dname=value, -Uname, -Ipath, in order
	Headers bool     // -H: report which files are included
}

// Limits bound what a program may use, in bytes unless a field says otherwise.
type Limits struct {
	CPUs         int           // number of CPUs of the guest; not an option
	BufSize      int           // bufsize: buffer of each CPU
	AggSize      int           // aggsize: all aggregations together
	DynVarSize   int           // dynvarsize: associative arrays and thread-local variables together
	NSpec        int           // nspec: number of speculations
	SpecSize     int           // specsize: buffer of each speculation on each CPU
	AggRate      uint64        // aggrate: virtual nanoseconds after which AggSize is there anew; 0: never
	Resize       bool          // bufresize=auto: sizes for which there is no memory are lowered
	BufPolicy    buffer.Policy // bufpolicy: what becomes of records for which there is no room
	StrSize      int           // strsize: a string that a subroutine makes, with its NUL
	StackFrames  int           // stackframes: frames that stack() records when it does not say
	UStackFrames int           // ustackframes: the same of ustack()
}

// View says how a trace is shown.
type View struct {
	Quiet       bool      // quiet: only what actions print
	RawBytes    bool      // rawbytes: strings that were traced as raw dumps
	StackIndent int       // stackindent: blanks before each frame
	AggZoom     bool      // aggzoom: the longest bar of a distribution takes nearly all the width
	AggHist     bool      // agghist: aggregations of numbers as bars
	AggPack     bool      // aggpack: distributions in one line each
	FlowIndent  bool      // flowindent: firings indented by the depth of calls
	Order       agg.Order // aggsortkey, aggsortkeypos, aggsortpos, aggsortrev
	UTF8        bool      // encoding=utf8: bars of blocks
	DropTags    bool      // droptags: drops show their tags
	JSON        bool      // oformat=json: objects of JSON
}

// New returns the defaults, for a guest with one CPU.
func New() *Options {
	return &Options{
		Limits: DefaultLimits(), View: DefaultView(), Target: Target{Patch: "split", Engine: "trap", Translations: "keep"},
		SwitchRate: 1e9, Tramp: "probe", KinstPolicy: "all", Defer: true, CPU: -1,
	}
}

// DefaultLimits are those of a trace that sets no options, of a guest with one CPU.
func DefaultLimits() Limits {
	return Limits{
		CPUs:         1,
		BufSize:      4 << 20,
		AggSize:      4 << 20,
		DynVarSize:   1 << 20,
		NSpec:        1,
		SpecSize:     32 << 10,
		StrSize:      code.DefaultStrSize,
		StackFrames:  20,
		UStackFrames: 20,
		AggRate:      1e9,
		Resize:       true,
	}
}

// DefaultView is that of a trace that sets no options.
func DefaultView() View { return View{StackIndent: 14} }
