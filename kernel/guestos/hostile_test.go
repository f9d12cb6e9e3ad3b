package guestos

import (
	"strings"
	"testing"

	"trapline/kernel/ctypes"
)

// TestFieldBounds: an offset that no structure has is refused, as it says how much is read at once.
func TestFieldBounds(t *testing.T) {
	s := ctypes.Incomplete(ctypes.Struct, "task_struct")
	s.Fields = []ctypes.Field{
		{Name: "pid", Type: ctypes.IntType, Offset: 1 << 40},
		{Name: "comm", Type: ctypes.ArrayOf(ctypes.ArrayOf(ctypes.CharType, 1<<31), 1<<31), Offset: 8},
		{Name: "tgid", Type: ctypes.IntType, Offset: 16},
	}
	var off uint64
	for name, want := range map[string]string{
		"pid":  "member pid of struct task_struct is 1099511627776 bytes from its start, more than 1048576",
		"comm": "member comm of struct task_struct has 1099511627776 bytes, not 4",
		"ppid": "struct task_struct has no member ppid",
	} {
		if err := field(s, name, 4, &off); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if err := field(s, "tgid", 4, &off); err != nil || off != 16 {
		t.Errorf("tgid: %d, %v", off, err)
	}
}
