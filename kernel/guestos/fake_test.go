package guestos

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// fakeMem is guest memory of 8-byte words; others are not mapped.
type fakeMem map[uint64]uint64

func (m fakeMem) ReadMem(addr uint64, p []byte) error {
	for i := range p {
		a := addr + uint64(i)
		word, ok := m[a&^7]
		if !ok {
			return fmt.Errorf("invalid address (0x%x)", a)
		}
		p[i] = byte(word >> (8 * (a & 7)))
	}
	return nil
}

// put stores little-endian bytes at a multiple of 8, up to the next one.
func (m fakeMem) put(addr uint64, b []byte) {
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	for i := 0; i < len(b); i += 8 {
		m[addr+uint64(i)] = binary.LittleEndian.Uint64(b[i:])
	}
}

// stack stores words upwards from addr.
func (m fakeMem) stack(addr uint64, words ...uint64) fakeMem {
	for i, w := range words {
		m[addr+uint64(8*i)] = w
	}
	return m
}

type fakeRegs map[arch.Reg]uint64

func (r fakeRegs) Reg(reg arch.Reg) uint64       { return r[reg] }
func (r fakeRegs) SetReg(reg arch.Reg, v uint64) { r[reg] = v }

func openImage(t testing.TB, path string) *kernel.Image {
	t.Helper()
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

func detect(t testing.TB, img *kernel.Image) OS {
	t.Helper()
	guest, err := Detect(img, "")
	if err != nil {
		t.Fatal(err)
	}
	return guest
}

// rename opens an image in which a section or symbol has another name.
func rename(t *testing.T, path, from, to string) *kernel.Image {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) || len(from) != len(to) {
		t.Fatalf("cannot rename %q to %q", from, to)
	}
	data = bytes.ReplaceAll(data, []byte(from), []byte(to))
	img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "vmlinux")
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func symbol(t testing.TB, img *kernel.Image, name string) uint64 {
	t.Helper()
	s := img.Symtab().Lookup(name)
	if len(s) == 0 {
		t.Fatalf("no symbol %s", name)
	}
	return s[0].Addr
}
