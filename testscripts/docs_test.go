package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocs runs the commands in the documents that need nothing but the embedded kernels,
// and compares what they print with what stands there.
func TestDocs(t *testing.T) {
	cache := t.TempDir()
	runDocs(t, cache, func(command string) bool { return !fetched.MatchString(command) })
}

// fetched tells a command that needs an image, a package or a kernel from elsewhere.
var fetched = regexp.MustCompile(`debian/|linux/|kernel/kernel|^(make|git|apt|sudo)`)

// pages are the documents whose commands are run.
func pages(t *testing.T) []string {
	return append(glob(t, "../docs/*.md"), "../README.md", "../examples/ci/README.md")
}

// runDocs runs the commands of each page that are wanted, in a directory of the page's own.
func runDocs(t *testing.T, cache string, want func(command string) bool) {
	for _, page := range pages(t) {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			have := runPage(t, lines, cache, want)
			switch {
			case slices.Equal(have, lines):
			case *update:
				if err := os.WriteFile(page, []byte(strings.Join(have, "\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s (-want +have; -update rewrites it):\n%s", page, cmp.Diff(lines, have))
			}
		})
	}
}

const (
	indent  = "    "
	command = indent + "$ "
	goesOn  = indent + ">"
	elided  = indent + "..."
)

// runPage returns a page in which the outputs of commands are what they print. A command is
// a line that begins with $, indented as an example, and those with > after it; its output
// is the rest of the example up to the next. A line ... in it stands for any lines.
func runPage(t *testing.T, lines []string, cache string, want func(string) bool) (have []string) {
	dir := t.TempDir()
	linkTree(t, dir)
	for i := 0; i < len(lines); {
		line := lines[i]
		have = append(have, line)
		i++
		text, ok := strings.CutPrefix(line, command)
		if !ok {
			continue
		}
		for ; i < len(lines) && strings.HasPrefix(lines[i], goesOn); i++ {
			have = append(have, lines[i])
			text += "\n" + strings.TrimPrefix(strings.TrimPrefix(lines[i], goesOn), " ")
		}
		end := outputEnd(lines, i)
		shown := lines[i:end]
		if want(text) {
			printed := runCommand(t, text, dir, cache)
			if slices.Contains(shown, elided) && len(printed) == 0 {
				t.Errorf("%s: prints nothing where there should be something", text)
			}
			have = append(have, agree(shown, printed)...)
		} else {
			have = append(have, shown...)
		}
		i = end
	}
	return have
}

// linkTree puts the project's directories into dir: commands are run from the project's.
func linkTree(t *testing.T, dir string) {
	for _, name := range []string{"images", "examples"} {
		path, err := filepath.Abs(filepath.Join("..", name))
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// outputEnd is the first line behind the output that begins at i. Empty lines are part of
// it if more of it follows.
func outputEnd(lines []string, i int) int {
	end := i
	for ; i < len(lines) && !strings.HasPrefix(lines[i], command); i++ {
		switch {
		case strings.HasPrefix(lines[i], indent):
			end = i + 1
		case lines[i] != "":
			return end
		}
	}
	return end
}

// runCommand returns what a command prints on both streams, as an example has it.
func runCommand(t *testing.T, text, dir, cache string) (lines []string) {
	sh := exec.Command("sh", "-c", strings.ReplaceAll(text, "bin/trapline", "trapline"))
	sh.Dir = dir
	sh.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME="+cache, "NO_COLOR=1")
	out, _ := sh.CombinedOutput() // an example may show an error
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, " \n")
		if line != "" {
			line = indent + line
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && lines[0] == "" { // an example cannot begin or end with an empty line
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// agree returns what is shown, if it is what was printed but for what is elided; otherwise
// what was printed.
func agree(shown, printed []string) []string {
	at := slices.Index(shown, elided)
	if at < 0 {
		return printed
	}
	if len(printed) < at || !slices.Equal(shown[:at], printed[:at]) {
		return printed
	}
	rest := shown[at+1:]
	for skip := at; skip <= len(printed); skip++ {
		if slices.Equal(agree(rest, printed[skip:]), rest) {
			return shown
		}
	}
	return printed
}

// An example of a command is one that is run: it begins with $. A list of commands with what
// they do, two blanks apart, is none.
func TestDocsRun(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, indent+"trapline ") && !regexp.MustCompile(`[A-Z]{3}|\[|\S  +\S`).MatchString(line) {
				t.Errorf("%s: an example that is not run: it should begin with $: %s", page, strings.TrimSpace(line))
			}
		}
	}
}

func TestAgree(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		same           bool
	}{
		{"a b", "a b", true},
		{"a b", "a c", false},
		{"... b", "x y b", true},
		{"a ...", "a", true},
		{"a ... c ... e", "a b c d e", true},
		{"a ... c ... e", "a b d e", false},
		{"... c", "c d", false},
	} {
		split := func(s string) []string {
			return strings.Split(indent+strings.ReplaceAll(s, " ", "\n"+indent), "\n")
		}
		shown := split(c.shown)
		if same := slices.Equal(agree(shown, split(c.printed)), shown); same != c.same {
			t.Errorf("%q and %q: %t", c.shown, c.printed, same)
		}
	}
}
