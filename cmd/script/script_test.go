package script

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes a directory of scripts that need no guest.
func write(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

var three = map[string]string{
	"a/fine.txtar": "# fine\nexec true\n",
	"a/bad.txtar":  "# starts\nexec true\n# compares\nexec echo new\ncmp stdout want\n\n-- want --\nold\n",
	"skip.txtar":   "skip 'no reason'\n",
	"other.txt":    "not a script",
}

func run(t *testing.T, s Suite) (all []Result) {
	t.Helper()
	s.Program = "/nowhere/trapline"
	if err := s.Run(context.Background(), func(r Result) { all = append(all, r) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRun(t *testing.T) {
	write(t, three)
	files, err := Find([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	var text, again strings.Builder
	for _, r := range run(t, Suite{Files: files}) {
		WriteText(&text, r)
	}
	const want = `FAIL  a/bad
      # starts
      # compares
      > exec echo new
      [stdout]
      new
      > cmp stdout want
      diff stdout want
      --- stdout
      +++ want
      @@ -1,1 +1,1 @@
      -new
      +old
      ` + `
      FAIL: a/bad.txtar:5: stdout and want differ
ok    a/fine
skip  skip
      no reason
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	for _, r := range run(t, Suite{Files: files, Workers: 1}) {
		WriteText(&again, r)
	}
	if again.String() != text.String() {
		t.Errorf("one after the other the scripts give\n%s", &again)
	}
}

func TestUpdate(t *testing.T) {
	write(t, three)
	if all := run(t, Suite{Files: []string{"a/bad.txtar"}, Update: true}); all[0].Status != Passed {
		t.Fatal(all)
	}
	if text, _ := os.ReadFile("a/bad.txtar"); !strings.Contains(string(text), "-- want --\nnew\n") {
		t.Errorf("%s", text)
	}
}

func TestTimeout(t *testing.T) {
	write(t, map[string]string{"long.txtar": "exec sleep 600\n"})
	all := run(t, Suite{Files: []string{"long.txtar"}, Timeout: 1})
	if all[0].Status != Failed {
		t.Error(all)
	}
}

func TestInterrupt(t *testing.T) {
	write(t, three)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := Suite{Files: []string{"a/fine.txtar"}, Program: "/nowhere/trapline"}
	if err := s.Run(ctx, func(Result) {}); err == nil && ctx.Err() == nil {
		t.Error("a run that was interrupted ended well")
	}
}

func TestReports(t *testing.T) {
	results := []Result{
		{"a/fine", Passed, ""},
		{"a/bad#1", Failed, "# phase\n<FAIL> here\x01\n"},
		{"skip", Skipped, "no\nreason\n"},
	}
	var tap strings.Builder
	w := &TAP{W: &tap}
	w.Start(len(results))
	for _, r := range results {
		w.Write(r)
	}
	const want = "TAP version 13\n1..3\nok 1 - a/fine\nnot ok 2 - a/bad\\#1\n# # phase\n# <FAIL> here\x01\nok 3 - skip # SKIP no reason\n"
	if diff := cmp.Diff(want, tap.String()); diff != "" {
		t.Error(diff)
	}
	var junit strings.Builder
	if err := WriteJUnit(&junit, results); err != nil {
		t.Fatal(err)
	}
	var have junitSuite
	if err := xml.Unmarshal([]byte(junit.String()), &have); err != nil {
		t.Fatal(err)
	}
	if have.Tests != 3 || have.Failures != 1 || have.Skipped != 1 || len(have.Cases) != 3 ||
		have.Cases[1].Failure.Message != "<FAIL> here\uFFFD" || have.Cases[1].Class != "a" {
		t.Errorf("%s", &junit)
	}
}

func TestFind(t *testing.T) {
	write(t, three)
	files, err := Find([]string{"skip.txtar", "a", "./a/fine.txtar"})
	if want := []string{"a/bad.txtar", "a/fine.txtar", "skip.txtar"}; err != nil || !slices.Equal(files, want) {
		t.Error(files, err)
	}
	for _, path := range []string{"nosuch", t.TempDir()} {
		if _, err := Find([]string{path}); err == nil {
			t.Errorf("Find(%s) finds something", path)
		}
	}
}

func TestShard(t *testing.T) {
	var files []string
	for i := range 10 {
		files = append(files, fmt.Sprint(i))
	}
	for n := 1; n <= 12; n++ {
		var all []string
		for i := 1; i <= n; i++ {
			s, err := ParseShard(fmt.Sprintf("%d/%d", i, n))
			if err != nil {
				t.Fatal(err)
			}
			part := s.Of(files)
			if len(part) < 10/n || len(part) > 10/n+1 {
				t.Errorf("part %d of %d has %d files", i, n, len(part))
			}
			all = append(all, part...)
		}
		if !slices.Equal(all, files) {
			t.Errorf("%d parts are not the whole: %v", n, all)
		}
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "1/0", "-1/2", "a/b"} {
		if s, err := ParseShard(bad); err == nil {
			t.Errorf("ParseShard(%q) = %v", bad, s)
		}
	}
}

func TestJobShard(t *testing.T) {
	for _, c := range []struct {
		index, count string
		want         Shard
		ok           bool
	}{
		{"", "", Shard{}, true},
		{"0", "3", Shard{0, 3}, true},
		{"2", "3", Shard{2, 3}, true},
		{"3", "3", Shard{}, false},
		{"0", "", Shard{}, false},
	} {
		have, err := JobShard(func(name string) string {
			return map[string]string{"JOB_COMPLETION_INDEX": c.index, "JOB_COMPLETION_COUNT": c.count}[name]
		})
		if have != c.want || (err == nil) != c.ok {
			t.Errorf("index %q of %q: %v, %v", c.index, c.count, have, err)
		}
	}
}
