package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Versions in which functions that the library calls came into the C library once more. Threads
// moved from libpthread to libc with 2.32 and 2.34: nothing else changed. With 2.29 log and pow
// lost their SVID error handling, which gives the same values for the arguments of a CPU.
var renewed = map[string]bool{"GLIBC_2.29": true, "GLIBC_2.32": true, "GLIBC_2.34": true}

// The oldest version of the C library's symbols, by architecture.
var oldest = map[elf.Machine]string{elf.EM_X86_64: "GLIBC_2.2.5", elf.EM_AARCH64: "GLIBC_2.17"}

// relax makes a shared library ask for the oldest versions of symbols that have been renewed. Then it
// is loaded by the C library of Debian 11, and of every later release; by one that is older still,
// too, so that trapline can say that it is too old. Nothing but the names of needed versions changes
// (LSB Core, "Symbol Versioning": Elfxx_Vernaux).
func relax(lib []byte) error {
	f, err := elf.NewFile(bytes.NewReader(lib))
	if err != nil {
		return fmt.Errorf("reading the emulator library: %w", err)
	}
	needs, names := f.Section(".gnu.version_r"), f.Section(".dynstr")
	to := oldest[f.Machine]
	if needs == nil || names == nil || to == "" {
		return errors.New("reading the emulator library: it needs no versions of the C library's symbols")
	}
	str, err := names.Data()
	if err != nil {
		return err
	}
	at := bytes.Index(str, append([]byte(to), 0))
	if at < 0 {
		return fmt.Errorf("reading the emulator library: it does not need %s", to)
	}
	for _, aux := range auxiliaries(lib[needs.Offset:needs.Offset+needs.Size], int(needs.Info)) {
		name, _, _ := bytes.Cut(str[binary.LittleEndian.Uint32(aux[8:]):], []byte{0})
		if renewed[string(name)] {
			binary.LittleEndian.PutUint32(aux[0:], hash(to))
			binary.LittleEndian.PutUint32(aux[8:], uint32(at))
		}
	}
	return nil
}

// auxiliaries returns the entries of a section of needed versions: for each of n files a list.
func auxiliaries(section []byte, n int) [][]byte {
	var list [][]byte
	for need := section; n > 0; n-- {
		aux := need[binary.LittleEndian.Uint32(need[8:]):]
		for k := binary.LittleEndian.Uint16(need[2:]); k > 0; k-- {
			list = append(list, aux[:16])
			aux = aux[binary.LittleEndian.Uint32(aux[12:]):]
		}
		need = need[binary.LittleEndian.Uint32(need[12:]):]
	}
	return list
}

// hash is that of a symbol's name in the ELF specification.
func hash(name string) uint32 {
	var h uint32
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		h ^= h >> 24 & 0xf0
		h &= 0x0fffffff
	}
	return h
}
