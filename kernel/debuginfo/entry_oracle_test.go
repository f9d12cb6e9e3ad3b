//go:build linuximage

package debuginfo

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// TestEntryValues: in a program that gdb steps through, what callers tell of the parameters
// of the functions that they have called is what gdb makes of it.
func TestEntryValues(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program that is run is amd64's")
	}
	for _, flags := range [][]string{{"-gdwarf-5"}, {"-gdwarf-4"}, {"-gdwarf-5", "-fno-omit-frame-pointer"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "entry")
			args := append([]string{"-O2", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-o", program}, flags...)
			output(t, "gcc", append(args, "testdata/entry.c")...)
			img, err := kernel.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			compareStops(t, img, stepped(t, program))
		})
	}
}

// A stop is where gdb has stopped, and the variables there.
type stop struct {
	img   *kernel.Image
	regs  map[arch.Reg]uint64
	stack []byte // from redZone below the stack pointer
	shown [][2]string
}

// redZone is where a register is still that has just been popped, in bytes.
const redZone = 128

func (s *stop) Reg(r arch.Reg) uint64 { return s.regs[r] }

func (s *stop) Read(addr uint64, p []byte) error {
	if off := addr - (s.regs[arch.AMD64.SP] - redZone); off <= uint64(len(s.stack)) && uint64(len(p)) <= uint64(len(s.stack))-off {
		copy(p, s.stack[off:])
		return nil
	}
	return s.img.Text(addr, p)
}

// compareStops compares variables with those of gdb. Many must be found by a caller.
func compareStops(t *testing.T, img *kernel.Image, stops []*stop) {
	t.Helper()
	x, err := OpenIndex(img, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLocals(img, x, New(img, "", ""), img)
	all, entries := 0, 0
	for _, s := range stops {
		s.img = img
		pc := s.regs[arch.AMD64.PC]
		for _, shown := range s.shown {
			name, want := shown[0], shown[1]
			v, ok := l.Find(pc, name)
			if !ok {
				t.Fatalf("%#x: no variable %s, gdb has it: %s", pc, name, want)
			}
			have := read(l, v, s)
			if have != want {
				t.Errorf("%#x: %s is %s, gdb says %s", pc, name, have, want)
			}
			all++
			if v.expr != nil && (v.expr[0] == opEntryValue || v.expr[0] == opGNUEntryValue) && have != "optimized out" {
				entries++
			}
		}
	}
	if entries < 20 {
		t.Errorf("%d variables, %d entry values", all, entries)
	}
	t.Logf("%d variables, %d of them entry values, as gdb has them", all, entries)
}

func read(l *Locals, v *Local, g Guest) string {
	addr, data, err := l.Read(v, g)
	switch {
	case errors.Is(err, ErrOptimizedOut):
		return "optimized out"
	case err != nil:
		return err.Error()
	case data == nil && !v.Type.IsScalar():
		return fmt.Sprintf("at:%#x", addr)
	case data == nil:
		data = make([]byte, v.Type.Bytes())
		if err := g.Read(addr, data); err != nil {
			return err.Error()
		}
	}
	return fmt.Sprintf("is:%#x", le.Uint64(fit(data, 8)))
}

// stepped runs a program in gdb, instruction by instruction in four of its functions.
func stepped(t *testing.T, program string) (stops []*stop) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script.py")
	if err := os.WriteFile(script, []byte(gdbScript+stepScript), 0o666); err != nil {
		t.Fatal(err)
	}
	text := output(t, "gdb-multiarch", "-nx", "-batch", "-ex", "set width 0", "-ex", "set startup-with-shell off", program, "-x", script)
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "stop":
			stops = append(stops, &stop{regs: map[arch.Reg]uint64{}})
			s := stops[len(stops)-1]
			for i := 1; i+1 < len(f); i += 2 {
				r, _ := arch.AMD64.Lookup(f[i])
				s.regs[r], _ = strconv.ParseUint(f[i+1], 0, 64)
			}
		case len(f) == 2 && f[0] == "stack":
			stops[len(stops)-1].stack, _ = hex.DecodeString(f[1])
		case len(f) > 2 && f[0] == "variable":
			s := stops[len(stops)-1]
			s.shown = append(s.shown, [2]string{f[1], strings.Join(f[2:], " ")})
		}
	}
	if len(stops) == 0 {
		t.Fatalf("gdb: %s", text)
	}
	return stops
}

const stepScript = `
stepping = ("last", "passed", "kept", "indirect")
for f in stepping:
    gdb.execute("break *" + f, to_string=True)
gdb.execute("run", to_string=True)
while gdb.selected_inferior().pid:
    frame = gdb.newest_frame()
    if frame.name() not in stepping:
        gdb.execute("continue", to_string=True)
        continue
    mask = (1 << 64) - 1
    names = "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
    print("stop " + " ".join(n.upper() + " " + hex(int(frame.read_register(n)) & mask) for n in names))
    sp = int(frame.read_register("rsp")) & mask
    print("stack " + gdb.selected_inferior().read_memory(sp - 128, 384).tobytes().hex())
    for symbol in frame.block():
        if not symbol.is_variable and not symbol.is_argument:
            continue
        try:
            shown = text(symbol.value(frame))
        except gdb.error as e:
            shown = "optimized out" if "entry value" in str(e) or "optimized" in str(e) else str(e)
        print("variable " + symbol.name + " " + shown)
    gdb.execute("nexti", to_string=True)
`
