package emu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"trapline/emu/internal/unicorn"
)

// Translated code can be kept from one process to the next. It is the business of whoever keeps the
// file that the machines are made alike; what else translations depend on is in the file.
//
//	magic, size and checksum of the store, what it depends on
//	the store, from a page boundary on

const translationsMagic = "trapline translations 1\n"

// ErrTranslations is wrapped by the errors of KeepTranslations for a file that is of no use here.
var ErrTranslations = errors.New("not usable translations")

// KeepTranslations has translations of the guest's code kept from now on, those in f to begin with;
// f may be nil. It is code that the host will execute: a file that is damaged, truncated, of another
// program, library or host, or that others than this user can write to, is refused with an error that
// wraps ErrTranslations. Then none are kept; nor are they in a program of which cannot be told whether
// it is the same the next time. Only between runs.
func (m *Machine) KeepTranslations(f *os.File) error {
	if unicorn.KeptBy() == "" {
		return nil
	}
	if f == nil {
		return m.engine.Keep(nil, 0, 0)
	}
	size, err := checkTranslations(f)
	if err != nil {
		return err
	}
	if err := m.engine.Keep(f, pageSize, size); err != nil {
		return err
	}
	_, blocks := m.engine.Kept()
	m.translations = blocks
	return nil
}

// checkTranslations returns the size of the store in the file.
func checkTranslations(f *os.File) (size int64, err error) {
	head := make([]byte, pageSize)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(translationsMagic)]) != translationsMagic {
		return 0, fmt.Errorf("%w: it does not begin as such", ErrTranslations)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("reading translations: %w", err)
	}
	rest := head[len(translationsMagic):]
	size, sum := int64(binary.LittleEndian.Uint64(rest)), binary.LittleEndian.Uint32(rest[8:])
	if size <= 0 || info.Size() != pageSize+size {
		return 0, fmt.Errorf("%w: they are truncated", ErrTranslations)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || info.Mode()&0o022 != 0 {
		return 0, fmt.Errorf("%w: others could have written them", ErrTranslations)
	}
	if string(bytes.TrimRight(rest[12:], "\x00")) != unicorn.KeptBy() {
		return 0, fmt.Errorf("%w: they were made by another program or emulator library, or on another host", ErrTranslations)
	}
	store, err := unix.Mmap(int(f.Fd()), pageSize, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return 0, fmt.Errorf("mapping translations: %w", err)
	}
	defer unix.Munmap(store)
	if crc32.Checksum(store, castagnoli) != sum {
		return 0, fmt.Errorf("%w: they are damaged", ErrTranslations)
	}
	return size, nil
}

// SaveTranslations writes the translations that are kept to an empty file. Only between runs.
func (m *Machine) SaveTranslations(f io.Writer) error {
	store, _ := m.engine.Kept()
	head := []byte(translationsMagic)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(store)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(store, castagnoli))
	head = append(head, unicorn.KeptBy()...)
	for _, p := range [][]byte{head, make([]byte, pageSize-len(head)), store} {
		if _, err := f.Write(p); err != nil {
			return fmt.Errorf("writing translations: %w", err)
		}
	}
	return nil
}

// CheckTranslations has those that are kept compared with what the emulator makes now, and not used:
// it is for finding out whether they are right. Only between runs.
func (m *Machine) CheckTranslations() { m.engine.CheckKept() }

// Translations counts blocks of guest code.
type Translations struct {
	Known   uint64 // were in the file
	Learned uint64 // have been added since
	Placed  uint64 // did not have to be translated; with CheckTranslations, were compared
	Differ  uint64 // of those, and were not the same
	At      uint64 // address of the first that was not
}

// Translations returns the counts so far.
func (m *Machine) Translations() Translations {
	_, blocks := m.engine.Kept()
	t := Translations{Known: m.translations, Learned: blocks - m.translations}
	t.Differ, t.At = m.engine.KeptDiffering()
	for _, c := range m.cpus {
		t.Placed += c.Placed()
	}
	return t
}
