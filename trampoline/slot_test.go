package trampoline

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"trapline/insn/insntest"
)

// A slotBatch is instructions and their trampolines, for objdump to read in two runs.
// Nothing here uses our decoder or encoder: it is about what the text says.
type slotBatch struct {
	plans []Plan
	sizes []int  // of the trampolines
	place []byte // 32 bytes for each instruction, from testPC, filled up
	slots []byte // the trampolines, from testSlot
}

// add appends one instruction. It must not be refused or the guest's.
func (b *slotBatch) add(t testing.TB, code []byte) {
	pc, slot := testPC+uint64(len(b.place)), testSlot+uint64(len(b.slots))
	p := AMD64.Plan(code, pc)
	out, err := AMD64.Encode(p, code, pc, slot)
	if err != nil {
		t.Errorf("% x: %v", code, err)
	}
	b.plans = append(b.plans, p)
	b.sizes = append(b.sizes, len(out))
	b.place = append(b.place, append(slices.Clip(code), bytes.Repeat([]byte{0x90}, 32-len(code))...)...)
	b.slots = append(b.slots, insntest.Padded(out)...)
}

// within returns the lines before end.
func within(lines []insntest.Line, end uint64) []insntest.Line {
	for i, d := range lines {
		if d.Addr >= end {
			return lines[:i]
		}
	}
	return lines
}

// check compares the two disassemblies.
func (b *slotBatch) check(t testing.TB) {
	place, slots := b.dump(t, b.place, testPC), b.dump(t, b.slots, testSlot)
	for i, p := range b.plans {
		slot := within(slots[i], testSlot+uint64(32*i+b.sizes[i]))
		next := place[i][0].Addr + uint64(p.Len)
		if err := sameEffect(place[i][0].Text, next, slot, p); err != "" {
			t.Errorf("%s: %s\n%v", place[i][0].Text, err, slot)
		}
	}
}

// dump returns the lines of each 32 bytes.
func (b *slotBatch) dump(t testing.TB, code []byte, vma uint64) [][]insntest.Line {
	out := make([][]insntest.Line, len(b.plans))
	insntest.DumpBytes(t, code, vma, func(d insntest.Line) {
		i := (d.Addr - vma) / 32
		out[i] = append(out[i], d)
	}, "-z")
	return out
}

var ripOperand = regexp.MustCompile(`-?0x[0-9a-f]+\(%[re]ip\)`)

// target splits the absolute address off an instruction that names one relative to itself.
func target(text string) (rest string, addr uint64, ok bool) {
	text, _, _ = strings.Cut(text, " <")
	rest, hexAddr, found := strings.Cut(text, "# ")
	if found {
		rest = ripOperand.ReplaceAllString(rest, "(%rip)")
	} else if i := strings.LastIndexByte(rest, ' '); i > 0 {
		rest, hexAddr = rest[:i], rest[i+1:]
	}
	addr, err := strconv.ParseUint(strings.TrimPrefix(hexAddr, "0x"), 16, 64)
	if err != nil {
		return strings.Join(strings.Fields(text), " "), 0, false
	}
	return strings.Join(strings.Fields(rest), " "), addr, true
}

// sameEffect holds a trampoline against the instruction in place, and returns what is wrong.
func sameEffect(place string, next uint64, slot []insntest.Line, p Plan) string {
	if len(slot) == 0 {
		return "has no instructions"
	}
	back := slot[len(slot)-1]
	if what, to, ok := target(back.Text); !ok || what != "jmp" || to != next {
		return "does not end in a jump back"
	}
	slot = slot[:len(slot)-1]
	want, goal, _ := target(place)
	if p.Kind == Emulate {
		op := "jmp"
		switch {
		case len(slot) == 2 && isPush(slot[0].Text, next):
			slot = slot[1:]
		case len(slot) == 2 && slot[1].Text == "int3" && slot[1].Addr-slot[0].Addr == uint64(p.Len):
			slot, op = slot[:1], "push"
			place = strings.Replace(place, "*", "", 1)
			want, goal, _ = target(place)
		default:
			return "is neither a push of the return address and a jump, nor a push of the operand and a breakpoint"
		}
		want = strings.Replace(want, "call", op, 1)
	}
	if len(slot) == 3 {
		return sameLoop(want, goal, slot, back.Addr)
	}
	if len(slot) != 1 {
		return "has too many instructions"
	}
	got, to, _ := target(slot[0].Text)
	if got != want || to != goal {
		return "is another instruction, or has another target"
	}
	return ""
}

func isPush(text string, addr uint64) bool {
	f := strings.Fields(text)
	return len(f) == 2 && f[0] == "push" && f[1] == "$0x"+strconv.FormatUint(addr, 16)
}

// sameLoop looks at jrcxz 1f; jmp 2f; 1: jmp target; 2:
func sameLoop(want string, goal uint64, slot []insntest.Line, back uint64) string {
	got, one, _ := target(slot[0].Text)
	_, two, _ := target(slot[1].Text)
	jump, to, _ := target(slot[2].Text)
	if got != want || one != slot[2].Addr || two != back || jump != "jmp" || to != goal {
		return "is not the same loop"
	}
	return ""
}
