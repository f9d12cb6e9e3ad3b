package option

import (
	"fmt"
	"slices"
	"strings"
)

// A Version is one of D: its parts, from the most important on. The zero value is none.
type Version [3]int

// Before reports whether v is earlier than w.
func (v Version) Before(w Version) bool { return slices.Compare(v[:], w[:]) < 0 }

// versions are those that there have been, as dtrace(1) counts them.
var versions = strings.Fields("1.0 1.1 1.2 1.2.1 1.2.2 1.3 1.4 1.4.1 1.5 1.6 1.6.1 1.6.2 1.6.3 " +
	"1.7 1.7.1 1.8 1.8.1 1.9 1.9.1 1.10 1.11 1.12 1.12.1 1.13")

// setVersion takes one of the versions of the language up to this one.
func setVersion(o *Options, value string) error {
	text := strings.TrimSuffix(value, ".0")
	if !strings.Contains(text, ".") {
		text = value
	}
	if !slices.Contains(versions, text) {
		return fmt.Errorf("%q is not a version of D up to %s", value, versions[len(versions)-1])
	}
	var v Version
	fmt.Sscanf(text+".0", "%d.%d.%d", &v[0], &v[1], &v[2])
	o.Version = v
	return nil
}
