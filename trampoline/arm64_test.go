package trampoline

import "testing"

const (
	armPC   = 0xffff800008010ff8
	armSlot = 0xffffffffd0000000
)

func TestARM64Rows(t *testing.T) { testRows(t, ARM64, armPC, armSlot) }
