package trampoline

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does")

// A row is a line of testdata/amd64.txt, arm64.txt or riscv64.txt.
type row struct {
	line string // as in the file
	code []byte // the instruction and what follows; nil for a comment
	n    int    // bytes of the instruction
	kind string
	want string // trampoline and what the machine does, or reason
	text string // the instruction for the reader, after "//"
}

func rowsFile(isa *ISA) string { return "testdata/" + isa.Arch.Name + ".txt" }

func readRows(t testing.TB, isa *ISA) (rows []row) {
	t.Helper()
	text, err := os.ReadFile(rowsFile(isa))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		r := row{line: strings.TrimSpace(line)}
		if r.line != "" && r.line[0] != '#' {
			fields, text, _ := strings.Cut(r.line, "//")
			f := strings.Fields(fields)
			r.text = strings.TrimSpace(text)
			bytes, rest, _ := strings.Cut(f[0], "|")
			r.n = len(bytes) / 2
			if r.code, err = hex.DecodeString(bytes + rest); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if len(f) > 1 {
				r.kind, r.want = f[1], strings.Join(f[2:], " ")
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// result is what a plan comes to, as testdata writes it.
func result(t testing.TB, isa *ISA, p Plan, code []byte, pc, slot uint64) string {
	if p.Kind == Refuse {
		return p.Reason()
	}
	var parts []string
	if p.InSlot() {
		out, err := isa.Encode(p, code, pc, slot)
		if err != nil {
			t.Errorf("%x: %v", code, err)
		}
		parts = append(parts, hex.EncodeToString(out))
	}
	if do := isa.Do(p, code, pc).Text(isa.Arch); do != "" {
		parts = append(parts, do)
	}
	if parts == nil {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// testRows compares what is planned for each row with what the file says.
func testRows(t *testing.T, isa *ISA, pc, slot uint64) {
	var file bytes.Buffer
	for _, r := range readRows(t, isa) {
		if r.code == nil {
			fmt.Fprintln(&file, r.line)
			continue
		}
		p := isa.Plan(r.code, pc)
		got := result(t, isa, p, r.code, pc, slot)
		line := fmt.Sprintf("%-36s %-8s %s", strings.Fields(r.line)[0], p.Kind, got)
		if r.text != "" {
			line = fmt.Sprintf("%-18s %-8s %-40s // %s", strings.Fields(r.line)[0], p.Kind, got, r.text)
		}
		fmt.Fprintln(&file, line)
		if p.Len != 0 && int(p.Len) != r.n {
			t.Errorf("%s: %d bytes, want %d", r.line, p.Len, r.n)
		}
		if !*update && (p.Kind.String() != r.kind || got != r.want) {
			t.Errorf("%s\ngot %s %s", r.line, p.Kind, got)
		}
	}
	if *update {
		if err := os.WriteFile(rowsFile(isa), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
