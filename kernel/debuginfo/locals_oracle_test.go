//go:build linuximage

package debuginfo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// coreLayouts say where NT_PRSTATUS of Linux has registers: its size, and by place from
// byte 112 the names, "" for what no variable lies in.
var coreLayouts = map[string]struct {
	size int
	regs string
}{
	"amd64":   {336, "R15 R14 R13 R12 RBP RBX R11 R10 R9 R8 RAX RCX RDX RSI RDI - RIP - - RSP"},
	"arm64":   {392, strings.Repeat("X%d ", 31) + "SP PC"},
	"riscv64": {376, "PC " + strings.Repeat("X%d ", 31)},
}

// A stopped CPU with numbers out of thin air: its registers point into the memory that it
// has, and much of that too.
type stoppedCPU struct {
	img  *kernel.Image
	regs map[arch.Reg]uint64
	mem  []byte
}

const (
	coreBase = 0xffffffc900100000 // an address of no image here
	coreSize = 1 << 20
)

func (s *stoppedCPU) Reg(r arch.Reg) uint64 { return s.regs[r] }

func (s *stoppedCPU) Read(addr uint64, p []byte) error {
	if off := addr - coreBase; off < coreSize && uint64(len(p)) <= coreSize-off {
		copy(p, s.mem[off:])
		return nil
	}
	return s.img.Text(addr, p)
}

// A triple is a variable at an address, and what it is there.
type triple struct {
	thread int
	name   string
	have   string
}

// TestLinuxLocals: a thousand variables at addresses chosen by chance, in CPUs with
// registers and memory made up, are what gdb reads out of a core file of the same.
func TestLinuxLocals(t *testing.T) {
	for name, variable := range vmlinuxes {
		t.Run(name, func(t *testing.T) {
			path := os.Getenv(variable)
			if path == "" {
				t.Fatal(variable, "does not name a vmlinux")
			}
			img, err := kernel.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer img.Close()
			compareLocals(t, img, path)
		})
	}
}

