package insn_test

import (
	"fmt"

	"trapline/insn"
)

func ExampleSet_Walk() {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x01, 0xca, 0x5d, 0xc3, 0x06}
	err := insn.AMD64.Walk(code, 0x1000, func(off, n int) bool {
		fmt.Printf("+%d\t%s\n", off, insn.AMD64.Text(code[off:off+n], 0x1000+uint64(off), nil))
		return true
	})
	fmt.Println(err)
	// Output:
	// +0	push %rbp
	// +1	mov %rsp,%rbp
	// +4	endbr64
	// +8	clac
	// +11	pop %rbp
	// +12	retq
	// decoding the instruction at 0x100d (offset 13): no such instruction
}
