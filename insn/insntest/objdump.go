// Package insntest asks GNU objdump what it takes bytes for: the independent judge of tests.
package insntest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

// A Line is one instruction as GNU objdump sees it.
type Line struct {
	Addr uint64
	Text string // without the bytes
}

// Bad reports whether objdump does not take the line for an instruction: it writes (bad) for
// undefined bytes, %? for a register that there is not (and %cs where it may not be written)
// and .byte for bytes that a symbol or the end cuts off.
func (d Line) Bad() bool {
	return strings.Contains(d.Text, "(bad)") || strings.Contains(d.Text, "%?") ||
		strings.Contains(d.Text+" ", ",%cs ") || strings.HasPrefix(d.Text, ".byte")
}

// Objdump runs an objdump, of whatever architecture, and calls yield with each line.
func Objdump(t testing.TB, program string, yield func(Line), args ...string) {
	t.Helper()
	cmd := exec.Command(program, append([]string{"--no-show-raw-insn", "--wide"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the tests need %s (Debian: binutils): %v", program, err)
	}
	readDump(t, out, yield)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// readDump reads objdump's lines "  address:\ttext".
func readDump(t testing.TB, r io.Reader, yield func(Line)) {
	s := bufio.NewScanner(bufio.NewReaderSize(r, 1<<20))
	for s.Scan() {
		addr, text, ok := bytes.Cut(s.Bytes(), []byte(":\t"))
		if !ok {
			continue
		}
		a, err := strconv.ParseUint(string(bytes.TrimLeft(addr, " ")), 16, 64)
		if err != nil {
			continue
		}
		yield(Line{a, string(text)})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// DumpBytes disassembles bare bytes that lie at vma.
func DumpBytes(t testing.TB, code []byte, vma uint64, yield func(Line), args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code.bin")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	args = append(args, "-D", "-b", "binary", "-m", "i386:x86-64", "--adjust-vma=0x"+strconv.FormatUint(vma, 16), file)
	Objdump(t, "objdump", yield, args...)
}

// Padded is code, of at most 32 bytes, filled up to as many with long nops of amd64, behind which
// objdump goes on with the next.
func Padded(code []byte) []byte {
	out := append([]byte(nil), code...)
	for len(out) < 32 {
		n := min(32-len(out), arch.AMD64.MaxInstr)
		out = append(append(out, bytes.Repeat([]byte{0x66}, n-1)...), 0x90)
	}
	return out
}
