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

const (
	testPC   = 0xffffffff81000000
	testSlot = 0xffffffff90000000
)

// A row is a line of testdata/amd64.txt.
type row struct {
	line string // as in the file
	code []byte // the instruction and what follows
	n    int    // bytes of the instruction
	kind string
	want string // trampoline, or reason
}

func readRows(t testing.TB) (rows []row) {
	t.Helper()
	text, err := os.ReadFile("testdata/amd64.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		r := row{line: strings.TrimSpace(line)}
		if r.line != "" && r.line[0] != '#' {
			f := strings.Fields(r.line)
			bytes, rest, _ := strings.Cut(f[0], "|")
			r.n = len(bytes) / 2
			if r.code, err = hex.DecodeString(bytes + rest); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			r.kind, r.want = f[1], strings.Join(f[2:], " ")
		}
		rows = append(rows, r)
	}
	return rows
}

// result is what a plan comes to, as testdata writes it.
func result(t testing.TB, p Plan, code []byte) string {
	switch p.Kind {
	case Refuse:
		return p.Reason()
	case Guest:
		return "-"
	}
	out, err := amd64Encode(p, code, testPC, testSlot)
	if err != nil {
		t.Errorf("%x: %v", code, err)
	}
	return hex.EncodeToString(out)
}

func TestAMD64Rows(t *testing.T) {
	var file bytes.Buffer
	for _, r := range readRows(t) {
		if r.code == nil {
			fmt.Fprintln(&file, r.line)
			continue
		}
		p := amd64Plan(r.code, testPC)
		got := result(t, p, r.code)
		fmt.Fprintf(&file, "%-36s %-8s %s\n", strings.Fields(r.line)[0], p.Kind, got)
		if p.Len != 0 && int(p.Len) != r.n {
			t.Errorf("%s: %d bytes, want %d", r.line, p.Len, r.n)
		}
		if !*update && (p.Kind.String() != r.kind || got != r.want) {
			t.Errorf("%s\ngot %s %s", r.line, p.Kind, got)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/amd64.txt", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAMD64Equivalent has objdump read every trampoline of the rows, and the instruction in
// place: same instruction, same absolute addresses.
func TestAMD64Equivalent(t *testing.T) {
	var slots slotBatch
	for _, r := range readRows(t) {
		if p := amd64Plan(r.code, testPC); p.Kind != Refuse && p.Kind != Guest {
			slots.add(t, r.code[:p.Len])
		}
	}
	slots.check(t)
}

// TestPlanReturnAddress: a return address that push imm32 cannot push.
func TestPlanReturnAddress(t *testing.T) {
	call := []byte{0xe8, 0, 0, 0, 0}
	for pc, want := range map[uint64]Kind{
		0x1000:             Emulate,
		0x7ffffffa:         Emulate,
		0x7ffffffb:         Refuse,
		0xffffffff7ffffffa: Refuse,
		0xffffffff7ffffffb: Emulate,
		0xfffffffffffffff0: Emulate,
	} {
		p := amd64Plan(call, pc)
		if p.Kind != want || want == Refuse && p.reason != reasonReturnAddress {
			t.Errorf("call at %#x: %s (%s), want %s", pc, p.Kind, p.Reason(), want)
		}
	}
}

// TestEncodeWraps: per-CPU variables lie at small addresses, and %gs:disp(%rip) reaches
// them around the end of the address space, up to a limit.
func TestEncodeWraps(t *testing.T) {
	code := []byte{0x65, 0x48, 0x8b, 0x05, 0, 0, 0, 0x7f} // mov %gs:0x7f000000(%rip),%rax
	p := amd64Plan(code, testPC)
	target := uint64(testPC) + uint64(len(code)) + 0x7f000000
	for slot, ok := range map[uint64]bool{
		0xffffffff90000000:          true,
		target - 0x7fffffff - 8:     true,
		target - 0x7fffffff - 8 - 1: false,
	} {
		if _, err := amd64Encode(p, code, testPC, slot); (err == nil) != ok {
			t.Errorf("slot %#x, target %#x: %v", slot, target, err)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	jmp := []byte{0xeb, 0}
	p := amd64Plan(jmp, testPC)
	for name, c := range map[string]struct {
		p    Plan
		code []byte
		slot uint64
	}{
		"refused":   {Plan{}, jmp, testSlot},
		"guest":     {amd64Plan([]byte{0xcc}, testPC), []byte{0xcc}, testSlot},
		"truncated": {p, jmp[:1], testSlot},
		"far":       {p, jmp, 0xf00000000},
	} {
		if out, err := amd64Encode(c.p, c.code, testPC, c.slot); err == nil {
			t.Errorf("%s: %x", name, out)
		}
	}
}
