package insn

import (
	"encoding/hex"
	"testing"
)

func TestAMD64Text(t *testing.T) {
	sym := func(addr uint64) (string, uint64) {
		if addr-0xffffffff81000100 < 0x100 {
			return "func", 0xffffffff81000100
		}
		return "", 0
	}
	for code, want := range map[string]string{
		"55":             "push %rbp",
		"e8fb000000":     "callq func",
		"740e":           "je 0xffffffff81000010",
		"0f84ff000000":   "je func+5",
		"f2e9ff000000":   "bnd jmpq func+5",
		"e9f6ffffff":     "jmpq 0xffffffff80fffffb",
		"f30f1efa":       "endbr64",
		"0f01ca":         "clac",
		"0f01c1":         "vmcall",
		"f20f01ff":       "pvalidate",
		"f20f00f7":       "lkgs %di",
		"65f20f003408":   "lkgs %gs:(%rax,%rcx)",
		"0f00f7":         "(bad)",
		"f30fc7f8":       "rdpid %rax",
		"480fc7f9":       "rdseed %rcx",
		"f30f1ec8":       "rdsspd %eax",
		"f3480f1ec8":     "rdsspq %rax",
		"660f38f6c1":     "adcx %ecx,%eax",
		"f3480f38f6c1":   "adox %rcx,%rax",
		"0f38f64808":     "wrssd %ecx,0x8(%rax)",
		"480f38f64808":   "wrssq %rcx,0x8(%rax)",
		"0f38f908":       "movdiri %ecx,(%rax)",
		"660f38f80f":     "movdir64b (%rdi),%rcx",
		"660faef1":       "tpause %ecx",
		"c4e27849c0":     "tilerelease",
		"62f2fd4877d1":   "vpermi2pd %zmm1,%zmm0,%zmm2",
		"c4e2735ec2":     ".byte 0xc4,0xe2,0x73,0x5e,0xc2", // tdpbssd
		"06":             "(bad)",
		"48":             "(bad)",
		"0fb9c1":         "ud1 %ecx,%eax",
		"65f30fc7f8":     "rdpid %rax",
		"654c0f38f90410": "movdiri %r8,%gs:(%rax,%rdx)",
	} {
		b, err := hex.DecodeString(code)
		if err != nil {
			t.Fatal(err)
		}
		if got := AMD64.Text(b, 0xffffffff81000000, sym); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
