package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"trapline/emu"
	"trapline/kernel/arch"
)

// patience is how long something may take without a word.
const patience = time.Second

// A screen is the terminal that messages go to. It names a step that says nothing, and takes
// that away before anything else is written. A nil screen shows nothing.
type screen struct {
	mu       sync.Mutex
	out      io.Writer
	patience time.Duration
	width    func() int // of the terminal; nil: not asked for yet
	quiet    time.Time  // since when nothing has been written
	shown    bool       // a line of ours is there
	inside   bool       // what was written last has not ended its line, which is not ours to erase
}

const eraseLine = "\r\x1b[K" // ECMA-48, 8.3.41

// wrote takes note of what is about to be written to the terminal.
func (s *screen) wrote(p []byte) {
	if s == nil || len(p) == 0 {
		return
	}
	s.erase()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := p[len(p)-1]
	s.inside = last != '\n' && last != '\r'
}

func (s *screen) erase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown {
		io.WriteString(s.out, eraseLine)
	}
	s.shown, s.quiet = false, time.Now()
}

// show shows a line if there has been nothing else for long enough.
func (s *screen) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside || time.Since(s.quiet) < s.patience {
		return
	}
	io.WriteString(s.out, eraseLine+s.fit(text))
	s.shown = true
}

// fit cuts a line to the terminal: one that wraps is not erased as a whole.
func (s *screen) fit(text string) string {
	if f, ok := s.out.(*os.File); ok && s.width == nil {
		s.width = func() int { w, _, _ := term.GetSize(int(f.Fd())); return w } // 0 if it does not say
	}
	if s.width == nil {
		return text
	}
	if w := s.width() - 1; w > 0 && len(text) > w {
		return text[:w]
	}
	return text
}

// busy shows what a step is doing, while it says nothing, until it is stopped.
func (s *screen) busy(what func() string) (stop func()) {
	if s == nil {
		return func() {}
	}
	s.erase()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				s.show(what())
			case <-quit:
				s.erase()
				return
			}
		}
	}()
	return func() { close(quit); <-ended }
}

// elapsed is for busy: a name and the seconds that have gone by.
func elapsed(name string) func() string {
	start := time.Now()
	return func() string { return fmt.Sprintf("%s: %.0f s", name, time.Since(start).Seconds()) }
}

// messages are what is written to a screen besides its own line.
type messages struct {
	io.Writer
	screen *screen
}

func (m *messages) Write(p []byte) (int, error) {
	m.screen.wrote(p)
	return m.Writer.Write(p)
}

// wait shows how far a guest is that boots, until it is stopped. It leaves no trace.
func (g *guest) wait(e *env) (stop func()) {
	if e.screen == nil {
		return func() {}
	}
	g.watchClock()
	done := e.screen.busy(func() string {
		return fmt.Sprintf("booting %s: %.2f s of its time", g.Spec.Name, float64(g.clock.Load())/1e9)
	})
	return func() {
		done()
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
