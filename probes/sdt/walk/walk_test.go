package walk

import (
	"debug/elf"
	"errors"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"trapline/insn"
	"trapline/kernel/arch"
	"trapline/probes"
)

// source are functions of what compilers make a call's arguments with. Each has its twin
// in twins.
const source = `typedef unsigned long u64; typedef long s64; typedef unsigned u32; typedef int s32;
u64 sum(u64 a, u64 b, u64 c) { return a + b * 3 - (c >> 7); }
u64 narrow(u64 a, u64 b, u64 c) { return (u32)(a + b) ^ (u64)(s64)(s32)(b - c); }
u64 shifts(u64 a, u64 b, u64 c) { return (a << (b & 63)) ^ (a >> (c & 63)) ^ ((s64)a >> (b & 63)) ^ ((u32)a << (c & 31)) ^ ((s32)a >> (b & 31)); }
u64 fields(u64 a, u64 b, u64 c) { return (a >> 12 & 0x3ff) | (b & 0xff) << 20 | (c & ~0xffful); }
u64 choose(u64 a, u64 b, u64 c) { return (s64)a < (s64)b ? c : a < c ? b + 1 : -b; }
u64 flags(u64 a, u64 b, u64 c) { return (a == b) | (a != c) << 1 | ((s64)b > (s64)c) << 2 | (b <= c) << 3 | ((s32)a < 0) << 4; }
u64 divide(u64 a, u64 b, u64 c) { return a / (b | 1) + (u64)((s64)b / (s64)((c >> 1) | 1)) + (u32)a % ((u32)c | 1); }
u64 bytes(u64 a, u64 b, u64 c) { volatile u64 v[3] = { a, b, c }; volatile unsigned char *p = (void *)v; volatile signed char *q = (void *)v; return p[1] + ((u64)(s64)q[9] << 8) + *(volatile unsigned short *)(p + 18) + (u64)(s64)*(volatile int *)(p + 4); }
static __attribute__((noinline)) u64 inner(u64 a, u64 b) { return a * 31 + b; }
u64 call(u64 a, u64 b, u64 c) { return inner(inner(a, b) + c, a) - 1; }
u64 loop(u64 a, u64 b, u64 c) { u64 n = 0; for (u32 i = 0; i < (c & 15); i++) n = n * 5 + (a ^ i) - b; return n; }
u64 table[4] = { 3, 5, 7, 11 };
u64 load(u64 a, u64 b, u64 c) { return table[a & 3] + ((u32 *)table)[b & 7] * c; }
u64 constants(u64 a, u64 b, u64 c) { return (a & 0xf0f0f0f0f0f0f0f0) + (b | 0x123456789abcdef) + (c ^ 0xffffffff00000000); }
s32 store(u64 a, u64 b, u64 c) { table[a & 3] = b; table[b & 3] += c; return (s32)(table[0] + table[1] + table[2] + table[3]); }
`

func signed32(v uint64) uint64 { return uint64(int64(int32(v))) }

func inner(a, b uint64) uint64 { return a*31 + b }

var twins = map[string]func(a, b, c uint64) uint64{
	"sum":    func(a, b, c uint64) uint64 { return a + b*3 - c>>7 },
	"narrow": func(a, b, c uint64) uint64 { return uint64(uint32(a+b)) ^ signed32(b-c) },
	"shifts": func(a, b, c uint64) uint64 {
		return a<<(b&63) ^ a>>(c&63) ^ uint64(int64(a)>>(b&63)) ^ uint64(uint32(a)<<(c&31)) ^ uint64(int64(int32(a)>>(b&31)))
	},
	"fields": func(a, b, c uint64) uint64 { return a>>12&0x3ff | b&0xff<<20 | c&^0xfff },
	"choose": func(a, b, c uint64) uint64 {
		switch {
		case int64(a) < int64(b):
			return c
		case a < c:
			return b + 1
		}
		return -b
	},
	"flags": func(a, b, c uint64) uint64 {
		return boolean(a == b) | boolean(a != c)<<1 | boolean(int64(b) > int64(c))<<2 | boolean(b <= c)<<3 | boolean(int32(a) < 0)<<4
	},
	"divide": func(a, b, c uint64) uint64 {
		return a/(b|1) + uint64(int64(b)/int64(c>>1|1)) + uint64(uint32(a)%(uint32(c)|1))
	},
	"bytes": func(a, b, c uint64) uint64 {
		return a>>8&0xff + uint64(int64(int8(b>>8)))<<8 + c>>16&0xffff + signed32(a>>32)
	},
	"call": func(a, b, c uint64) uint64 { return inner(inner(a, b)+c, a) - 1 },
	"loop": func(a, b, c uint64) (n uint64) {
		for i := range c & 15 {
			n = n*5 + (a ^ i) - b
		}
		return n
	},
	"load": func(a, b, c uint64) uint64 {
		t := [4]uint64{3, 5, 7, 11}
		return t[a&3] + uint64(uint32(t[b&7>>1]>>(32*(b&1))))*c
	},
	"constants": func(a, b, c uint64) uint64 {
		return a&0xf0f0f0f0f0f0f0f0 + (b | 0x123456789abcdef) + (c ^ 0xffffffff00000000)
	},
	"store": func(a, b, c uint64) uint64 {
		t := [4]uint64{3, 5, 7, 11}
		t[a&3] = b
		t[b&3] += c
		return signed32(t[0] + t[1] + t[2] + t[3])
	},
}

