package guestos

import "bytes"

// names turns the kernel's fixed-size names into strings without allocating each time.
type names map[[16]byte]string

const maxNames = 1024 // a guest that makes up names without end must not fill memory

func (n names) get(b [16]byte) string {
	s, ok := n[b]
	if !ok {
		name, _, _ := bytes.Cut(b[:], []byte{0})
		if len(n) >= maxNames {
			clear(n)
		}
		s = string(name)
		n[b] = s
	}
	return s
}
