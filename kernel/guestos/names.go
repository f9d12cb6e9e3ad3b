package guestos

import "bytes"

// names turns the kernel's fixed-size names into strings without allocating each time.
type names map[[maxName]byte]string

const (
	maxNames = 1024 // a guest that makes up names without end must not fill memory
	maxName  = 32   // bytes of one
)

// get is the name in b, which has at most maxName bytes.
func (n names) get(b []byte) string {
	var key [maxName]byte
	copy(key[:], b)
	s, ok := n[key]
	if !ok {
		name, _, _ := bytes.Cut(b, []byte{0})
		if len(n) >= maxNames {
			clear(n)
		}
		s = string(name)
		n[key] = s
	}
	return s
}
