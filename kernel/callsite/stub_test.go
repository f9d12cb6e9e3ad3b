package callsite_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/kernel/callsite"
)

// TestStub: in an object with many sites every call becomes no-operations, and nothing refers
// to a probe's function any more.
func TestStub(t *testing.T) {
	const sites = 1000
	for machine, cc := range map[elf.Machine]string{
		elf.EM_X86_64: "gcc", elf.EM_AARCH64: "aarch64-linux-gnu-gcc-12", elf.EM_RISCV: "riscv64-linux-gnu-gcc-12",
	} {
		t.Run(machine.String(), func(t *testing.T) {
			if _, err := exec.LookPath(cc); err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			var src strings.Builder
			fmt.Fprintln(&src, "#include <dtrace_probe.h>\nvoid f(long n) {")
			for i := range sites {
				fmt.Fprintf(&src, "DTRACE_PROBE(p%d, n);\n", i)
			}
			fmt.Fprintln(&src, "}")
			path, out := filepath.Join(dir, "many.c"), filepath.Join(dir, "many.o")
			if err := os.WriteFile(path, []byte(src.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(cc, "-O1", "-fno-pie", "-I../../images/tiny/src", "-c", "-o", out, path)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(bytes.Clone(data)))
			if err != nil {
				t.Fatal(err)
			}
			found, err := callsite.Find(f)
			if err != nil || len(found) != sites {
				t.Fatalf("%d sites, %v", len(found), err)
			}
			if n, err := callsite.Stub(f, data); n != sites || err != nil {
				t.Fatalf("%d stubs, %v", n, err)
			}
			stubbed, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if left, err := callsite.Find(stubbed); len(left) != 0 || err != nil {
				t.Errorf("%d sites are left, %v", len(left), err)
			}
			for _, s := range found {
				code, err := stubbed.Sections[s.Section].Data()
				if err != nil || !bytes.Equal(code[s.Addr:s.Addr+uint64(s.Len)], callsite.Nops(machine)) {
					t.Fatalf("at %#x: % x, %v", s.Addr, code[s.Addr:s.Addr+uint64(s.Len)], err)
				}
			}
		})
	}
}
