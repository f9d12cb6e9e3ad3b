package option

import "fmt"

// Bounds of the sizes of buffers, in bytes.
const (
	minBytes = 8       // less holds no record
	maxBytes = 1 << 32 // more is not tried
	lowBytes = 1 << 26 // what a size that is too large is lowered to, at most
)

// Fit makes the sizes of buffers those that can be had. A size for which there is no memory is
// halved until there is, and lowered has a line for it; with bufresize=manual it is an error. So is a
// buffer that is too small for any record, whatever the option says.
func (l *Limits) Fit() (lowered []string, err error) {
	for _, s := range []struct {
		what string
		n    *int
	}{{"buffer", &l.BufSize}, {"aggregation", &l.AggSize}, {"speculation", &l.SpecSize}, {"dynamic variable", &l.DynVarSize}} {
		switch {
		case *s.n < minBytes:
			return lowered, fmt.Errorf("%s size: enabling exceeds size of buffer: %d bytes are too few", s.what, *s.n)
		case *s.n <= maxBytes:
			continue
		case !l.Resize:
			return lowered, fmt.Errorf("%s size: not enough memory for %d bytes", s.what, *s.n)
		}
		for *s.n > lowBytes {
			*s.n /= 2
		}
		lowered = append(lowered, fmt.Sprintf("%s size lowered to %d bytes", s.what, *s.n))
	}
	return lowered, nil
}
