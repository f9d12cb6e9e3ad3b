package unicorn

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources are the contents of the package's files, by name, without comments.
func sources(t *testing.T) map[string]string {
	t.Helper()
	comment := regexp.MustCompile(`//[^\n]*`)
	all := map[string]string{}
	for _, pattern := range []string{"*.c", "*.h", "*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "_test.go") {
				all[name] = comment.ReplaceAllString(string(b), "")
			}
		}
	}
	return all
}

// stem is the name of a file without its extension: what a header, a C file and a Go file share.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// A member is one of tl_cpu or tl_machine.
type member struct {
	name  string
	typ   string // of a part, such as tl_clock; "" for a member that is not one
	owner string // stem of the files that write it
}

var (
	declaration = regexp.MustCompile(`(?m)^  (?:const )?(?:struct )?(\w+) ([^;{}]+);`)
	declarator  = regexp.MustCompile(`^\*?(\w+)`)
)

// otherOwners are of members that are not parts and not machine.c's.
var otherOwners = map[string]string{"stop": "run", "journal": "journal", "step": "stepper"}

// members returns those of a struct in shim.h.
func members(t *testing.T, all map[string]string, of string) (found []member) {
	t.Helper()
	_, body, ok := strings.Cut(all["shim.h"], "struct "+of+" {\n")
	body, _, end := strings.Cut(body, "\n}")
	if !ok || !end {
		t.Fatalf("shim.h does not declare struct %s", of)
	}
	for _, d := range declaration.FindAllStringSubmatch(body+"\n", -1) {
		for _, name := range strings.Split(d[2], ",") {
			m := member{name: declarator.FindStringSubmatch(strings.TrimSpace(name))[1], owner: "machine"}
			if header := declaring(all, d[1]); header != "" && !strings.Contains(name, "*") {
				m.typ, m.owner = d[1], stem(header)
			} else if other := otherOwners[m.name]; other != "" {
				m.owner = other
			}
			found = append(found, m)
		}
	}
	return found
}

// declaring is the header that declares a struct, "" for none.
func declaring(all map[string]string, typ string) string {
	for name, text := range all {
		if strings.HasSuffix(name, ".h") && strings.Contains(text, "\nstruct "+typ+" {") {
			return name
		}
	}
	return ""
}

// assigned is what is behind a name that is written.
const assigned = `(?:\[[^\]]*\])* *(?:(?:[-+|&^*]|<<|>>|&\^)?=[^=]|\+\+|--)`

// writes matches what writes m, a member of c or of its machine. What a pointer leads to is not meant,
// nor a part as a whole: that may be put back (stepper.c).
func (m member) writes(of string) *regexp.Regexp {
	holder := `\b(?:c|first|e\.c)(?:->|\.)`
	if of == "tl_machine" {
		holder = `\b(?:m|c->m|e\.c\.m)(?:->|\.)`
	}
	name := holder + m.name
	if m.typ != "" {
		name += `\.\w+`
	}
	return regexp.MustCompile(`(?m)(?:^|[^*])(?:` + name + assigned + `|(?:\+\+|--)` + name + `\b)`)
}

// points matches a variable by which m, a part, can be written.
func (m member) points() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^ +struct ` + m.typ + ` \*\w+ = .*$`)
}

// Each part of tl_cpu and of tl_machine is written by the files that have the name of its header,
// and what is not a part by machine.c.
func TestOwners(t *testing.T) {
	all := sources(t)
	for of, want := range map[string]int{"tl_cpu": 11, "tl_machine": 7} {
		parts := 0
		for _, m := range members(t, all, of) {
			writes, points := m.writes(of), regexp.MustCompile(`^$`)
			if m.typ != "" {
				parts++
				points = m.points()
			}
			for name, text := range all {
				if stem(name) == m.owner {
					continue
				}
				found := append(writes.FindAllString(text, -1), points.FindAllString(text, -1)...)
				for _, line := range found {
					t.Errorf("%s may write %s.%s, which is %s.c's: %s", name, of, m.name, m.owner, strings.TrimSpace(line))
				}
			}
		}
		if parts != want {
			t.Errorf("%s has %d parts, want %d", of, parts, want)
		}
	}
}

// The writes that TestOwners looks for, as they may be written.
func TestOwnersFindsWrites(t *testing.T) {
	clock, stop := member{name: "clock", typ: "tl_clock"}, member{name: "stop"}
	for _, c := range []struct {
		m    member
		of   string
		text string
		want bool
	}{
		{clock, "tl_cpu", "c->clock.end = 0;", true},
		{clock, "tl_cpu", "c->clock.ns -= 4;", true},
		{clock, "tl_cpu", "c->clock.ns++;", true},
		{clock, "tl_cpu", "++c->clock.ns;", true},
		{clock, "tl_cpu", "e.c.clock.lines &^= 1", true},
		{clock, "tl_cpu", "if (c->clock.ns == 0 || c->clock.ns >= c->clock.due)", false},
		{clock, "tl_cpu", "uint64_t ns = c->clock.ns;", false},
		{clock, "tl_cpu", "c->clockwork.ns = 0;", false},
		{member{name: "pc"}, "tl_cpu", "c->pc = other;", true},
		{member{name: "pc"}, "tl_cpu", "*c->pc = next;", false},
		{stop, "tl_machine", "c->m->stop = 1;", true},
		{stop, "tl_machine", "if (m->stop) x = 1;", false},
	} {
		if got := c.m.writes(c.of).MatchString(c.text); got != c.want {
			t.Errorf("%q: write of %s found: %v, want %v", c.text, c.m.name, got, c.want)
		}
	}
}

// What is global to the process is process.c's, but for tables that do not change, and those of the
// library's functions.
func TestStatics(t *testing.T) {
	allowed := []string{"process.c", "tl_lib", "tl_amd64_lib", "tl_arm64_lib", "tl_riscv64_lib"}
	static := regexp.MustCompile(`(?m)^\s*(?:static|struct \w+|__thread)\b[^(\n]*?(\w+)(?:\[\w*\])* *(?:;|=|\{$)`)
	for name, text := range sources(t) {
		if !strings.HasSuffix(name, ".c") || slices.Contains(allowed, name) {
			continue
		}
		for _, d := range static.FindAllStringSubmatch(text, -1) {
			line := strings.TrimSpace(d[0])
			global := !strings.HasPrefix(d[0], " ") && strings.HasPrefix(line, "struct") && strings.HasSuffix(line, ";")
			if (!strings.HasPrefix(line, "static") && !global) || strings.Contains(line, "const") || slices.Contains(allowed, d[1]) {
				continue
			}
			t.Errorf("%s has state of the process: %s", name, line)
		}
	}
}

// The list of files in the package's comment is complete.
func TestFileList(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(\w+\.c)`).FindAllStringSubmatch(string(doc), -1) {
		listed = append(listed, strings.Replace(line[1], "ARCH", "amd64", 1))
	}
	for _, a := range []string{"arm64_", "riscv64_"} {
		for _, name := range []string{"cpu", "state", "trap"} {
			listed = append(listed, a+name+".c")
		}
	}
	slices.Sort(listed)
	files, err := filepath.Glob("*.c")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(listed, files) {
		t.Errorf("doc.go lists\n%v\nthere are\n%v", listed, files)
	}
}
