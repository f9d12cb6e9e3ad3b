package trampoline_test

import (
	"fmt"

	"trapline/kernel/arch"
	"trapline/trampoline"
)

func Example() {
	isa, err := trampoline.For(arch.AMD64)
	if err != nil {
		fmt.Println(err)
		return
	}
	const pc, slot = 0xffffffff81000000, 0xffffffff90000000
	for _, code := range [][]byte{
		{0x55},                   // push %rbp
		{0x74, 0x10},             // je
		{0xe8, 0, 1, 0, 0},       // call
		{0x0f, 0x05},             // syscall
		{0xcc},                   // int3
		{0x48, 0x8b, 5, 9, 0, 0}, // mov, cut short
	} {
		p := isa.Plan(code, pc)
		if p.Kind == trampoline.Refuse {
			fmt.Printf("%v: %s\n", p.Kind, p.Reason())
			continue
		}
		fmt.Printf("%v: %s\n", p.Kind, isa.Text(code, pc, nil))
		if b, err := isa.Encode(p, code, pc, slot); err == nil {
			fmt.Printf("\t% x\n", b)
		}
	}
	// Output:
	// copy: push %rbp
	// 	55 e9 fb ff ff f0
	// relocate: je 0xffffffff81000012
	// 	0f 84 0c 00 00 f1 e9 f7 ff ff f0
	// emulate: callq 0xffffffff81000105
	// 	68 05 00 00 81 e9 fb 00 00 f1 e9 f6 ff ff f0
	// refuse: syscall leaves the address of the next instruction in RCX, which would be the trampoline's
	// guest: int3
	// refuse: its bytes end before the instruction does
}
