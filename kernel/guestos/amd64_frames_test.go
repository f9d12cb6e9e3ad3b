package guestos

import "testing"

// A ret is an instruction: its byte in another one, in a displacement for instance, means nothing.
func TestAMD64Returns(t *testing.T) {
	for code, want := range map[string]bool{
		"\xc3":                             true,
		"\x31\xc0\xc3":                     true,  // xor %eax,%eax; ret
		"\x74\x02\xc3":                     true,  // je; ret
		"\x5d\xc3":                         false, // pop %rbp; ret
		"\xc9\xc3":                         false, // leave; ret
		"\xe8\xc3\xe9\xff\xff":             false, // call
		"\x48\x89\xe5\xe8\xc3\xe9\xff\xff": false, // mov %rsp,%rbp; call
		"\x48\x89\xc3\x5d\xc3":             false, // mov %rax,%rbx; pop %rbp; ret
		"\xeb\x01\xc3":                     false, // jmp; ret
		"\x90":                             false,
		"":                                 false,
	} {
		if got := amd64Returns([]byte(code)); got != want {
			t.Errorf("% x: %t, want %t", code, got, want)
		}
	}
}
