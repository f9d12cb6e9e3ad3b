package insn

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel/arch"
)

const flowPC = 0x1000

// TestFlow holds Flow to testdata/flow.txt.
func TestFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/flow.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		set := setNamed(t, words[0])
		code, err := hex.DecodeString(words[1])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		regs := flowRegs{set.Arch.PC: flowPC}
		want := words[2:]
		if strings.Contains(want[0], "=") {
			regs.set(t, set.Arch, want[0])
			want = want[1:]
		}
		if got := flowText(set.Flow(code, flowPC), regs); got != strings.Join(want, " ") {
			t.Errorf("%s is %s", strings.TrimSpace(line), got)
		}
	}
}

func setNamed(t *testing.T, name string) *Set {
	for _, a := range arch.All {
		if a.Name == name {
			s, err := For(a)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("no architecture %s", name)
	return nil
}

// flowText is a flow as testdata/flow.txt writes it.
func flowText(f Flow, regs arch.Regs) string {
	text := f.Way.String()
	if f.Target != 0 {
		text += fmt.Sprintf(" %#x", f.Target)
	}
	if f.Next == nil {
		return text
	}
	to, ok := f.Next(regs, func(addr uint64, p []byte) error {
		binary.LittleEndian.PutUint64(p, addr+0x100000)
		return nil
	})
	if !ok {
		return text + " nowhere"
	}
	return text + fmt.Sprintf(" taken %#x", to)
}

// flowRegs are registers; those not set are 0.
type flowRegs map[arch.Reg]uint64

func (r flowRegs) Reg(n arch.Reg) uint64       { return r[n] }
func (r flowRegs) SetReg(n arch.Reg, v uint64) { r[n] = v }

func (r flowRegs) set(t *testing.T, a *arch.Arch, list string) {
	for _, item := range strings.Split(list, ",") {
		name, value, _ := strings.Cut(item, "=")
		reg, ok := a.Lookup(name)
		v, err := strconv.ParseUint(value, 0, 64)
		if !ok || err != nil {
			t.Fatalf("%s: no register or number", item)
		}
		r[reg] = v
	}
}

// Memory that cannot be read leads nowhere.
func TestFlowUnread(t *testing.T) {
	f := AMD64.Flow([]byte{0xff, 0x20}, flowPC) // jmp *(%rax)
	_, ok := f.Next(flowRegs{}, func(uint64, []byte) error { return errors.New("not mapped") })
	if ok {
		t.Error("a jump through memory that is not mapped goes somewhere")
	}
}

// The displacement of a table of jumps has a sign.
func TestFlowTable(t *testing.T) {
	f := AMD64.Flow([]byte{0xff, 0x24, 0xc5, 0x00, 0x01, 0x00, 0x80}, flowPC) // jmp *-0x7fffff00(,%rax,8)
	to, ok := f.Next(flowRegs{arch.RAX: 2}, func(addr uint64, p []byte) error {
		if addr != 0xffffffff80000110 {
			return errors.New("not mapped")
		}
		p[0] = 0x42
		return nil
	})
	if !ok || to != 0x42 {
		t.Errorf("it goes to %#x, %t", to, ok)
	}
}

// FuzzFlow: no bytes make Flow fail, and a way has what it needs.
func FuzzFlow(f *testing.F) {
	for i, a := range arch.All {
		s, err := For(a)
		if err != nil {
			f.Fatal(err)
		}
		for _, code := range seeds(f, s) {
			f.Add(uint8(i), code)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, code []byte) {
		s, err := For(arch.All[int(which)%len(arch.All)])
		if err != nil {
			t.Fatal(err)
		}
		flow := s.Flow(code, flowPC)
		if _, err := s.Length(code); err != nil && flow.Way != Onward {
			t.Errorf("% x: %v, but %v", code, flow.Way, err)
		}
		if dynamic := flow.Way == Branch || flow.Way == Indirect; dynamic != (flow.Next != nil) {
			t.Errorf("% x: %v with Next %t", code, flow.Way, flow.Next != nil)
		}
		flowText(flow, flowRegs{})
		s.Frame(code)
		s.Class(code)
	})
}
