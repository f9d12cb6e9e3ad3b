package session

import (
	"errors"
	"fmt"
	"strings"

	"trapline/kernel/guestos"
	"trapline/probes/d/check"
	"trapline/probes/d/code"
	"trapline/probes/d/compile"
	"trapline/probes/d/desugar"
	"trapline/probes/d/option"
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

// Compile compiles the sources as one program and makes the probes that it describes. It
// is called once. The error is a *CompileError where it is one of the program.
func (s *Session) Compile(sources []Source, m Macros) error {
	sources, err := s.prepare(sources)
	if err != nil {
		return err
	}
	s.sources = sources
	defer s.typesTrouble()
	for i, src := range sources {
		if err := s.compile(sources[:i+1], m, i+1 == len(sources)); err != nil {
			return &CompileError{src, err, s.Options.ErrTags}
		}
	}
	return s.matchAll(sources)
}

// compile compiles some of the sources together. Those that come first have been found to
// be right, so that an error is one of the last.
func (s *Session) compile(sources []Source, m Macros, last bool) error {
	all := &syntax.Program{}
	s.ends = nil
	var sugar desugar.Desugarer
	if err := s.addLibrary(all, sources); err != nil {
		return err
	}
	own := len(all.Items)
	for _, src := range sources {
		p, err := src.parse(syntax.Options{IsType: s.isType(all)})
		if err != nil {
			return s.earlier(all, p, &sugar, m, err)
		}
		if err := s.early(p); err != nil {
			return err
		}
		p = desugar.Descriptions(sugar.Program(p), s.inlined.descriptions)
		all.Items = append(all.Items, p.Items...)
		all.File, all.Spec = p.File, p.Spec
		s.ends = append(s.ends, clauses(all))
	}
	if err := check.Check(all, s.checkEnv(m, last)); err != nil {
		return err
	}
	s.tree = &syntax.Program{File: all.File, Items: all.Items[own:], Spec: all.Spec, StrSize: all.StrSize}
	var err error
	if s.prog, err = compile.Compile(all); err != nil {
		return err
	}
	return s.setOptions(s.prog.Options)
}

// earlier is what is wrong in a program above a syntax error, or that error: a program is checked
// as it is read.
func (s *Session) earlier(all, p *syntax.Program, sugar *desugar.Desugarer, m Macros, syntaxErr error) error {
	if err := s.early(p); err != nil {
		return err
	}
	p = desugar.Descriptions(sugar.Program(p), s.inlined.descriptions)
	all.Items = append(all.Items, p.Items...)
	all.File, all.Spec = p.File, p.Spec
	env := s.checkEnv(m, false)
	env.Options.Empty = true
	if err := check.Check(all, env); err != nil {
		return err
	}
	return syntaxErr
}

func clauses(p *syntax.Program) (n int) {
	for _, it := range p.Items {
		if _, ok := it.(*syntax.Clause); ok {
			n++
		}
	}
	return n
}

// checkEnv is what programs are checked against. Only all sources together must use all
// macro arguments.
func (s *Session) checkEnv(m Macros, last bool) check.Env {
	a := s.Target.Arch()
	regs := map[string]int{"PC": int(a.PC), "SP": int(a.SP), "FP": int(a.FP)}
	for i, r := range a.Regs {
		regs[r.Name] = i
	}
	for name, r := range a.Aliases {
		regs[name] = int(r)
	}
	return check.Env{
		Regs: regs, Symbol: s.findSymbol, MacroArgs: m.Args, Macros: macroVars(m.Vars),
		Types: s.types(), Args: s.argTypes, Local: s.localType, HasProvider: s.hasProvider, HasModule: s.ktext.InKernel, Libraries: append(libraryNames(s.sources), guestos.LibraryNames()...),
		Options: check.Options{DefaultArgs: s.Options.DefaultArgs, ArgRef: !last || s.Options.ArgRef, Empty: s.Options.Empty, StrSize: s.Options.StrSize},
	}
}

func (s *Session) findSymbol(module, name string) (addr, size uint64, ok bool) {
	if module != "" && !s.ktext.InKernel(module) {
		return 0, 0, false
	}
	for _, sym := range s.Symbols.Lookup(name) {
		return sym.Addr, sym.Size, true
	}
	return 0, 0, false
}

// early sets the options that a program wants for its own compilation, and refuses those
// that come too late.
func (s *Session) early(p *syntax.Program) error {
	for _, it := range p.Items {
		pragma, ok := it.(*syntax.Pragma)
		if !ok {
			continue
		}
		o, ok := check.Option(pragma)
		var err error
		switch {
		case ok && option.WhileCompiling(o.Name):
			err = s.Options.Set(o.Name, o.Value)
		case ok && option.WhileReading(o.Name):
			err = fmt.Errorf("option %s: the program has been read already: give -x %s on the command line", o.Name, o.Name)
		}
		if err != nil {
			return badOption(o, err)
		}
	}
	return nil
}

func badOption(o code.Option, err error) error {
	return &syntax.Error{Pos: syntax.Pos{Line: o.Line}, Tag: check.PragmaOptset, Msg: err.Error()}
}

func (s *Session) setOptions(opts []code.Option) error {
	for _, o := range opts {
		before := s.Options.Target
		err := s.Options.Set(o.Name, o.Value)
		if err == nil && s.Options.Target != before {
			err = fmt.Errorf("option %s: the guest is there already: give -x %[1]s=%s on the command line", o.Name, o.Value)
		}
		if err != nil {
			return badOption(o, err)
		}
	}
	return nil
}

// matchAll finds the probes of all clauses.
func (s *Session) matchAll(sources []Source) error {
	var err error
	if s.ktext.Policy, err = guestos.ParsePolicy(s.Options.KinstPolicy); err != nil {
		return fmt.Errorf("option kinstpolicy: %w", err)
	}
	s.counts = make([]int, len(sources))
	at := 0
	for i, c := range s.prog.Clauses {
		for i >= s.ends[at] {
			at++
		}
		n, err := s.match(sources[at], i)
		if err != nil {
			return err
		}
		if !c.Sugar {
			s.counts[at] += n
		}
	}
	s.sources = sources
	s.on.Index(s.registry.Len())
	return nil
}

// announce tells how many probes each source matched.
func (s *Session) announce() {
	if s.Options.Quiet {
		return
	}
	for i, src := range s.sources {
		if src.Library {
			continue
		}
		plural := "s"
		if s.counts[i] == 1 {
			plural = ""
		}
		s.complain("%v matched %d probe%s", src, s.counts[i], plural)
	}
}
