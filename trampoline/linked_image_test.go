//go:build linuximage

package trampoline

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"trapline/insn/insntest"
	"trapline/kernel/arch"
)

// linkedImages are the kernels of architectures with slots of 8 bytes, and their judges
// (Debian: binutils-aarch64-linux-gnu, binutils-riscv64-linux-gnu).
var linkedImages = []struct {
	isa               *ISA
	variable, objdump string
}{
	{ARM64, "TRAPLINE_VMLINUX_ARM64", "aarch64-linux-gnu-objdump"},
	{RISCV64, "TRAPLINE_VMLINUX_RISCV64", "riscv64-linux-gnu-objdump"},
}

// TestLinkedLinux reads every sized function of a kernel along with objdump: the same
// instructions begin at the same bytes, and those that name an address are the ones
// that are not copied, and name the same.
func TestLinkedLinux(t *testing.T) {
	for _, c := range linkedImages {
		t.Run(c.isa.Arch.Name, func(t *testing.T) {
			img := openLinuxOf(t, c.variable)
			plans := map[uint64]*planned{}
			counts := map[string]int{}
			for _, f := range img.funcs {
				planFunc(t, c.isa, f, plans, counts)
			}
			found := len(plans)
			insntest.Objdump(t, c.objdump, func(d insntest.Line) {
				p := plans[d.Addr]
				delete(plans, d.Addr)
				switch {
				case p == nil && img.inFunc(d.Addr) && !img.symbols[d.Addr] && !isData(d.Text):
					t.Errorf("%#x: objdump has %s, and we have nothing", d.Addr, d.Text)
				case p != nil && !isData(d.Text):
					judge(t, c.isa, d, p)
				}
			}, "-d", "-z", img.path)
			for addr := range plans {
				t.Errorf("%#x: objdump has nothing", addr)
			}
			for _, k := range slices.Sorted(maps.Keys(counts)) {
				t.Logf("%8d %s", counts[k], k)
			}
			t.Logf("objdump has judged %d instructions of %d functions", found, len(img.funcs))
		})
	}
}

type planned struct {
	plan Plan
	do   arch.Emulation
}

func planFunc(t *testing.T, isa *ISA, f linuxFunc, plans map[uint64]*planned, counts map[string]int) {
	err := isa.Walk(f.code, f.addr, func(off, n int) bool {
		pc, code := f.addr+uint64(off), f.code[off:]
		p := isa.Plan(code, pc)
		if int(p.Len) != n {
			t.Errorf("%s+%d: %d bytes, plan %d", f.name, off, n, p.Len)
		}
		if p.InSlot() {
			if out, err := isa.Encode(p, code, pc, testSlot); err != nil || len(out) != isa.SlotSize {
				t.Errorf("%s+%d: % x, %v", f.name, off, out, err)
			}
		}
		if plans[pc] == nil {
			plans[pc] = &planned{p, isa.Do(p, code, pc)}
			counts[p.Kind.String()+" "+p.Reason()]++
		}
		return true
	})
	if err != nil {
		t.Logf("%s: %v", f.name, err)
	}
}

// inFunc reports whether a sized function covers an address.
func (img *linuxImage) inFunc(addr uint64) bool {
	i, ok := slices.BinarySearchFunc(img.funcs, addr, func(f linuxFunc, addr uint64) int {
		return int(int64(f.addr - addr))
	})
	if !ok {
		i--
	}
	return i >= 0 && addr-img.funcs[i].addr < uint64(len(img.funcs[i].code))
}

// isData tells a line of objdump that is no instruction.
func isData(text string) bool { return strings.HasPrefix(text, ".") }

// named is the address that an instruction names, its last operand; comment is what follows
// on other names of it, or on what a register holds.
var (
	named   = regexp.MustCompile(`[ \t,]([0-9a-f]{8,16})(?: <[^>]*>)?$`)
	comment = regexp.MustCompile(`\s+(//|#) .*`)
)

// judge compares a plan with objdump's text.
func judge(t *testing.T, isa *ISA, d insntest.Line, p *planned) {
	mnemonic, _, _ := strings.Cut(d.Text, "\t")
	m := named.FindStringSubmatch(comment.ReplaceAllString(d.Text, ""))
	relative := p.do.Op != arch.OpNone && p.do.Op != arch.OpJumpReg && p.do.Op != arch.OpLendOut
	switch {
	case mnemonic == "auipc":
		operand := d.Text[strings.LastIndexByte(d.Text, ',')+1:]
		operand, _, _ = strings.Cut(operand, " ")
		if upper, err := strconv.ParseUint(operand, 0, 64); err != nil || p.do.Op != arch.OpSet || p.do.Imm != int64(int32(upper<<12)) {
			t.Errorf("%#x %s: %s", d.Addr, d.Text, p.do.Text(isa.Arch))
		}
	case m != nil && !relative, m == nil && relative:
		t.Errorf("%#x %s: %v %s", d.Addr, d.Text, p.plan.Kind, p.do.Text(isa.Arch))
	case m != nil:
		if to, err := strconv.ParseUint(m[1], 16, 64); err != nil || to != d.Addr+uint64(p.do.Imm) {
			t.Errorf("%#x %s: %s", d.Addr, d.Text, p.do.Text(isa.Arch))
		}
	case isJumpReg(mnemonic) != (p.do.Op == arch.OpJumpReg):
		t.Errorf("%#x %s: %v %s", d.Addr, d.Text, p.plan.Kind, p.do.Text(isa.Arch))
	case (mnemonic == "brk" || mnemonic == "ebreak") != (p.plan.Kind == Guest):
		t.Errorf("%#x %s: %v", d.Addr, d.Text, p.plan.Kind)
	}
}

func isJumpReg(mnemonic string) bool {
	return slices.Contains([]string{"br", "blr", "ret", "jr", "jalr"}, mnemonic)
}
