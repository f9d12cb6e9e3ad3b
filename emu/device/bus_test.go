package device

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// echo reads as its offsets and notes what is written.
type echo struct {
	name string
	log  *[]string
}

func (e echo) In(offset uint16, size int) uint32 {
	return 0xe3e2e1e0 + 0x04040404*uint32(offset/4) + uint32(offset%4)
}

func (e echo) Out(offset uint16, size int, value uint32) {
	*e.log = append(*e.log, fmt.Sprintf("%s[%d]%d=%#x", e.name, offset, size, value))
}

func testBus(log *[]string) *PortBus {
	var b PortBus
	b.Mount(0x40, 4, 1, echo{"byte", log})
	b.Mount(0xcf9, 1, 1, echo{"reset", log})
	b.Mount(0x1f0, 8, 2, echo{"word", log})
	b.Mount(0xfffe, 2, 1, echo{"end", log})
	return &b
}

func TestPortBusIn(t *testing.T) {
	for _, tt := range []struct {
		name string
		port uint16
		size int
		want uint32
	}{
		{"unclaimed", 0x80, 1, 0xff},
		{"unclaimed word", 0x80, 2, 0xffff},
		{"unclaimed long", 0xcfc, 4, 0xffffffff},
		{"byte", 0x41, 1, 0xe1},
		{"split word", 0x41, 2, 0xe2e1},
		{"split long", 0x40, 4, 0xe3e2e1e0},
		{"half claimed", 0x43, 2, 0xffe3},
		{"before a device", 0xcf8, 4, 0xffffffff},
		{"word", 0x1f0, 2, 0xe1e0},
		{"long of words", 0x1f0, 4, 0xe1e2e1e0},
		{"past the end", 0xffff, 2, 0xffe1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if have := testBus(nil).In(tt.port, tt.size); have != tt.want {
				t.Errorf("have %#x, want %#x", have, tt.want)
			}
		})
	}
}

func TestPortBusOut(t *testing.T) {
	var log []string
	b := testBus(&log)
	b.Out(0x80, 1, 0)
	b.Out(0xcf8, 4, 0x8000fa04) // a PCI configuration address is no reset
	b.Out(0x42, 2, 0xaabbccdd)
	b.Out(0x1f6, 4, 0x11223344)
	want := []string{"byte[2]1=0xdd", "byte[3]1=0xcc", "word[6]2=0x3344"}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
}

func TestPortBusMountTwice(t *testing.T) {
	defer func() {
		if have, want := fmt.Sprint(recover()), "device: ports 0x43-0x43 are claimed twice"; have != want {
			t.Errorf("have %q, want %q", have, want)
		}
	}()
	testBus(nil).Mount(0x43, 2, 1, echo{})
}
