package agg

import (
	"encoding/binary"
	"math/bits"
)

// KeyKind says how a part of a key is packed, compared and printed.
type KeyKind uint8

// Kinds of key parts.
const (
	KeyInt    KeyKind = iota // Size bytes, compared as an unsigned number
	KeyString                // any length, compared bytewise
	KeyStack                 // program counters, innermost first
	KeyBytes                 // any length, compared bytewise, printed as a raw dump
	KeySym                   // an address of 8 bytes, compared as a number
)

// A Key is the type of one part of the tuple.
type Key struct {
	Kind KeyKind
	// Size and Signed are those of an integer at its first use: 1, 2, 4 or 8 bytes. Each Part has
	// the size of its own use. Comparison is unsigned whatever the sign.
	Size   int
	Signed bool
	// Form says how the consumer prints a KeySym; the numbers are those of package code.
	Form uint8
}

// Extend extends an integer to 64 bits by the sign of its type.
func (k Key) Extend(p Part) uint64 {
	unused := 64 - 8*p.Size
	if k.Signed {
		return uint64(int64(p.Int<<unused) >> unused)
	}
	return p.Int
}

// A Part is the value of one part of a key. Which field holds it follows from the Key.
type Part struct {
	Int   uint64 // zero-extended from Size
	Size  int    // of an integer, in bytes
	Bytes []byte // of a string, without the NUL, or of bytes
	Stack []uint64
}

// AppendInt packs an integer of size bytes; higher bits of v are ignored. Equal numbers of different
// sizes are different keys.
func AppendInt(key []byte, v uint64, size int) []byte {
	key = append(key, byte(size))
	switch size {
	case 1:
		return append(key, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(key, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(key, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(key, v)
}

// AppendBytes packs a string (without its NUL) or other bytes.
func AppendBytes(key, p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(key, uint32(len(p))), p...)
}

// AppendFrames packs program counters that stand in p, 8 bytes each, little-endian.
func AppendFrames(key, p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(key, uint32(len(p)/8)), p...)
}

// AppendStack packs program counters.
func AppendStack(key []byte, pcs []uint64) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(len(pcs)))
	for _, pc := range pcs {
		key = binary.LittleEndian.AppendUint64(key, pc)
	}
	return key
}

// unpack is the inverse of the Append functions. The parts share memory with key.
func unpack(keys []Key, key []byte) []Part {
	parts := make([]Part, len(keys))
	for i, k := range keys {
		p := &parts[i]
		switch k.Kind {
		case KeyInt, KeySym:
			p.Size = int(key[0])
			p.Int, key = cutInt(key[1:], p.Size)
		case KeyStack:
			var n uint64
			n, key = cutInt(key, 4)
			p.Stack = make([]uint64, n)
			for j := range p.Stack {
				p.Stack[j], key = cutInt(key, 8)
			}
		default:
			var n uint64
			n, key = cutInt(key, 4)
			p.Bytes, key = key[:n:n], key[n:]
		}
	}
	return parts
}

func cutInt(key []byte, size int) (uint64, []byte) {
	var v uint64
	switch size {
	case 1:
		v = uint64(key[0])
	case 2:
		v = uint64(binary.LittleEndian.Uint16(key))
	case 4:
		v = uint64(binary.LittleEndian.Uint32(key))
	default:
		size, v = 8, binary.LittleEndian.Uint64(key)
	}
	return v, key[size:]
}

// hash mixes key, eight bytes at a time, by 64x64 to 128 bit multiplication. It has no
// secret: the same keys give the same table in every run.
func hash(key []byte) uint32 {
	h := uint64(len(key)) ^ 0x9e3779b97f4a7c15
	for len(key) >= 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(key))
		key = key[8:]
	}
	if len(key) >= 4 {
		h = mix(h ^ uint64(binary.LittleEndian.Uint32(key)))
		key = key[4:]
	}
	var tail uint64
	for _, c := range key {
		tail = tail<<8 | uint64(c)
	}
	h = mix(h ^ tail)
	return uint32(h ^ h>>32)
}

func mix(v uint64) uint64 {
	hi, lo := bits.Mul64(v, 0xd6e8feb86659fd93)
	return hi ^ lo
}
