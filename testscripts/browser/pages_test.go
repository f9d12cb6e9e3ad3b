//go:build browser

package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What trapline writes of the embedded kernels.
func TestPages(t *testing.T) {
	open(t, []page{
		{"annotate.html", []string{"annotate", "find_either*", "-c", "shapes", "--html", "$FILE"}, readListing},
		{"annotate-riscv64.html", []string{"annotate", "-k", "tiny/riscv64", "find_either*", "-c", "shapes", "--html", "$FILE"}, readListing},
		{"disas.html", []string{"disas", "-k", "tiny/arm64", "sys_*", "--html", "$FILE"}, nil},
		{"explain.html", []string{"explain", "process_fork:28", "-c", "forks 3", "--html", "$FILE"}, nil},
		{"explain-arm64.html", []string{"explain", "-k", "tiny/arm64", "process_fork:8", "-c", "forks 3", "--html", "$FILE"}, nil},
		{"flame.svg", []string{"flame", "-c", "forks 3", "-n", `kinst::process_*: { @[execname, stack()] = count(); @q["bytes"] = quantize(arg0); }`, "--svg", "$FILE"}, readFlames},
	})
}

// readListing puts the pointer on an instruction and folds an inlined function.
func readListing(b *tab) {
	const first = `document.querySelector(".code p[data-t]")`
	eval[bool](b, first+`.id = "first", true`)
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#first")))
	at := eval[[]float64](b, `(r => [r.left + 50, r.top + r.height / 2])(`+first+`.getBoundingClientRect())`)
	b.do(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	if tip := eval[string](b, `getComputedStyle(`+first+`, "::after").content`); !strings.Contains(tip, "trampoline") {
		b.Errorf("under the pointer there is %s", tip)
	}
	b.picture("hover")
	const height = `document.querySelector(".code details").getBoundingClientRect().height`
	before := eval[float64](b, height)
	b.do(chromedp.Click(chromedp.CSS(".code summary")))
	if after := eval[float64](b, height); before == after {
		b.Errorf("a click on an inlined function leaves its height of %g", before)
	}
}

// readFlames widens a frame, searches, and goes back.
func readFlames(b *tab) {
	const shown = `[...document.querySelectorAll(".frame:not(.hidden)")].map(e => e.querySelector("title").textContent + " " + e.getBoundingClientRect().width.toFixed())`
	all := eval[[]string](b, shown)
	eval[bool](b, `[...document.querySelectorAll(".frame")].find(e => e.querySelector("text").textContent == "process_fork").id = "fork", true`)
	b.do(chromedp.Click(chromedp.CSS("#fork")))
	whole := eval[float64](b, `document.querySelector(".panel").getBoundingClientRect().width`)
	if w := eval[float64](b, `document.querySelector("#fork").getBoundingClientRect().width`); w < whole-1 || w > whole+1 {
		b.Errorf("a frame that is clicked has %g of %g pixels", w, whole)
	}
	if n := len(eval[[]string](b, shown)); n >= len(all) {
		b.Errorf("%d frames are shown beside one that has been widened, before there were %d", n, len(all))
	}
	b.picture("zoom")
	b.do(chromedp.SendKeys(chromedp.CSS("input"), "SYS_"))
	if n := eval[int](b, `document.querySelectorAll(".found").length`); n == 0 {
		b.Error("nothing is found")
	}
	if told := eval[string](b, `document.querySelector(".matched").textContent`); !strings.HasSuffix(told, "% found") || told == "0.0% found" {
		b.Errorf("of what is found it says %q", told)
	}
	b.picture("search")
	b.do(chromedp.KeyEvent("\u001b"))
	if back := eval[[]string](b, shown); !slices.Equal(back, all) {
		b.Errorf("Escape shows\n%s\nbefore there was\n%s", strings.Join(back, "\n"), strings.Join(all, "\n"))
	}
}

// What pages must not do is noticed.
func TestProblems(t *testing.T) {
	browser := start(t)
	for text, want := range map[string]string{
		`<p>fine`:                          "",
		`<img src="other.png">`:            "asks for file:",
		`<script>console.log(1)</script>`:  "console: log",
		`<script>nosuch()</script>`:        "exception: ",
		`<pre>` + strings.Repeat("x", 999): "in a window of 400 pixels the page has ",
		`<p style="font-size: 5px">small`:  "in a window of 400 pixels there is text of 5",
	} {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, []byte("<!DOCTYPE html>"+text), 0o666); err != nil {
			t.Fatal(err)
		}
		b := newTab(t, browser, file)
		b.look(400)
		told := strings.Join(b.problems(), "\n")
		if want == "" && told != "" || !strings.Contains(told, want) {
			t.Errorf("%s: %q", text, told)
		}
	}
}
