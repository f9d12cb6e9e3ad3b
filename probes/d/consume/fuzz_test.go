package consume_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"trapline/probes/d/check"
	"trapline/probes/d/check/checktest"
	"trapline/probes/d/compile"
	"trapline/probes/d/desugar"
	"trapline/probes/d/syntax"
	"trapline/probes/d/syntax/chunktest"
)

// FuzzProgram: whatever program compiles runs through the whole history to its end, with
// output and faults or without, as text and as JSON, and does not crash.
func FuzzProgram(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(txtar.Parse(data).Files[0].Data)
	}
	for _, s := range chunktest.Corpus(f, "testdata/FuzzProgram.corpus") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tree, err := syntax.Parse("prog.d", src, syntax.Options{})
		if err != nil || bytes.Contains(src, []byte("option")) {
			return // sizes are the user's own
		}
		tree = new(desugar.Desugarer).Program(tree)
		if check.Check(tree, check.Env{Regs: map[string]int{"RAX": 1}, Types: checktest.New(), Symbol: checktest.Symbol}) != nil {
			return
		}
		prog, err := compile.Compile(tree)
		if err != nil {
			t.Fatal(err)
		}
		runBoth(t, prog)
	})
}
