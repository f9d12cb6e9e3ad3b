package trampoline

import "testing"

const (
	riscvPC   = 0xffffffff80200ffe
	riscvSlot = 0xffffffffe8000000
)

func TestRISCV64Rows(t *testing.T) { testRows(t, RISCV64, riscvPC, riscvSlot) }
