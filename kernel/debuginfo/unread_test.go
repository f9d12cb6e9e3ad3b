package debuginfo

import (
	"bytes"
	"strings"
	"testing"

	"trapline/kernel"
)

// TestUnread: of debug information of a kind that is not read it is said what to do.
func TestUnread(t *testing.T) {
	for _, test := range []struct{ flags, want string }{
		{"-gdwarf-5 -gsplit-dwarf", "CONFIG_DEBUG_INFO_SPLIT"},
		{"-gdwarf-4 -gsplit-dwarf", "CONFIG_DEBUG_INFO_SPLIT"},
		{"-gdwarf-5 -gdwarf64", "64-bit DWARF"},
		{"-gdwarf-4 -gdwarf64", "64-bit DWARF"},
	} {
		data := compile(t, "gcc", strings.Fields(test.flags)...)
		img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "test")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenIndex(img, "", nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.flags, err)
		}
	}
}
