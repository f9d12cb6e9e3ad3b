package front

import (
	"fmt"

	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/compile"
	"trapline/probes/d/desugar"
	"trapline/probes/d/option"
	"trapline/probes/d/syntax"
)

// Compile compiles one or more sources as one program, and sets the options that they set. The error
// is a *CompileError where it is one of the program.
func (c *Config) Compile(sources []Source, m Macros) (*Program, error) {
	sources, err := c.prepare(sources)
	if err != nil {
		return nil, err
	}
	f := front{Config: c, sources: sources, macros: m}
	if failed, err := f.compile(); err != nil {
		return nil, &CompileError{sources[failed], err, c.Options.ErrTags}
	}
	return &f.program, nil
}

// A front is the state of one Compile.
type front struct {
	*Config
	sources []Source
	macros  Macros
	parts   []*syntax.Program // the guest's libraries, then the sources, as far as they could be read
	library int               // of parts: how many are the guest's
	unread  error             // the syntax error that ended the last part
	program Program
}

// compile compiles the sources. It returns the index of the source that an error is of.
func (f *front) compile() (failed int, err error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	if failed, err := f.check(); err != nil {
		return failed, err
	}
	all := f.join(f.parts)
	p := &f.program
	p.Sources, p.tree = f.sources, f.join(f.parts[f.library:])
	p.Code, err = compile.Compile(all)
	return len(f.sources) - 1, err
}

// read parses libraries and sources up to the first syntax error, and desugars them.
func (f *front) read() error {
	if err := f.addLibrary(); err != nil {
		return err
	}
	f.library = len(f.parts)
	var sugar desugar.Desugarer
	clauses := 0
	for _, src := range f.sources {
		p, err := src.parse(syntax.Options{IsType: f.isType()})
		p = desugar.Descriptions(sugar.Program(p), f.Resolver.Descriptions)
		f.parts = append(f.parts, p)
		if f.unread = err; err != nil {
			return nil
		}
		clauses += countClauses(p)
		f.program.ends = append(f.program.ends, clauses)
	}
	return nil
}

func countClauses(p *syntax.Program) (n int) {
	for _, it := range p.Items {
		if _, ok := it.(*syntax.Clause); ok {
			n++
		}
	}
	return n
}

// check checks what has been read, in order: what is wrong above a syntax error comes before that.
// It returns the index of the source that an error is of.
func (f *front) check() (failed int, err error) {
	c := check.New(f.checkEnv(f.sources, f.macros), f.parts...)
	for i, p := range f.parts {
		failed = max(i-f.library, 0)
		unread := f.unread
		if i < len(f.parts)-1 {
			unread = nil
		}
		if err := f.checkPart(c, p, unread); err != nil {
			return failed, err
		}
	}
	return failed, c.End(f.checkOptions())
}

// checkPart checks a part, which a syntax error has ended if unread is not nil.
func (f *front) checkPart(c *check.Checker, p *syntax.Program, unread error) error {
	if err := f.early(p); err != nil {
		return err
	}
	o := f.checkOptions()
	o.Empty = o.Empty || unread != nil
	if err := c.Part(p, o); err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	return f.setOptions(p)
}

// join makes one program of parts.
func (f *front) join(parts []*syntax.Program) *syntax.Program {
	last := f.parts[len(f.parts)-1]
	all := &syntax.Program{File: last.File, Spec: last.Spec, StrSize: last.StrSize}
	for _, p := range parts {
		all.Items = append(all.Items, p.Items...)
	}
	return all
}

// early sets the options that a program wants for its own compilation, and refuses those
// that come too late.
func (c *Config) early(p *syntax.Program) error {
	for _, o := range options(p) {
		var err error
		switch {
		case option.WhileCompiling(o.Name):
			err = c.Options.Set(o.Name, o.Value)
		case option.WhileReading(o.Name):
			err = fmt.Errorf("option %s: the program has been read already: give -x %s on the command line", o.Name, o.Name)
		}
		if err != nil {
			return badOption(o, err)
		}
	}
	return nil
}

// setOptions sets the options of a program that has been checked.
func (c *Config) setOptions(p *syntax.Program) error {
	for _, o := range options(p) {
		before := c.Options.Target
		err := c.Options.Set(o.Name, o.Value)
		if err == nil && c.Options.Target != before {
			err = fmt.Errorf("option %s: the guest is there already: give -x %[1]s=%s on the command line", o.Name, o.Value)
		}
		if err != nil {
			return badOption(o, err)
		}
	}
	return nil
}

// options lists the options that a program sets.
func options(p *syntax.Program) (all []code.Option) {
	for _, it := range p.Items {
		if pragma, ok := it.(*syntax.Pragma); ok {
			if o, ok := check.Option(pragma); ok {
				all = append(all, o)
			}
		}
	}
	return all
}

func badOption(o code.Option, err error) error {
	return &syntax.Error{Pos: syntax.Pos{Line: o.Line}, Tag: check.PragmaOptset, Msg: err.Error()}
}
