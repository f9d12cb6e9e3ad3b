package chunktest

import (
	"bufio"
	"os"
	"strconv"
	"testing"
)

// Corpus reads what fuzzing has found worth keeping: a file with one input to a line, each
// as a string literal of Go.
func Corpus(t testing.TB, file string) (inputs []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		s, err := strconv.Unquote(lines.Text())
		if err != nil {
			t.Fatalf("%s:%d: %v", file, len(inputs)+1, err)
		}
		inputs = append(inputs, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return inputs
}
