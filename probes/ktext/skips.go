package ktext

import (
	"fmt"
	"slices"
)

// Skips counts what a provider passes over, by the reason. The zero value is ready.
type Skips struct {
	byReason map[string]*skipped
}

type skipped struct {
	n     int
	first string
}

// Add counts a place that is passed over.
func (s *Skips) Add(why, place string) {
	if s.byReason == nil {
		s.byReason = map[string]*skipped{}
	}
	x := s.byReason[why]
	if x == nil {
		x = &skipped{first: place}
		s.byReason[why] = x
	}
	x.n++
}

// Report says what was passed over, a line for a reason, by alphabet.
func (s *Skips) Report(provider string) []string {
	var out []string
	for why, x := range s.byReason {
		line := fmt.Sprintf("%s: skipped %s: %s", provider, x.first, why)
		if x.n > 1 {
			line = fmt.Sprintf("%s: skipped %d, the first at %s: %s", provider, x.n, x.first, why)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