// A machine is memory and registers at the beginning of a walk.
type machine struct {
	regs [64]uint64
	file *elf.File
	text map[*elf.Section][]byte
}

const (
	stack  = 0x7fff0000 // 4 KiB below are memory
	theEnd = 0x7ff00000 // where a function returns to
)

func (m *machine) Reg(r arch.Reg) uint64       { return m.regs[r] }
func (m *machine) SetReg(r arch.Reg, v uint64) { m.regs[r] = v }

func (m *machine) read(addr uint64, p []byte) error {
	for i := range p {
		at := addr + uint64(i)
		if at-(stack-4096) < 8192 {
			p[i] = 0
			continue
		}
		ok := false
		for s, data := range m.text {
			switch off := at - s.Addr; {
			case off < uint64(len(data)):
				p[i], ok = data[off], true
			case off < uint64(len(data))+maxCode && !ok:
				p[i], ok = 0, true
			}
		}
		if !ok {
			return &probes.Fault{Addr: at}
		}
	}
	return nil
}

// build compiles the source for an architecture, linked at low addresses.
func build(t *testing.T, compiler, flag string) *machine {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	name := filepath.Join(t.TempDir(), "walk")
	if err := os.WriteFile(name+".c", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields("-O2 -w -ffreestanding -nostdlib -static -fno-pic -no-pie -fno-stack-protector -fno-tree-vectorize -Wl,-e,sum -o")
	if out, err := exec.Command(compiler, append(args, name, flag, name+".c")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	m := &machine{file: f, text: map[*elf.Section][]byte{}}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type != elf.SHT_PROGBITS {
			continue
		}
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		m.text[s] = data
	}
	return m
}

// TestCompiled walks through what compilers make of functions, and compares their results.
func TestCompiled(t *testing.T) {
	for _, test := range []struct {
		compiler, flag string
		arch           *arch.Arch
		link           arch.Reg // return address; none on amd64
	}{
		{"x86_64-linux-gnu-gcc-12", "-mgeneral-regs-only", arch.AMD64, 0},
		{"aarch64-linux-gnu-gcc-12", "-mgeneral-regs-only", arch.ARM64, arch.ARM64LR},
		{"riscv64-linux-gnu-gcc-12", "-mno-relax", arch.RISCV64, arch.RISCV64RA},
	} {
		t.Run(test.arch.Name, func(t *testing.T) {
			m := build(t, test.compiler, test.flag)
			w, err := New(test.arch, m.read)
			if err != nil {
				t.Fatal(err)
			}
			w.Load = func(addr uint64) (uint64, bool) { return theEnd, addr == stack } // a return address on the stack
			symbols, err := m.file.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			walked := 0
			for _, s := range symbols {
				twin := twins[s.Name]
				if twin == nil {
					continue
				}
				walked++
				for range 50 {
					a, b, c := value(random), value(random), value(random)
					m.regs = [64]uint64{}
					m.regs[test.arch.SP], m.regs[test.link] = stack, theEnd
					for i, v := range []uint64{a, b, c} {
						m.regs[test.arch.Args[i]] = v
					}
					m.regs[test.arch.SP] = stack
					err := w.Run(m, s.Value, func(pc uint64) bool { return pc == theEnd })
					got := w.Reg(test.arch.Ret)
					if s.Name == "store" {
						got = signed32(got)
					}
					if want := twin(a, b, c); err != nil || got != want {
						t.Errorf("%s(%#x, %#x, %#x) = %#x, want %#x, %v", s.Name, a, b, c, got, want, err)
						break
					}
				}
			}
			if walked != len(twins) {
				t.Errorf("%d of %d functions", walked, len(twins))
			}
		})
	}
}

func boolean(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// value is a random number; small and large ones are as frequent as others.
func value(r *rand.Rand) uint64 {
	v := r.Uint64() >> r.UintN(64)
	if r.UintN(3) == 0 {
		return bits.Reverse64(v)
	}
	return v
}

// What cannot be followed ends a walk with an error.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		arch *arch.Arch
		code string
		want string
	}{
		{"system instruction", arch.AMD64, "\x0f\x20\xc0", "at 0x1000: it is not known what the instruction does"},
		{"a loop", arch.AMD64, "\xeb\xfe", "no end in sight after 1000 instructions"},
		{"a bad load", arch.AMD64, "\x48\x8b\x00\x90", "at 0x1000: invalid address (0x0)"},
		{"no memory", arch.AMD64, "\xe9\xfb\x0f\x00\x00", "at 0x2000: invalid address (0x2000)"},
		{"vector register", arch.ARM64, "\x00\x00\x40\x3d", "at 0x1000: it is not known what the instruction does"},
		{"control register", arch.RISCV64, "\xf3\x26\x00\x18", "at 0x1000: it is not known what the instruction does"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code := []byte(test.code)
			w, err := New(test.arch, func(addr uint64, p []byte) error {
				if addr < 0x1000 || addr+uint64(len(p)) > 0x2000 {
					return &probes.Fault{Addr: addr}
				}
				clear(p)
				copy(p, code[min(int(addr-0x1000), len(code)):])
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Run(&machine{}, 0x1000, func(uint64) bool { return false })
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if strings.Contains(test.want, "not known") && !errors.Is(err, insn.ErrUnknown) {
				t.Error("it does not wrap insn.ErrUnknown")
			}
		})
	}
}

// TestKernels: what kernels do on the way to a tracepoint's call is followed: interrupts off and on, how
// addresses are made, memory that is cleared.
func TestKernels(t *testing.T) {
	for _, test := range []struct {
		name string
		arch *arch.Arch
		code string
		regs map[arch.Reg]uint64
		want map[arch.Reg]uint64
	}{
		{"csrrci a4, sstatus, 2", arch.RISCV64, "\x73\x77\x01\x10", map[arch.Reg]uint64{arch.RISCV64SSTATUS: 0x122},
			map[arch.Reg]uint64{arch.RISCV64X0 + 14: 0x122, arch.RISCV64SSTATUS: 0x120}},
		{"csrrs zero, sstatus, a4", arch.RISCV64, "\x73\x20\x07\x10", map[arch.Reg]uint64{arch.RISCV64SSTATUS: 0x120, arch.RISCV64X0 + 14: 2},
			map[arch.Reg]uint64{arch.RISCV64SSTATUS: 0x122}},
		{"csrrw a0, sscratch, zero", arch.RISCV64, "\x73\x15\x00\x14", map[arch.Reg]uint64{arch.RISCV64SSCRATCH: 7},
			map[arch.Reg]uint64{arch.RISCV64X0 + 10: 7, arch.RISCV64SSCRATCH: 0}},
		{"mrs x0, tcr_el1", arch.ARM64, "\x40\x20\x38\xd5", map[arch.Reg]uint64{arch.ARM64TCR: 0x19},
			map[arch.Reg]uint64{arch.ARM64X0: 0x19}},
		{"rep stos %eax,%es:(%rdi)", arch.AMD64, "\xf3\xab", map[arch.Reg]uint64{arch.RCX: 3, arch.RDI: 0x1800},
			map[arch.Reg]uint64{arch.RCX: 0, arch.RDI: 0x180c}},
		{"stos %rax,%es:(%rdi)", arch.AMD64, "\x48\xab", map[arch.Reg]uint64{arch.RCX: 3, arch.RDI: 0x1800},
			map[arch.Reg]uint64{arch.RCX: 3, arch.RDI: 0x1808}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := New(test.arch, func(addr uint64, p []byte) error {
				clear(p)
				copy(p, test.code[min(int(addr-0x1000), len(test.code)):])
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			m := &machine{}
			for r, v := range test.regs {
				m.SetReg(r, v)
			}
			end := 0x1000 + uint64(len(test.code))
			if err := w.Run(m, 0x1000, func(pc uint64) bool { return pc == end }); err != nil {
				t.Fatal(err)
			}
			for r, want := range test.want {
				if got := w.Reg(r); got != want {
					t.Errorf("%s is %#x, want %#x", test.arch.Regs[r].Name, got, want)
				}
			}
		})
	}
}
