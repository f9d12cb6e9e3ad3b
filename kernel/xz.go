package kernel

import (
	"encoding/binary"

	"github.com/ulikunitz/xz/lzma"
)

// xzDictionary is the largest dictionary that a block of an xz file asks for, in bytes: the library
// makes room for whatever that is. It goes over the chunks of LZMA2 without decompressing them (The
// .xz File Format, 2 and 3). Of damage, which the library finds, it is what comes before.
func xzDictionary(data []byte) (largest int64) {
	const header, flags = 12, 7
	if len(data) < header {
		return 0
	}
	check := uint64([16]byte{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}[data[flags]&15])
	for at := uint64(header); at+2 <= uint64(len(data)) && data[at] != 0; {
		start := at + 4*(uint64(data[at])+1)
		if start > uint64(len(data)) {
			break
		}
		largest = max(largest, blockDictionary(data[at+1:start]))
		n := lzma2Length(data[start:])
		at = start + (n+3)&^3 + check
	}
	return largest
}

// blockDictionary is the dictionary that the header of a block names, behind its first byte; 0 of a
// filter that is not LZMA2.
func blockDictionary(header []byte) int64 {
	flags := header[0]
	header = header[1:]
	for _, has := range []byte{0x40, 0x80} { // sizes, compressed and not
		if _, n := binary.Uvarint(header); flags&has != 0 {
			header = header[max(n, 0):]
		}
	}
	const lzma2 = 0x21
	if len(header) < 3 || header[0] != lzma2 || header[1] != 1 {
		return 0
	}
	n, err := lzma.DecodeDictCap(header[2])
	if err != nil {
		return 0
	}
	return n
}

// lzma2Length is the bytes of the chunks that data begins with, with the end.
func lzma2Length(data []byte) (n uint64) {
	for n < uint64(len(data)) {
		chunk := append(append([]byte{}, data[n:min(n+5, uint64(len(data)))]...), 0, 0, 0, 0)
		switch control := chunk[0]; {
		case control == 0:
			return n + 1
		case control < 0x80: // not compressed
			n += 3 + uint64(binary.BigEndian.Uint16(chunk[1:])) + 1
		default:
			n += 5 + uint64(binary.BigEndian.Uint16(chunk[3:])) + 1
			if control >= 0xc0 { // with properties
				n++
			}
		}
	}
	return n
}
