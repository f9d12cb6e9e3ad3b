package patch

import (
	"fmt"

	"trapline/probes"
)

// PassedBy says in a line what the guest has executed of probes where they do not fire: at other
// addresses than those of their functions. It is "" if there is nothing to say.
func (s *Set) PassedBy() string {
	t, ok := s.target.(probes.Aliaser)
	if !ok {
		return ""
	}
	all := t.Aliases()
	if len(all) == 0 {
		return ""
	}
	var times uint64
	for _, a := range all {
		times += a.Passed
	}
	line := fmt.Sprintf("probed instructions were executed %d times at other addresses, where probes do not fire: the page at %#x ran at %#x",
		times, all[0].Page, all[0].At)
	if more := len(all) - 1; more > 0 {
		line += fmt.Sprintf(" (pages like it: %d more)", more)
	}
	return line
}
