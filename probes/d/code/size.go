package code

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseBool reads the value of an option that is on or off, in any case of letters; none means on.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "", "1", "on", "yes", "true", "set", "enable", "enabled":
		return true, nil
	case "0", "off", "no", "false", "unset", "disable", "disabled":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", s)
}

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
