package trampoline

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
)

// A dumped is one instruction as GNU objdump sees it.
type dumped struct {
	addr uint64
	text string // without the bytes
}

// bad reports whether objdump does not take the line for an instruction: it writes (bad) for
// undefined bytes, %? for a register that there is not (and %cs where it may not be written)
// and .byte for bytes that a symbol or the end cuts off.
func (d dumped) bad() bool {
	return strings.Contains(d.text, "(bad)") || strings.Contains(d.text, "%?") ||
		strings.Contains(d.text+" ", ",%cs ") || strings.HasPrefix(d.text, ".byte")
}

// objdump runs the independent judge of these tests and calls yield with each line.
func objdump(t testing.TB, yield func(dumped), args ...string) {
	t.Helper()
	objdumpOf(t, "objdump", yield, args...)
}

// objdumpOf runs the objdump of another architecture.
func objdumpOf(t testing.TB, program string, yield func(dumped), args ...string) {
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
func readDump(t testing.TB, r io.Reader, yield func(dumped)) {
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
		yield(dumped{a, string(text)})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// dumpBytes disassembles bare bytes that lie at vma.
func dumpBytes(t testing.TB, code []byte, vma uint64, yield func(dumped), args ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "code.bin")
	if err := os.WriteFile(file, code, 0o644); err != nil {
		t.Fatal(err)
	}
	args = append(args, "-D", "-b", "binary", "-m", "i386:x86-64", "--adjust-vma=0x"+strconv.FormatUint(vma, 16), file)
	objdump(t, yield, args...)
}
