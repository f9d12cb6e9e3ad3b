package check

import "trapline/probes/d/option"

// since is the version of D that names came with; those that are not here have been there from 1.0.
var since = map[option.Version][]string{
	{1, 1}:  {"freopen", "index", "rindex", "strchr", "strrchr", "strstr", "strtok", "substr"},
	{1, 2}:  {"func", "mod", "sym", "uaddr", "ucaller", "ufunc", "umod", "ustackdepth", "usym"},
	{1, 3}:  {"htonl", "htonll", "htons", "ntohl", "ntohll", "ntohs"},
	{1, 5}:  {"inet_ntoa", "inet_ntoa6", "inet_ntop"},
	{1, 6}:  {"stddev"},
	{1, 7}:  {"llquantize"},
	{1, 8}:  {"tolower", "toupper"},
	{1, 9}:  {"print"},
	{1, 11}: {"json", "strtoll"},
}

// later are the names that the version of D that a program asks for does not have: they are the program's.
func later(asked option.Version) map[string]bool {
	names := make(map[string]bool)
	if asked == (option.Version{}) {
		return names
	}
	for v, list := range since {
		if asked.Before(v) {
			for _, name := range list {
				names[name] = true
			}
		}
	}
	return names
}

// functionNamed is a subroutine, action or aggregating function of the language, in the version that the
// program asks for.
func (c *checker) functionNamed(name string) (fn any, ok bool) {
	if c.later[name] {
		return nil, false
	}
	fn, ok = functions[name]
	return fn, ok
}

// builtin is a variable of the language, likewise.
func (c *checker) builtin(name string) (b any, ok bool) {
	if c.later[name] {
		return nil, false
	}
	b, ok = builtins[name]
	return b, ok
}
