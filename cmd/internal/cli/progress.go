package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"trapline/emu"
	"trapline/images"
	"trapline/kernel/arch"
)

// terminal reports whether w is a terminal that can move its cursor.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// progress shows long steps on a terminal, and nothing elsewhere.
func (e *env) progress() images.Progress {
	if !terminal(e.stderr) {
		return images.NoProgress{}
	}
	return &bar{out: e.stderr}
}

// bar is a progress bar for one step after the other.
type bar struct {
	out io.Writer
	bar *progressbar.ProgressBar
}

func (b *bar) Start(what string, total int64) {
	b.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(b.out),
		progressbar.OptionShowBytes(total > 0), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionSpinnerType(14),
		progressbar.OptionThrottle(100*time.Millisecond))
	b.bar.RenderBlank()
}

func (b *bar) Add(n int64) { b.bar.Add64(n) }

func (b *bar) Done() { b.bar.Finish() }

// patience is how long something may take without a word.
const patience = time.Second

// wait shows on a terminal how far a guest is that says nothing, until it is stopped. It
// leaves no trace.
func (g *guest) wait(e *env) (stop func()) {
	if g.log.out != io.Discard || !terminal(e.stderr) {
		return func() {}
	}
	g.watchClock()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		g.showClock(e.stderr, quit)
	}()
	return func() {
		close(quit)
		<-ended
		g.machine.OnTick(emu.Never, nil)
	}
}

// watchClock keeps g.clock up to date.
func (g *guest) watchClock() {
	const step = 10e6
	var tick func(arch.CPU)
	tick = func(arch.CPU) {
		g.clock.Store(g.machine.Now())
		g.machine.OnTick(g.machine.Now()+step, tick)
	}
	g.machine.OnTick(step, tick)
}

func (g *guest) showClock(w io.Writer, quit chan struct{}) {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	for first := time.After(patience); ; {
		select {
		case <-first:
			first = nil
		case <-every.C:
			if first == nil {
				fmt.Fprintf(w, "\r\x1b[Kbooting %s: %.2f s of its time", g.spec.Name, float64(g.clock.Load())/1e9)
			}
		case <-quit:
			if first == nil {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		}
	}
}
