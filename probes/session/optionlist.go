package session

import (
	"cmp"
	"slices"
)

// OptionInfo tells what an option is for, or why it is not here.
type OptionInfo struct{ Name, About string }

// about has the options that can be set.
var about = []OptionInfo{
	{"crosscheck", "count executions by other means as well, and fail where the counts differ"},
	{"cpu", "the only CPU on which probes fire"},
	{"defer", "have firings come later, together, where that comes to the same; on unless it is switched off"},
	{"engine", "trap or hook: by breakpoints, or by the emulator's own code hook"},
	{"inlineframes", "stacks show inlined functions, from the debug information"},
	{"kinstpolicy", "all, linux or freebsd: leave out what a tracer in that kernel could not probe"},
	{"patch", "split or inplace: breakpoints hidden from the guest, or in its own text"},
	{"tramp", "probe or thread: a trampoline for each probe, or one for each thread, written at each hit"},
	{"translations", "keep, none or check: use the translations of former runs, translate anew, or do so and compare"},

	{"aggsize", "memory for aggregations"},
	{"aggsortkey", "sort aggregations by key"},
	{"aggsortkeypos", "by which of the keys"},
	{"aggsortpos", "by which of several aggregations"},
	{"aggsortrev", "in reverse order"},
	{"bufpolicy", "switch, fill or ring"},
	{"bufresize", "auto or manual"},
	{"bufsize", "memory for records"},
	{"defaultargs", "macro arguments that are not given are 0 or \"\""},
	{"destructive", "allow destructive actions (-w)"},
	{"dynvarsize", "memory for dynamic variables"},
	{"errtags", "show the tags of errors"},
	{"quiet", "only what actions print (-q)"},
	{"rawbytes", "show traced strings as raw dumps"},
	{"stackframes", "most frames of stack()"},
	{"stackindent", "blanks before each frame"},
	{"strsize", "bytes of a string"},
	{"switchrate", "time between two looks into the buffers, as 100ms or 10hz"},
	{"temporal", "accepted: records are always in the order in which they were made"},
	{"ustackframes", "most frames of ustack()"},
	{"verbose", "report what was skipped, and why (-v)"},
	{"agghist", "with a picture of each value"},
	{"aggpack", "distributions in a line"},
	{"aggrate", "accepted: the guest stands still while aggregations are read"},
	{"aggzoom", "distributions scaled to their largest row"},
	{"argref", "macro arguments need not all be used"},
	{"cleanrate", "accepted: speculations are cleaned at once"},
	{"cpp", "pass scripts through the C preprocessor (-C)"},
	{"cpphdrs", "tell the files that the preprocessor includes (-H)"},
	{"cpppath", "the preprocessor's path"},
	{"define", "define a name in the preprocessor (-D)"},
	{"empty", "a program may be empty"},
	{"flowindent", "indent entries and returns by the depth of calls (-F)"},
	{"incdir", "look for included files there (-I)"},
	{"libdir", "read the D libraries there (-L)"},
	{"nolibs", "read no D libraries"},
	{"nspec", "number of speculations"},
	{"oformat", "text, or json: an object to a line (-O)"},
	{"specsize", "memory for a speculation"},
	{"statusrate", "accepted: the status is looked at all the time"},
	{"stdc", "a, c, s or t: standard that the preprocessor keeps to (-X)"},
	{"syslibdir", "as libdir"},
	{"undef", "undefine a name in the preprocessor (-U)"},
	{"version", "version of D that the program asks for"},
	{"zdefs", "allow descriptions that match no probe (-Z)"},
}

// OptionList is every option by its name.
func OptionList() []OptionInfo {
	list := slices.Clone(about)
	for name, o := range table {
		if o.set == nil && !slices.ContainsFunc(about, func(i OptionInfo) bool { return i.Name == name }) {
			list = append(list, OptionInfo{name, o.why})
		}
	}
	slices.SortFunc(list, func(a, b OptionInfo) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
