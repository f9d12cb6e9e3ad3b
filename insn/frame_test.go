package insn

import (
	"encoding/hex"
	"strings"
	"testing"
)

// does is a Frame in words.
func (f Frame) does() string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{f.Grows, "grows"}, {f.SavesFP, "saves"}, {f.SetsFP, "sets"}, {f.RestoresFP, "restores"},
		{f.StoresLink, "stores"}, {f.LoadsLink, "loads"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, " ")
}

// TestFrame: what instructions do for a frame.
func TestFrame(t *testing.T) {
	for _, tt := range []struct {
		set        *Set
		text, code string
		want       string
	}{
		{AMD64, "push %rbp", "55", "saves"},
		{AMD64, "push %r13", "4155", ""},
		{AMD64, "mov %rsp,%rbp", "4889e5", "sets"},
		{AMD64, "mov %rbp,%rsp", "4889ec", ""},
		{AMD64, "pop %rbp", "5d", "restores"},
		{AMD64, "leave", "c9", "restores"},
		{AMD64, "pop %r13", "415d", ""},
		{AMD64, "mov %rax,%rbx", "4889c3", ""},
		{ARM64, "sub sp, sp, #32", "ff8300d1", "grows"},
		{ARM64, "stp x19, x20, [sp, #-16]!", "f353bfa9", "grows"},
		{ARM64, "stp x29, x30, [sp, #32]", "fd7b02a9", "saves stores"},
		{ARM64, "stp x29, x30, [sp, #-64]!", "fd7bbca9", "grows saves stores"},
		{ARM64, "stp x19, x20, [sp, #16]", "f35301a9", ""},
		{ARM64, "add x29, sp, #0x20", "fd830091", "sets"},
		{ARM64, "ldp x29, x30, [sp], #64", "fd7bc4a8", "restores"},
		{ARM64, "ldp x29, x30, [sp, #16]", "fd7b41a9", "restores"},
		{RISCV64, "sd ra,2008(sp)", "233c117c", "stores"},
		{RISCV64, "sd s0,2008(sp)", "233c817c", "saves"},
		{RISCV64, "sd ra,8(a0)", "23341500", ""},
		{RISCV64, "addi s0,sp,2032", "1304017f", "sets"},
		{RISCV64, "addi sp,sp,-16", "4111", ""},
		{RISCV64, "ld s0,2000(sp)", "0334017d", "restores"},
		{RISCV64, "ld s1,8(sp)", "a264", ""},
		{RISCV64, "sd ra,8(sp), short", "06e4", "stores"},
		{RISCV64, "sd s0,0(sp), short", "22e0", "saves"},
		{RISCV64, "addi s0,sp,16, short", "0008", "sets"},
		{RISCV64, "ld s0,0(sp), short", "0264", "restores"},
		{RISCV64, "ld ra,8(sp), short", "a260", "loads"},
		{RISCV64, "ld ra,8(sp)", "83308100", "loads"},
		{RISCV64, "unimp, short", "0000", ""},
	} {
		code, err := hex.DecodeString(tt.code)
		if err != nil {
			t.Fatal(err)
		}
		got := tt.set.Frame(code)
		if got.does() != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.set.Arch, tt.text, got.does(), tt.want)
		}
		if got.LoadsLink && got.LinkAt != 8 {
			t.Errorf("%s %s: the return address is at %d", tt.set.Arch, tt.text, got.LinkAt)
		}
	}
}

// TestClass: the instructions that tracers treat in a way of their own.
func TestClass(t *testing.T) {
	for _, tt := range []struct {
		set  *Set
		code string
		want Class
	}{
		{AMD64, "cc", Breakpoint}, {AMD64, "9d", PopFlags}, {AMD64, "fb", EnableInterrupts},
		{AMD64, "669d", Ordinary}, {AMD64, "b0cc", Ordinary}, {AMD64, "", Ordinary},
		{ARM64, "000020d4", Breakpoint}, {ARM64, "1f2003d5", Nop}, {ARM64, "5f2403d5", Landing},
		{ARM64, "00000090", Address}, {ARM64, "00000010", Address},
		{ARM64, "207c5fc8", LoadExclusive}, {ARM64, "20fc5f08", LoadExclusive}, {ARM64, "20087f88", LoadExclusive},
		{ARM64, "207c03c8", StoreExclusive}, {ARM64, "20082388", StoreExclusive},
		{ARM64, "20fcdfc8", Ordinary}, {ARM64, "417ce0c8", Ordinary}, {ARM64, "0000", Ordinary}, // ldar, cas
		{RISCV64, "0290", Breakpoint}, {RISCV64, "73001000", Breakpoint},
		{RISCV64, "0100", Nop}, {RISCV64, "13000000", Nop}, {RISCV64, "97000000", Address},
		{RISCV64, "73000000", System}, {RISCV64, "73251000", System},
		{RISCV64, "2fa50510", LoadExclusive}, {RISCV64, "2fa5c518", StoreExclusive},
		{RISCV64, "2f25b600", Ordinary}, {RISCV64, "1f00", Ordinary},
	} {
		code, err := hex.DecodeString(tt.code)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.set.Class(code); got != tt.want {
			t.Errorf("%s %s (%s): %d, want %d", tt.set.Arch, tt.code, tt.set.Text(code, 0, nil), got, tt.want)
		}
	}
}
