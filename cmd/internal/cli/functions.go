package cli

import "trapline/cmd/internal/guests"

// debug is the guest's debug information, with progress on a terminal.
func (g *guest) debug(e *env) guests.Debug {
	return guests.Debug{
		Kernel: g.Kernel, Indexing: e.indexing(), Reading: e.manyPieces("reading lines of the source"),
		Warn: e.complain,
	}
}

// indexing shows on a terminal how much of the debug information has been read.
func (e *env) indexing() func(done, total int64) {
	p := e.progress()
	var last int64
	return func(done, total int64) {
		if last == 0 {
			p.Start("reading debug information", total)
		}
		p.Add(done - last)
		last = done
		if done == total {
			p.Done()
		}
	}
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
