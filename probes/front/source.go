package front

import (
	"errors"
	"fmt"
	"strings"

	"trapline/probes/d/syntax"
)

// A Source is a D program: a script, or a probe specifier of the command line.
type Source struct {
	File string // of a script, "" for a specifier
	Text string
	Kind syntax.SpecKind // of a specifier: the option it was given with
	// Library: a script from a directory of libraries. Its clauses are not announced.
	Library bool
}

// String is how messages call it: "script 'a.d'", "description 'vfs_read:3'".
func (s Source) String() string {
	if s.File != "" {
		return fmt.Sprintf("script '%s'", s.File)
	}
	desc := s.Text
	if i := strings.IndexAny(desc, "{/;"); i >= 0 {
		desc = desc[:i]
	}
	return fmt.Sprintf("description '%s'", desc)
}

func (s Source) parse(opts syntax.Options) (*syntax.Program, error) {
	if s.File != "" {
		return syntax.Parse(s.File, []byte(s.Text), opts)
	}
	return syntax.ParseSpec(s.Kind, s.Text, opts)
}

// A CompileError is an error in a D program.
type CompileError struct {
	Source Source
	Err    error
	Tags   bool // with the error's tag: option errtags
}

func (e *CompileError) Unwrap() error { return e.Err }

// Error is in the words of dtrace(1), without its name in front.
func (e *CompileError) Error() string {
	text := e.Err.Error()
	var se *syntax.Error
	if errors.As(e.Err, &se) {
		text = se.Text(e.Tags)
	}
	if e.Source.File != "" {
		return fmt.Sprintf("failed to compile script %s: %s", e.Source.File, text)
	}
	return fmt.Sprintf("invalid probe specifier %s: %s", e.Source.Text, text)
}

// Macros are what macro variables of a program stand for.
type Macros struct {
	Args []string          // $0, $1 ...
	Vars map[string]string // "target", "pid"
}
