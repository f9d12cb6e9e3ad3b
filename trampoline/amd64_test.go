package trampoline

import "testing"

const (
	testPC   = 0xffffffff81000000
	testSlot = 0xffffffff90000000
)

func TestAMD64Rows(t *testing.T) { testRows(t, AMD64, testPC, testSlot) }

// TestAMD64Equivalent has objdump read every trampoline of the rows, and the instruction in
// place: same instruction, same absolute addresses.
func TestAMD64Equivalent(t *testing.T) {
	var slots slotBatch
	for _, r := range readRows(t, AMD64) {
		if p := amd64Plan(r.code, testPC); p.Kind != Refuse && p.Kind != Guest {
			slots.add(t, r.code[:p.Len])
		}
	}
	slots.check(t)
}

// TestPlanReturnAddress: a return address that push imm32 cannot push.
func TestPlanReturnAddress(t *testing.T) {
	call := []byte{0xe8, 0, 0, 0, 0}
	for pc, want := range map[uint64]Kind{
		0x1000:             Emulate,
		0x7ffffffa:         Emulate,
		0x7ffffffb:         Refuse,
		0xffffffff7ffffffa: Refuse,
		0xffffffff7ffffffb: Emulate,
		0xfffffffffffffff0: Emulate,
	} {
		p := amd64Plan(call, pc)
		if p.Kind != want || want == Refuse && p.reason != reasonReturnAddress {
			t.Errorf("call at %#x: %s (%s), want %s", pc, p.Kind, p.Reason(), want)
		}
	}
}

// TestEncodeWraps: per-CPU variables lie at small addresses, and %gs:disp(%rip) reaches
// them around the end of the address space, up to a limit.
func TestEncodeWraps(t *testing.T) {
	code := []byte{0x65, 0x48, 0x8b, 0x05, 0, 0, 0, 0x7f} // mov %gs:0x7f000000(%rip),%rax
	p := amd64Plan(code, testPC)
	target := uint64(testPC) + uint64(len(code)) + 0x7f000000
	for slot, ok := range map[uint64]bool{
		0xffffffff90000000:          true,
		target - 0x7fffffff - 8:     true,
		target - 0x7fffffff - 8 - 1: false,
	} {
		if _, err := amd64Encode(p, code, testPC, slot); (err == nil) != ok {
			t.Errorf("slot %#x, target %#x: %v", slot, target, err)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	jmp := []byte{0xeb, 0}
	p := amd64Plan(jmp, testPC)
	for name, c := range map[string]struct {
		p    Plan
		code []byte
		slot uint64
	}{
		"refused":   {Plan{}, jmp, testSlot},
		"guest":     {amd64Plan([]byte{0xcc}, testPC), []byte{0xcc}, testSlot},
		"truncated": {p, jmp[:1], testSlot},
		"far":       {p, jmp, 0xf00000000},
	} {
		if out, err := amd64Encode(c.p, c.code, testPC, c.slot); err == nil {
			t.Errorf("%s: %x", name, out)
		}
	}
}
