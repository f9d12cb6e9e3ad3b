package code

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads the value of an option that is a size in bytes: a number, octal with 0 or
// hexadecimal with 0x in front, with an optional k, m, g or t for powers of 1024.
func ParseSize(s string) (uint64, error) {
	digits, unit := s, 0
	if n := len(s); n > 0 {
		if i := strings.IndexByte("kmgt", s[n-1]|0x20); i >= 0 {
			digits, unit = s[:n-1], 10*(i+1)
		}
	}
	v, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || v<<unit>>unit != v || strings.Contains(digits, "_") {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return v << unit, nil
}
