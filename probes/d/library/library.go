// Package library holds the D programs that are read before the user's: types and
// translators for what a guest's kernel keeps of processes and files. One is read only
// where a program uses a name that it defines, so that others pay nothing.
package library

import (
	_ "embed"
	"regexp"
)

// Linux is the library for Linux guests, "linux.d".
//
//go:embed linux.d
var Linux string

// names are those that Linux defines.
var names = regexp.MustCompile(`\b(psinfo_t|lwpsinfo_t|fileinfo_t|curpsinfo|curlwpsinfo|struct psinfo|struct lwpsinfo|struct fileinfo)\b`)

// For gives the library of a guest's operating system by the name of package guestos, with
// its own name, if a program needs it. Text may be in a comment: that costs some time.
func For(os, program string) (name, text string) {
	if os == "linux" && names.MatchString(program) {
		return "linux.d", Linux
	}
	return "", ""
}
