//go:build linuximage

package trampoline

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"trapline/insn/insntest"
)

// TestLinuxPlans plans and encodes every instruction of every sized function of a Debian
// kernel, and has objdump compare each one that is relocated or emulated with the original.
func TestLinuxPlans(t *testing.T) {
	img := openLinux(t)
	copies := NewSlots(0xffffffffa0000000, 1<<28, AMD64.SlotSize)
	others := NewSlots(testSlot, 1<<28, AMD64.SlotSize)
	counts := map[string]int{}
	var moved movedBatch
	for _, f := range img.funcs {
		err := AMD64.Walk(f.code, f.addr, func(off, n int) bool {
			pc, code := f.addr+uint64(off), f.code[off:]
			p := AMD64.Plan(code, pc)
			counts[p.Kind.String()]++
			if p.Kind == Refuse || p.Kind == Guest {
				if p.Kind == Refuse {
					counts["refuse: "+p.Reason()]++
				}
				return true
			}
			slots := others
			if p.Kind == Copy {
				slots = copies
			}
			slot, err := slots.Alloc()
			if err != nil {
				t.Fatal(err)
			}
			out, err := AMD64.Encode(p, code, pc, slot)
			if err != nil || len(out) > AMD64.SlotSize || int(p.Len) != n {
				t.Errorf("%s+%d: % x, %v", f.name, off, out, err)
			}
			counts[fmt.Sprintf("trampolines of %2d bytes", len(out))]++
			if p.Kind != Copy {
				moved.add(pc, p, out, slot)
			}
			return true
		})
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%8d %s", counts[k], k)
	}
	moved.check(t, img)
}

// A movedBatch is trampolines for objdump to read, as they lie in their slots.
type movedBatch struct {
	slots []byte
	moved map[uint64]movedInsn // by pc
}

type movedInsn struct {
	plan Plan
	slot uint64
	size uint8 // of the trampoline
}

func (b *movedBatch) add(pc uint64, p Plan, out []byte, slot uint64) {
	if b.moved == nil {
		b.moved = map[uint64]movedInsn{}
	}
	b.moved[pc] = movedInsn{p, slot, uint8(len(out))}
	b.slots = append(b.slots, insntest.Padded(out)...)
}

// check compares objdump's view of vmlinux with that of the slots.
func (b *movedBatch) check(t *testing.T, img *linuxImage) {
	lines := map[uint64][]insntest.Line{} // by slot
	insntest.DumpBytes(t, b.slots, testSlot, func(d insntest.Line) {
		slot := d.Addr &^ uint64(AMD64.SlotSize-1)
		lines[slot] = append(lines[slot], d)
	})
	checked := 0
	insntest.Objdump(t, "objdump", func(d insntest.Line) {
		m, ok := b.moved[d.Addr]
		if !ok {
			return
		}
		delete(b.moved, d.Addr) // once
		checked++
		slot := within(lines[m.slot], m.slot+uint64(m.size))
		if err := sameEffect(d.Text, d.Addr+uint64(m.plan.Len), slot, m.plan); err != "" {
			t.Errorf("%#x %s: %s\n%v", d.Addr, d.Text, err, slot)
		}
	}, "-d", "-z", img.path)
	t.Logf("objdump has compared %d trampolines", checked)
	if len(b.moved) != 0 {
		t.Errorf("%d instructions were not compared", len(b.moved))
	}
}
