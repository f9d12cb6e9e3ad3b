package vm

import (
	"bytes"
	"math/bits"
	"net/netip"

	"trapline/probes/d/code"
)

// memory is a subroutine that copies.
func (f *frame) memory(s code.Sub, args []uint64) (v uint64, ok bool) {
	switch s {
	case code.SubAlloca:
		return f.allocCleared(args[0])
	case code.SubCopyin:
		return f.copyin(args[0], args[1])
	case code.SubBcopy:
		return 0, f.bcopy(args[0], args[1], args[2])
	case code.SubCopyinto:
		return 0, f.bcopy(args[0], args[2], args[1])
	case code.SubCopyout:
		return 0, f.copyout(args[0], args[1], args[2])
	}
	return 0, f.copyoutstr(f.bytes(args[0]), args[1], args[2])
}

// convertInt is a change of byte order, or a part of the number of a device: 12 bits of
// major and 20 of minor number.
func convertInt(s code.Sub, x uint64) uint64 {
	switch s {
	case code.SubHtons, code.SubNtohs:
		return uint64(bits.ReverseBytes16(uint16(x)))
	case code.SubHtonl, code.SubNtohl:
		return uint64(bits.ReverseBytes32(uint32(x)))
	case code.SubGetmajor:
		return uint64(uint32(x) >> 20)
	case code.SubGetminor:
		return x & (1<<20 - 1)
	}
	return bits.ReverseBytes64(x)
}

// The numbers of address families: of IPv4 everywhere, of IPv6 in Linux, illumos and
// FreeBSD.
const (
	afInet         = 2
	afInet6        = 10
	afInet6Illumos = 26
	afInet6FreeBSD = 28
)

// inet is the text of an address in memory.
func (f *frame) inet(s code.Sub, args []uint64) (ref uint64, ok bool) {
	n, addr := 4, args[len(args)-1]
	if s == code.SubInetNtop {
		switch int32(args[0]) {
		case afInet:
		case afInet6, afInet6Illumos, afInet6FreeBSD:
			n = 16
		default:
			return 0, f.fail(IllegalOp, 0)
		}
	} else if s == code.SubInetNtoa6 {
		n = 16
	}
	var p [16]byte
	if !f.read(addr, p[:n]) {
		return 0, false
	}
	a, _ := netip.AddrFromSlice(p[:n])
	var text [64]byte
	return f.keepCut(a.AppendTo(text[:0]))
}

// memstr is a string of the n bytes in memory but the last, with c for each NUL; of none there are.
func (f *frame) memstr(addr uint64, c byte, n uint64) (ref uint64, ok bool) {
	if n == 0 {
		return f.keepCut(nil)
	}
	p := make([]byte, min(n-1, uint64(f.m.cfg.StrSize-1)))
	if !f.read(addr, p) {
		return 0, false
	}
	return f.keepCut(bytes.ReplaceAll(p, []byte{0}, []byte{c}))
}

// cleanpath takes what leads nowhere out of a path, but for "/." at its end, as in DTrace; it does not know
// symbolic links.
func (f *frame) cleanpath(s []byte) (ref uint64, ok bool) {
	ref, ok = f.keepCut(s)
	if !ok {
		return 0, false
	}
	p := f.bytes(ref)
	n := 0
	for i := 0; i < len(p); {
		switch rest := p[i:]; {
		case bytes.HasPrefix(rest, []byte("//")):
			i++
		case bytes.HasPrefix(rest, []byte("/./")):
			i += 2
		case bytes.HasPrefix(rest, []byte("/../")), string(rest) == "/..":
			i += 3
			n = max(bytes.LastIndexByte(p[:n], '/'), 0)
		default:
			p[n] = p[i]
			n++
			i++
		}
	}
	if n == 0 && len(p) > 0 {
		p[0], n = '/', 1
	}
	return uint64(code.MakeRef(code.Ref(ref).Off(), uint32(n))), true
}

// strtok takes the next token off what is left of a string; args are the delimiters and,
// to begin with, the string: a clause that goes on without having begun has none to read.
func (f *frame) strtok(args []uint64) (ref uint64, ok bool) {
	if len(args) > 1 {
		f.tokens = args[1]
	} else if f.tokens == 0 {
		return 0, f.fail(BadAddr, 0)
	}
	s, delims := f.bytes(f.tokens), f.bytes(args[0])
	isDelim := func(c byte) bool { return bytes.IndexByte(delims, c) >= 0 }
	from := 0
	for from < len(s) && isDelim(s[from]) {
		from++
	}
	to := from
	for to < len(s) && !isDelim(s[to]) {
		to++
	}
	off := code.Ref(f.tokens).Off()
	f.tokens = uint64(code.MakeRef(off+uint32(min(to+1, len(s))), uint32(len(s)-min(to+1, len(s)))))
	return uint64(code.MakeRef(off+uint32(from), uint32(to-from))), true
}

// strtoll is the number that a string begins with, as strtoll(3); in base 16 it may have
// 0x in front.
func (f *frame) strtoll(s []byte, base uint64) (v uint64, ok bool) {
	if base < 2 || base > 36 {
		return 0, f.fail(IllegalOp, 0)
	}
	s = bytes.TrimLeft(s, " \t\n\v\f\r")
	neg := len(s) > 0 && s[0] == '-'
	if neg || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digit(s[2]) < 16 {
		s = s[2:]
	}
	for _, c := range s {
		d := digit(c)
		if d >= base {
			break
		}
		v = v*base + d
	}
	if neg {
		v = -v
	}
	return v, true
}

// digit is the value of a digit, 255 of another character.
func digit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return uint64(c|0x20-'a') + 10
	}
	return 255
}

func (f *frame) progenyof(pid int32) (v uint64, ok bool) {
	yes, bad, ok := f.env.Progeny(pid)
	if !ok {
		return 0, f.fail(BadAddr, bad)
	}
	return truth(yes), true
}

// random returns the next of a sequence of numbers (splitmix64, public domain); 32
// bits are used.
func (m *Machine) random() uint64 {
	m.seed += 0x9e3779b97f4a7c15
	z := m.seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint64(uint32(z ^ z>>31))
}
