package kinst

import (
	"fmt"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/probetest"
)

// TestLinked makes and plants probes on the architectures whose slots have 8 bytes.
func TestLinked(t *testing.T) {
	for _, a := range []*arch.Arch{arch.ARM64, arch.RISCV64} {
		t.Run(a.Name, func(t *testing.T) {
			for _, desc := range []string{"kinst::vfs_read:", "kinst::*:*", "kinst::vfs_write:0"} {
				p, target := setupFor(t, a, "testdata/functions-"+a.Name+".txt", nil)
				probetest.TestProvider(t, p.registry, p, desc)
				if target.Err != nil {
					t.Error(target.Err)
				}
			}
			for _, c := range linkedPlans[a] {
				if got := plantedAs(t, a, c.function, c.policy); got != c.want {
					t.Errorf("%s, policy %s:\n%s\nwant\n%s", c.function, c.policy, got, c.want)
				}
			}
		})
	}
}

var linkedPlans = map[*arch.Arch][]struct {
	function string
	policy   *guestos.Policy
	want     string // breakpoints, or why there are none
}{
	arch.ARM64: {
		{"vfs_read", nil, `
+0 4 bytes, slot
+4 4 bytes, slot
+8 4 bytes, X30 = next; pc = pc+0xf8
+12 4 bytes, slot, X0 = pc+0x8 in the slot
+16 4 bytes, slot
+20 4 bytes, pc = X30`},
		{"vfs_write", nil, `
+0 4 bytes, slot
+4 4 bytes, slot
+8 4 bytes, slot
+12 4 bytes, if X2 != (32 bits) 0: pc = pc-0xc
+16 4 bytes, the guest's own
+20 4 bytes, pc = X30`},
		{"vfs_write", guestos.FreeBSDPolicy, "nothing of vfs_write can be traced: the function makes no room on the stack"},
		{"gate", nil, "nothing of gate can be traced: it signs its own address, which would be the trampoline's"},
		{"bad", nil, "\n+0 4 bytes, slot"},
		{"empty", nil, `no function "empty" in vmlinux`},
	},
	arch.RISCV64: {
		{"vfs_read", nil, `
+0 2 bytes, slot
+2 2 bytes, slot
+4 4 bytes, X1 = pc
+8 4 bytes, X1 = next; pc = (X1+0xfc) &^ 1
+12 2 bytes, slot
+14 2 bytes, slot
+16 2 bytes, pc = (X1) &^ 1`},
		{"vfs_write", nil, `
+0 4 bytes, slot
+4 2 bytes, slot
+6 4 bytes, slot
+10 2 bytes, if X12 != 0: pc = pc-0xa
+12 2 bytes, the guest's own
+14 4 bytes, the guest's own
+18 4 bytes, slot
+22 4 bytes, pc = (X1) &^ 1`},
		{"vfs_read", guestos.FreeBSDPolicy, `
+0 2 bytes, slot
+2 2 bytes, slot
+4 4 bytes, X1 = pc
+8 4 bytes, X1 = next; pc = (X1+0xfc) &^ 1
+12 2 bytes, slot
+14 2 bytes, slot
+16 2 bytes, pc = (X1) &^ 1`},
		{"gate", nil, "decode the instruction at offset 0: no such instruction"},
		{"bad", nil, "\n+0 2 bytes, slot"},
		{"empty", nil, `no function "empty" in vmlinux`},
	},
}

// plantedAs lists the breakpoints in a function when all of it is traced.
func plantedAs(t *testing.T, a *arch.Arch, function string, policy *guestos.Policy) string {
	p, target := setupFor(t, a, "testdata/functions-"+a.Name+".txt", policy)
	ps, err := p.Provide(probes.Desc{Provider: "kinst", Function: function})
	if err != nil {
		text, _, _ := strings.Cut(err.Error(), " (nearest")
		return strings.TrimPrefix(text, function+": ")
	}
	if err := p.registry.Enable(ps); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	first := target.Breaks()[0].Addr
	for _, b := range target.Breaks() {
		fmt.Fprintf(&out, "\n+%d %d bytes", b.Addr-first, b.Len)
		if b.Slot != 0 {
			out.WriteString(", slot")
		}
		if b.Guest {
			out.WriteString(", the guest's own")
		}
		if do := b.Do.Text(a); do != "" {
			out.WriteString(", " + do)
		}
	}
	return out.String()
}