func compareLocals(t *testing.T, img *kernel.Image, path string) {
	x, err := OpenIndex(img, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLocals(img, x, New(img, "", ""), img)
	r := rand.New(rand.NewPCG(3, 4))
	cpus, triples := someLocals(l, img, r, 1000)
	dir := t.TempDir()
	core, script := filepath.Join(dir, "core"), filepath.Join(dir, "script.py")
	var asked strings.Builder
	for _, tr := range triples {
		fmt.Fprintf(&asked, "show(%d, %q)\n", tr.thread, tr.name)
	}
	for name, data := range map[string]string{core: coreFile(img.Arch(), cpus), script: gdbScript + asked.String()} {
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("gdb-multiarch", "-nx", "-batch", "-ex", "set width 0", path, core, "-x", script)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for i, line := range gdbLines(string(text)) {
		if i >= len(triples) {
			break
		}
		tr := triples[i]
		if line == "not there" && tr.have == "optimized out" { // gdb 16 leaves out what has no place anywhere
			continue
		}
		if tr.have != line {
			t.Errorf("%s in thread %d, pc %#x: %s, gdb %s", tr.name, tr.thread, cpus[tr.thread-1].regs[img.Arch().PC], tr.have, line)
		}
		if strings.Contains(line, ":") {
			values++
		}
	}
	if n := len(gdbLines(string(text))); n != len(triples) || values < n/3 {
		t.Errorf("gdb showed %d of %d variables, %d with a value", n, len(triples), values)
	}
	t.Logf("%d variables, %d with a value, as gdb has them", len(triples), values)
}

func gdbLines(text string) (lines []string) {
	for _, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(line, "show "); ok {
			lines = append(lines, v)
		}
	}
	return lines
}

// someLocals are n variables in functions chosen by chance, some of each.
func someLocals(l *Locals, img *kernel.Image, r *rand.Rand, n int) (cpus []*stoppedCPU, triples []triple) {
	spans := l.x.t.spans
	mem := make([]byte, coreSize)
	for i := 0; i < len(mem); i += 8 {
		v := r.Uint64N(1 << 16)
		if r.IntN(2) == 0 {
			v = coreBase + 8*r.Uint64N(coreSize/8)
		}
		le.PutUint64(mem[i:], v)
	}
	for len(triples) < n {
		row := r.IntN(spans.rows())
		lo, hi := spans.address(row, spanLo), spans.address(row, spanHi)
		for range 8 { // in the same function: gdb takes its time for each source file
			cpu := &stoppedCPU{img, make(map[arch.Reg]uint64), mem}
			for i := range img.Arch().Regs {
				cpu.regs[arch.Reg(i)] = coreBase + coreSize/4 + 8*r.Uint64N(coreSize/16)
			}
			pc := lo + r.Uint64N(hi-lo)
			cpu.regs[img.Arch().PC] = pc
			names := l.Names(pc)
			// gdb takes the byte before an empty range to be in it: none before a scope.
			if len(names) == 0 || len(l.scopes(pc)) != len(l.scopes(pc+1)) {
				continue
			}
			cpus = append(cpus, cpu)
			for _, i := range r.Perm(len(names))[:min(2, len(names))] {
				v, _ := l.Find(pc, names[i])
				triples = append(triples, triple{len(cpus), names[i], shown(l, v, cpu)})
			}
		}
	}
	return cpus, triples[:n]
}

// shown is a variable as gdbScript shows it.
func shown(l *Locals, v *Local, cpu *stoppedCPU) string {
	addr, data, err := l.Read(v, cpu)
	switch {
	case errors.Is(err, ErrOptimizedOut):
		return "optimized out"
	case err != nil:
		return "error"
	case data == nil && !v.Type.IsScalar():
		return fmt.Sprintf("at:%#x", addr)
	case data == nil:
		data = make([]byte, v.Type.Bytes())
		if cpu.Read(addr, data) != nil {
			return "error"
		}
	}
	if v.Type.IsScalar() {
		return fmt.Sprintf("is:%#x", le.Uint64(fit(data, 8)))
	}
	var all []string
	for _, f := range v.Type.Base().Fields {
		if f.Type.IsScalar() && f.Bits == 0 && f.Name != "" {
			all = append(all, fmt.Sprintf("%s:%#x", f.Name, le.Uint64(fit(data[f.Offset:f.Offset+f.Type.Bytes()], 8))))
		}
	}
	return "has:" + strings.Join(all, " ")
}

const gdbScript = `
import gdb
def number(v):
    n = v.type.strip_typedefs().sizeof
    return hex(int(v.cast(gdb.lookup_type("unsigned char").pointer())) & (1 << 8*n) - 1) if v.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else hex(int(v) & (1 << 8*n) - 1)
def text(v):
    t = v.type.strip_typedefs()
    if v.is_optimized_out:
        return "optimized out"
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY):
        if v.address is not None:
            return "at:" + hex(int(v.address) & (1 << 64) - 1)
        scalar = lambda f: f.type.strip_typedefs().code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_ARRAY)
        return "has:" + " ".join(f.name + ":" + number(v[f]) for f in t.fields() if f.name and not f.bitsize and scalar(f))
    if "synthetic pointer" in str(v):
        return "optimized out"
    return "is:" + number(v)
def find(name):
    frame = gdb.newest_frame()
    while True:
        frame.select()
        block = frame.block()
        while True:
            for symbol in block:
                if symbol.name == name and (symbol.is_variable or symbol.is_argument or symbol.is_constant):
                    if symbol.addr_class == gdb.SYMBOL_LOC_OPTIMIZED_OUT: # asking for its value may read memory
                        return "optimized out"
                    return text(symbol.value(frame))
            if block.function:
                break
            block = block.superblock
        if frame.type() != gdb.INLINE_FRAME:
            return "not there"
        frame = frame.older()
def show(thread, name):
    gdb.execute("thread %d" % thread, to_string=True)
    try:
        found = find(name)
    except gdb.error as e:
        found = str(e)
        for words, short in ("optimized out", "optimized out"), ("entry value", "optimized out"), ("synthetic", "optimized out"), ("access memory", "error"):
            if words in found:
                found = short
    print("show " + found)
`

// coreFile is a core file of a Linux process with a thread for each CPU.
func coreFile(a *arch.Arch, cpus []*stoppedCPU) string {
	layout := coreLayouts[a.Name]
	var notes bytes.Buffer
	for i, cpu := range cpus {
		status := make([]byte, layout.size)
		le.PutUint32(status[32:], uint32(1000+i))
		at := 0
		for n, name := range strings.Fields(layout.regs) {
			if name == "X%d" {
				name = "X" + strconv.Itoa(at)
				if a.Name == "riscv64" {
					name = "X" + strconv.Itoa(at+1)
				}
				at++
			}
			if r, ok := a.Lookup(name); ok {
				le.PutUint64(status[112+8*n:], cpu.regs[r])
			}
		}
		binary.Write(&notes, le, [3]uint32{5, uint32(layout.size), 1})
		notes.WriteString("CORE\x00\x00\x00\x00")
		notes.Write(status)
	}
	const headers = 64 + 2*56
	var out bytes.Buffer
	out.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	binary.Write(&out, le, struct {
		Type, Machine              uint16
		Version                    uint32
		Entry, Phoff, Shoff        uint64
		Flags                      uint32
		Ehsize, Phentsize, Phnum   uint16
		Shentsize, Shnum, Shstrndx uint16
	}{4, uint16(a.Machine), 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0})
	header := func(kind, flags uint32, off, vaddr, size uint64) {
		binary.Write(&out, le, [2]uint32{kind, flags})
		binary.Write(&out, le, [6]uint64{off, vaddr, 0, size, size, 1})
	}
	header(4, 0, headers, 0, uint64(notes.Len()))
	header(1, 6, headers+uint64(notes.Len()), coreBase, coreSize)
	out.Write(notes.Bytes())
	out.Write(cpus[0].mem)
	return out.String()
}
