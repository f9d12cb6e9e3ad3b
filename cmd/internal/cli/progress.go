package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"trapline/images"
)

// terminal reports whether w is a terminal that can move its cursor.
func terminal(w io.Writer) bool {
	switch x := w.(type) {
	case *sink:
		w = x.Writer
	case *messages:
		w = x.Writer
	}
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// progress returns a progress bar if stderr is a terminal, a silent Progress otherwise.
func (e *env) progress() images.Progress {
	if !terminal(e.stderr) {
		return images.NoProgress{}
	}
	return &bar{out: e.stderr}
}

// bar is a progress bar. Its steps come one after the other.
type bar struct {
	out io.Writer
	bar *progressbar.ProgressBar
}

// Start implements images.Progress.
func (b *bar) Start(what string, total int64) {
	b.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(b.out),
		progressbar.OptionShowBytes(total > 0), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(30), progressbar.OptionSpinnerType(14),
		progressbar.OptionThrottle(100*time.Millisecond))
	b.bar.RenderBlank()
}

// Add implements images.Progress.
func (b *bar) Add(n int64) { b.bar.Add64(n) }

// Done implements images.Progress.
func (b *bar) Done() { b.bar.Finish() }
