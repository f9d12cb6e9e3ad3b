//go:build browser

// Package browser opens the pages and pictures that trapline writes in Chromium, which has to
// be installed (make browser). With -screenshots DIR the test keeps what it saw, for people.
package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/rogpeppe/go-internal/testscript"

	"trapline/cmd/clitest"
)

var screenshots = flag.String("screenshots", "", "keep screenshots in `DIR`")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trapline": clitest.Main})
}

// largest is how many bytes a page may have.
const largest = 2 << 20

// A page is one that trapline writes, and what a reader does with it.
type page struct {
	name string   // of the file
	args []string // of trapline, which writes the file; $FILE stands for it
	read func(*tab)
}

// open checks pages: they are small, ask for nothing, bring no message to the console, fit
// windows of both widths, and do what their readers expect.
func open(t *testing.T, pages []page) {
	browser := start(t)
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			b := newTab(t, browser, write(t, p))
			b.look(1200)
			if p.read != nil {
				p.read(b)
			}
			b.look(400)
			for _, problem := range b.problems() {
				t.Error(problem)
			}
		})
	}
}

// start starts a Chromium that keeps nothing and talks to nobody.
func start(t *testing.T) context.Context {
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err, ": make browser installs it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("remote-debugging-pipe", true),
	}
	for _, name := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync"} {
		options = append(options, chromedp.Flag(name, true))
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// write has trapline write a page.
func write(t *testing.T, p page) (file string) {
	file = filepath.Join(t.TempDir(), p.name)
	args := make([]string, len(p.args))
	for i, arg := range p.args {
		args[i] = strings.ReplaceAll(arg, "$FILE", file)
	}
	if out, err := exec.Command("trapline", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d bytes", info.Size()); info.Size() > largest {
		t.Errorf("%s has %d bytes, more than %d", p.name, info.Size(), largest)
	}
	return file
}

// A tab is one page, open in a browser.
type tab struct {
	*testing.T
	ctx  context.Context
	file string
	mu   sync.Mutex
	told []string // problems
}

func newTab(t *testing.T, browser context.Context, file string) *tab {
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, file: file}
	b.watch()
	return b
}

// watch notes what is asked for besides the file, and what comes to the console.
func (b *tab) watch() {
	err := chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; url != "file://"+b.file && !strings.HasPrefix(url, "data:") {
				b.tell("asks for " + url)
			}
		case *log.EventEntryAdded:
			b.tell("console: " + e.Entry.Text)
		case *runtime.EventConsoleAPICalled:
			b.tell(fmt.Sprint("console: ", e.Type))
		case *runtime.EventExceptionThrown:
			b.tell("exception: " + e.ExceptionDetails.Text)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *tab) tell(problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, problem)
}

func (b *tab) problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told
}

// do does what a user does.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// look opens the page in a window, which it must not be wider than, and looks for text that is
// too small.
func (b *tab) look(width int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 800), chromedp.Navigate("file://"+b.file))
	b.picture(fmt.Sprint(width))
	const needed = `(e => Math.max(e.scrollWidth, e.getBoundingClientRect().right))(document.documentElement)`
	if w := eval[float64](b, needed); w > float64(width) {
		b.tell(fmt.Sprintf("in a window of %d pixels the page has %g", width, w))
	}
	const smallest = `Math.min(16, ...[...document.querySelectorAll("p, pre, h3, summary, text")].map(e => parseFloat(getComputedStyle(e).fontSize)))`
	if size := eval[float64](b, smallest); size < 10 {
		b.tell(fmt.Sprintf("in a window of %d pixels there is text of %g", width, size))
	}
}

// picture keeps a screenshot.
func (b *tab) picture(what string) {
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	name := strings.NewReplacer("/", "-", ".", "-").Replace(b.Name()) + "-" + what + ".png"
	if err := os.WriteFile(filepath.Join(*screenshots, name), png, 0o666); err != nil {
		b.Fatal(err)
	}
}
