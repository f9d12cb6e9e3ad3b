package cli

import (
	"errors"
	"fmt"

	"trapline/kernel"
	"trapline/kernel/debuginfo"
	"trapline/kernel/source"
	"trapline/probes/copies"
	"trapline/probes/session"
)

// noDebugInfo says what to do then.
const noDebugInfo = "build the kernel with CONFIG_DEBUG_INFO, or give the file with its debug information with --debug-file"

// functions is the index of the kernel's functions in its debug information, made the
// first time with progress on a terminal.
func (g *guest) functions(e *env) (*debuginfo.Index, error) {
	if g.funcs != nil {
		return g.funcs, nil
	}
	img, err := g.debugInfo(e)
	if err != nil {
		return nil, err
	}
	p := e.progress()
	var last int64
	g.funcs, err = debuginfo.OpenIndex(img, cacheDir(), func(done, total int64) {
		if last == 0 {
			p.Start("reading debug information", total)
		}
		p.Add(done - last)
		last = done
	})
	if last > 0 {
		p.Done()
	}
	if errors.Is(err, debuginfo.ErrNoDebugInfo) {
		err = fmt.Errorf("%w: %s", err, noDebugInfo)
	}
	return g.funcs, err
}

// locals are the local variables of the kernel's functions.
func (g *guest) locals(e *env) (*debuginfo.Locals, error) {
	x, err := g.functions(e)
	if err != nil {
		return nil, err
	}
	img, err := g.debugInfo(e)
	if err != nil {
		return nil, err
	}
	if !debuginfo.HasDWARF(img) { // the index was kept
		return nil, fmt.Errorf("%s: %w", img.Name(), debuginfo.ErrNoDebugInfo)
	}
	return debuginfo.NewLocals(img, x, debuginfo.New(img, cacheDir(), ""), g.image), nil
}

// debugInfo is the image, or the file that its debug information has been moved to.
func (g *guest) debugInfo(e *env) (*kernel.Image, error) {
	if debuginfo.HasDWARF(g.image) {
		return g.image, nil
	}
	debug, mismatches := debuginfo.Separate(g.image, debuginfo.Root)
	for _, m := range mismatches {
		e.complain(fmt.Errorf("warning: debug file passed over: %w", m))
	}
	if debug == nil {
		return g.image, nil
	}
	g.closers = append(g.closers, debug)
	return debug, nil
}

// inlinable are the functions of the guest's kernel with what probes need to know of them.
func (g *guest) inlinable(e *env) (*session.Functions, error) {
	x, err := g.functions(e)
	if err != nil {
		return nil, err
	}
	f, err := copies.New(g.image)
	if err != nil {
		return nil, err
	}
	return &session.Functions{Index: x, Finder: f}, nil
}

// source is what the debug information tells of the lines of the kernel.
func (g *guest) source(e *env) (*copies.Source, error) {
	img, err := g.debugInfo(e)
	if err != nil {
		return nil, err
	}
	info, err := source.OpenLinked(img)
	if errors.Is(err, source.ErrNone) {
		err = fmt.Errorf("%w: %s", err, noDebugInfo)
	}
	if err != nil {
		return nil, err
	}
	s := copies.NewSource(info, g.image.Symtab())
	s.Progress = e.manyPieces("reading lines of the source")
	return s, nil
}

// manyPieces shows on a terminal how many of many pieces of code have been looked at; of few
// there is nothing to show.
func (e *env) manyPieces(what string) func(done, total int) {
	const many = 500
	p := e.progress()
	return func(done, total int) {
		if total < many {
			return
		}
		if done == 1 {
			p.Start(what, int64(total))
		}
		if p.Add(1); done == total {
			p.Done()
		}
	}
}
