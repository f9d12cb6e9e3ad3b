// Conformance runs DTrace's own tests against trapline. They are not part of the project: $CONFORMANCE,
// or ../shared/conformance, is the directory that has them and a runner called run. For each image of
// $IMAGES it reports how many tests pass, and fails if they are fewer than figures.txt says.
//
// Where the original's answers are there too ($ORACLE, a file of JSON, or compressed with xz), it reports in
// how many of the tests that succeed there the standard output is the same here. CPU and ID columns and
// blanks at the ends of lines do not count.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed figures.txt
var figures string

func main() {
	dir := cmp.Or(os.Getenv("CONFORMANCE"), "../shared/conformance")
	if _, err := os.Stat(filepath.Join(dir, "run")); err != nil {
		fmt.Printf("conformance: DTrace's tests are not in %s; set CONFORMANCE to where they are\n", dir)
		return
	}
	failed := false
	for _, image := range strings.Fields(cmp.Or(os.Getenv("IMAGES"), "tiny/amd64")) {
		if err := check(dir, image); err != nil {
			fmt.Fprintln(os.Stderr, "conformance:", err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check runs the tests on one image.
func check(dir, image string) error {
	passed, all, err := run(dir, image)
	if err != nil {
		return fmt.Errorf("%s: running the tests: %w", image, err)
	}
	fmt.Printf("%s: %d of %d pass\n", image, len(passed), all)
	if err := compare(dir, image, passed); err != nil {
		return fmt.Errorf("%s: comparing with the original: %w", image, err)
	}
	if want := figure(image); len(passed) < want {
		return fmt.Errorf("%s: %d tests pass, %d did before (testscripts/conformance/figures.txt)", image, len(passed), want)
	}
	return nil
}

// figure is how many tests have to pass on an image: 0 if that is not known.
func figure(image string) (n int) {
	for line := range strings.Lines(figures) {
		if rest, ok := strings.CutPrefix(line, image+" "); ok {
			fmt.Sscan(rest, &n)
		}
	}
	return n
}

// run returns the names of the tests that pass, and how many there are.
func run(dir, image string) (passed []string, all int, err error) {
	trapline, err := filepath.Abs("bin/trapline")
	if err != nil {
		return nil, 0, err
	}
	list, err := os.CreateTemp("", "conformance")
	if err != nil {
		return nil, 0, err
	}
	defer os.Remove(list.Name())
	defer list.Close()
	cmd := exec.Command(filepath.Join(dir, "run"), "-o", list.Name())
	cmd.Env = append(os.Environ(), "TRAPLINE="+trapline+" dtrace -k "+image)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, out)
	}
	for s := bufio.NewScanner(list); s.Scan(); all++ {
		if f := strings.Split(s.Text(), "\t"); len(f) > 1 && f[1] == "pass" {
			passed = append(passed, f[0])
		}
	}
	return passed, all, nil
}

// An answer is what the original did with a test.
type answer struct {
	Out    string `json:"out"`
	Status int    `json:"rc"`
}

// compare reports how many of the tests have the original's standard output, of those that succeed
// there.
func compare(dir, image string, passed []string) error {
	name := cmp.Or(os.Getenv("ORACLE"), filepath.Join(dir, "../freebsd/amd64/oracle/dtest.json.xz"))
	answers, err := read(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var differ []string
	all := 0
	for _, test := range passed {
		a, ok := answers[test]
		if !ok || a.Status != 0 || !strings.HasPrefix(filepath.Base(test), "tst.") {
			continue
		}
		if all++; !same(output(dir, image, test), a.Out) {
			differ = append(differ, test)
		}
	}
	fmt.Printf("%s: %d of %d print what the original prints\n", image, all-len(differ), all)
	if os.Getenv("VERBOSE") != "" {
		slices.Sort(differ)
		fmt.Println("\t" + strings.Join(differ, "\n\t"))
	}
	return nil
}

func read(name string) (answers map[string]answer, err error) {
	data, err := os.ReadFile(name)
	if err == nil && strings.HasSuffix(name, ".xz") {
		cmd := exec.Command("xz", "-dc")
		cmd.Stdin = bytes.NewReader(data)
		data, err = cmd.Output()
	}
	if err != nil {
		return nil, err
	}
	return answers, json.Unmarshal(data, &answers)
}

// output is what trapline prints for a test.
func output(dir, image, test string) string {
	trapline, err := filepath.Abs("bin/trapline")
	if err != nil {
		return err.Error()
	}
	cmd := exec.Command("timeout", "20", trapline, "dtrace", "-k", image, "-C", "-s", filepath.Base(test))
	cmd.Dir = filepath.Join(dir, "tests", filepath.Dir(test))
	out, _ := cmd.Output() // its status has been looked at
	return string(out)
}

var (
	columns = regexp.MustCompile(`(?m)^ *\d+ +\d+ +(\S*:\S+)`)
	blanks  = regexp.MustCompile(`(?m)[ \t\r]+$`)
)

// cutOff is how many bytes of an answer are kept.
const cutOff = 16000

// same reports whether a trace is the original's, or begins with the whole lines of one that was cut off.
func same(got, want string) bool {
	g, w := normal(got), normal(want)
	if len(want) < cutOff {
		return g == w
	}
	return strings.HasPrefix(g, w[:strings.LastIndex(w, "\n")+1])
}

// normal is a trace without what may differ.
func normal(s string) string {
	return strings.TrimRight(blanks.ReplaceAllString(columns.ReplaceAllString(s, "0 0 $1"), ""), "\n")
}
