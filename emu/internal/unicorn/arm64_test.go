package unicorn

import (
	"encoding/binary"
	"testing"

	"trapline/kernel/arch"
)

// openARM64 opens an engine with the MMU off and starts it at code at 1 MiB of RAM.
func openARM64(t testing.TB, h Handler, codeBuffer uint64, code []uint32) (e *Engine, base uint64) {
	t.Helper()
	e, err := Open(arch.ARM64, 16*mib, codeBuffer, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for i, w := range code {
		binary.LittleEndian.PutUint32(e.RAM()[1*mib+i*4:], w)
	}
	base = e.RAMBase() + 1*mib
	e.StartARM64(base, 0)
	return e, base
}

func TestClockARM64(t *testing.T) {
	e, base := openARM64(t, nothing{}, 8*mib, []uint32{
		0xd2800140, // mov x0, #10
		0xf1000400, // 1: subs x0, x0, #1
		0x54ffffe1, // b.ne 1b
		0xd503207f, // wfi
	})
	end, err := e.Run()
	if end != Hung || err != nil {
		t.Fatalf("end %v, %v", end, err)
	}
	if want := uint64(4 + 10*8); e.Total() != want {
		t.Errorf("clock %d, want %d", e.Total(), want)
	}
	if pc := e.Reg(arch.ArmPC); pc != base+12 {
		t.Errorf("pc 0x%x", pc)
	}
}
