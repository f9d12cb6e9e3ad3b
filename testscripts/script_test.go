// Package testscripts tests trapline as its users see it: each script runs commands and
// compares what they print. README says how to read, run and write them.
package testscripts

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"trapline/cmd/clitest"
	"trapline/cmd/script"
	"trapline/kernel/arch"
)

var update = flag.Bool("update", false, "rewrite the golden text in the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trapline": clitest.Main})
}

// TestScripts runs the scripts that need nothing but the embedded kernels.
func TestScripts(t *testing.T) {
	runScripts(t, "tiny", onTiny)
}

func onTiny(a *arch.Arch, env *testscript.Env) error {
	env.Setenv("TRAPLINE_IMAGE", "tiny/"+a.Name)
	return nil
}

// runScripts runs the scripts of a directory for each architecture, each with a cache of its
// own. What setup does to a script's environment is its image, TRAPLINE_IMAGE, at least.
func runScripts(t *testing.T, dir string, setup func(*arch.Arch, *testscript.Env) error) {
	for _, a := range arch.All {
		t.Run(a.Name, func(t *testing.T) {
			if !*update { // which goes from one architecture to the next
				t.Parallel()
			}
			runFor(t, a, scriptsFor(t, dir, a), setup)
		})
	}
}

// scriptsFor is a directory with the scripts as they are run for an architecture. In the
// end, what has been updated goes back to where they come from.
func scriptsFor(t *testing.T, dir string, a *arch.Arch) string {
	tmp := t.TempDir()
	for _, file := range glob(t, filepath.Join(dir, "*.txtar")) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(tmp, filepath.Base(file))
		if err := os.WriteFile(copied, txtar.Format(forArch(archive, a.Name)), 0o666); err != nil {
			t.Fatal(err)
		}
		if *update {
			t.Cleanup(func() { updateScript(t, file, copied, a) })
		}
	}
	return tmp
}

func updateScript(t *testing.T, file, copied string, a *arch.Arch) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran, err := txtar.ParseFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	merge(archive, ran, a.Name)
	if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
		t.Error(err)
	}
}

func runFor(t *testing.T, a *arch.Arch, dir string, setup func(*arch.Arch, *testscript.Env) error) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p := script.Params()
	p.Dir = dir
	p.UpdateScripts = *update
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("ARCH", a.Name)
		env.Setenv("TINY", filepath.Join(root, "images/tiny/tiny-"+a.Name+".elf"))
		env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
		env.Setenv("DOCS", filepath.Join(root, "docs"))
		env.Setenv("XDG_CACHE_HOME", filepath.Dir(ownCache(env)))
		env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
		return setup(a, env)
	}
	other := p.Condition
	p.Condition = func(cond string) (bool, error) {
		if name, ok := strings.CutPrefix(cond, "arch:"); ok {
			return name == a.Name, nil
		}
		return other(cond)
	}
	testscript.Run(t, p)
}

// ownCache is where trapline keeps images and snapshots in a script.
func ownCache(env *testscript.Env) string { return filepath.Join(env.WorkDir, "cache", "trapline") }

// The README names every command and condition that the scripts have besides
// testscript's own, in the words of the table.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := script.Usage(); !strings.Contains(string(text), want) {
		t.Errorf("README.md should have the lines\n%s", want)
	}
	if !strings.Contains(string(text), "`[arch:NAME]`") || !strings.Contains(string(text), "`[image:NAME]`") {
		t.Error("README.md should tell the conditions `[arch:NAME]` and `[image:NAME]`")
	}
}

// The example in the project's README prints what it says there: that of kinst_glob.
func TestFrontPage(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := txtar.ParseFile("tiny/kinst_glob.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.ReplaceAll(string(page), "\n    ", "\n")
	for _, f := range example.Files {
		if f.Name == "want" && !strings.Contains(shown, "\n"+string(f.Data)) {
			t.Errorf("README.md does not show the output of the example, which is\n%s", f.Data)
		}
	}
	if line := "dtrace -c 'forks 3' -n 'kinst::sys_*:0 { @[probefunc] = count(); }'"; !strings.Contains(shown, line) ||
		!strings.Contains(strings.ReplaceAll(string(example.Comment), "-x crosscheck ", ""), line) {
		t.Errorf("README.md and kinst_glob do not run the same command: %s", line)
	}
}

// TestPicture: README, the script that compares the picture, and the makefile that draws it run the
// same command.
func TestPicture(t *testing.T) {
	const file = "tiny/flame_readme.txtar"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`-c '.*`).FindString(string(text))
	for _, path := range []string{"../README.md", "../Makefile"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if line == "" || !strings.Contains(string(text), "flame.svg "+line+"\n") {
			t.Errorf("%s and %s do not run the same command: %s", path, file, line)
		}
	}
}

// A script is named subject_case and says in comments what its phases are.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		if !strings.Contains(filepath.Base(file), "_") {
			t.Errorf("%s: want a name of the form subject_case", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: want a comment first that says what the phase shows", file)
		}
	}
}

// Each example is in the list of examples and says how to run it. Those for tiny are run by
// a script, those for Linux by TestLinuxExamples, with their output beside.
func TestExamples(t *testing.T) {
	text, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := string(text)
	files := append(glob(t, "../examples/*.d"), glob(t, "../examples/linux/*.d")...)
	for _, file := range files {
		name, _ := filepath.Rel("../examples", file)
		if !strings.Contains(list, "]("+name+")") {
			t.Errorf("examples/README.md does not list %s", name)
		}
		if line := exampleCommand(t, file); !strings.Contains(line, "-s examples/"+name) {
			t.Errorf("the comment of %s has a command that does not run it: %q", name, line)
		}
		want := "$EXAMPLES/" + name
		run := "tiny/example_" + strings.TrimSuffix(name, ".d") + ".txtar"
		if strings.HasPrefix(name, "linux/") {
			want, run = "", strings.TrimSuffix(file, ".d")+".out"
		}
		if text, err := os.ReadFile(run); err != nil {
			t.Error(err)
		} else if !strings.Contains(string(text), want) {
			t.Errorf("%s does not run %s", run, name)
		}
	}
	described := glob(t, "../examples/os/*.d") // kernels, which scripts of their own use
	if n := strings.Count(list, ".d)"); n != len(files)+len(described) {
		t.Errorf("examples/README.md lists %d files, there are %d scripts and %d kernels", n, len(files), len(described))
	}
	if outputs := glob(t, "../examples/linux/*.out"); len(outputs) != len(glob(t, "../examples/linux/*.d")) {
		t.Error("examples/linux has an output of no script")
	}
}

// exampleCommand is the command in the first comment of an example, which stands alone there.
func exampleCommand(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "*/")
	_, after, _ := strings.Cut(comment, "\n *     trapline ")
	line, _, found := strings.Cut(after, "\n")
	if !found {
		t.Fatalf("%s: no command in the first comment", file)
	}
	return "trapline " + line
}

// glob returns the files of a pattern. It fails if there are none.
func glob(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no files ", pattern, err)
	}
	return files
}
