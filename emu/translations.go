package emu

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"trapline/emu/internal/unicorn"
)

// Translated code can be kept from one process to the next. It is the business of whoever keeps the
// file that the machines are made alike; what else translations depend on is in the file.
//
//	magic, size of the store, a number used once, what translations depend on
//	the store, in chunks, from a page boundary on: behind each its seal
//
// Translations are code that the host executes. A seal is a GMAC (NIST SP 800-38D, section 3) of a chunk and its place,
// under a key that follows from a secret of the user's and from the head of the file: one that was made
// without the secret is not used, whatever its checksums would be.

const (
	translationsMagic = "trapline translations 3\n"
	sealedChunk       = 1 << 18
	onceSize          = 8
)

// ErrTranslations is wrapped by the errors of Translations.Keep for a file that is of no use here,
// ErrSeal for one that is not whole, or was not made with the same key.
var (
	ErrTranslations = errors.New("not usable translations")
	ErrSeal         = fmt.Errorf("%w: they are damaged, or were made with another key", ErrTranslations)
)

// Translations are those of a machine that are kept.
type Translations struct {
	m     *Machine
	known uint64 // that were in the file
}

// Translations returns what keeps the translations of the machine.
func (m *Machine) Translations() *Translations { return &m.translations }

// Keep starts reusing and recording translated code, with what is in f to begin with; f may be nil. The
// key, of 32 bytes, is the one that it was saved with: whoever has it can make the host execute what
// they like. A file that is damaged, truncated, made with another key or by another program, library
// or host is refused with an error that wraps ErrTranslations. Nothing is kept then; nor is it in a
// program that cannot be recognized the next time. Only between runs.
func (t *Translations) Keep(f *os.File, key []byte) error {
	if unicorn.KeptIdentity() == "" {
		return nil
	}
	if f == nil {
		return t.m.engine.Keep(0, nil)
	}
	s, err := openSealed(f, key)
	if err != nil {
		return err
	}
	switch err := t.m.engine.Keep(s.size, s.open); {
	case errors.Is(err, unicorn.ErrStore):
		return fmt.Errorf("%w: %w", ErrTranslations, err)
	case err != nil:
		return err
	}
	_, t.known = t.m.engine.Kept()
	return nil
}

// A sealed is a file with a store, of size bytes, and the key to it.
type sealed struct {
	f    io.ReaderAt
	gcm  cipher.AEAD
	head []byte // the file's first page
	size int64
}

func newSealed(f io.ReaderAt, key, head []byte) (*sealed, error) {
	mac := hmac.New(sha256.New, key)
	mac.Write(head)
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, fmt.Errorf("the key to translations: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("the key to translations: %w", err)
	}
	size := binary.LittleEndian.Uint64(head[len(translationsMagic):])
	return &sealed{f, gcm, head, int64(size)}, nil
}

// openSealed reads the head of a file. Nothing of it is known to be true but what is compared.
func openSealed(f *os.File, key []byte) (*sealed, error) {
	head := make([]byte, pageSize)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(translationsMagic)]) != translationsMagic {
		return nil, fmt.Errorf("%w: it does not begin as such", ErrTranslations)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading translations: %w", err)
	}
	s, err := newSealed(f, key, head)
	if err != nil {
		return nil, err
	}
	if s.size <= 0 || s.size > info.Size() || info.Size() != s.at(s.size) {
		return nil, fmt.Errorf("%w: they are truncated", ErrTranslations)
	}
	if string(bytes.TrimRight(head[len(translationsMagic)+8+onceSize:], "\x00")) != unicorn.KeptIdentity() {
		return nil, fmt.Errorf("%w: they were made by another program or emulator library, or on another host", ErrTranslations)
	}
	return s, nil
}

// at is the place in the file of what is at an offset in the store, the start of a chunk or its end.
func (s *sealed) at(offset int64) int64 {
	chunks := (offset + sealedChunk - 1) / sealedChunk
	return pageSize + offset + chunks*int64(s.gcm.Overhead())
}

// seal is that of a chunk at an offset of the store.
func (s *sealed) seal(chunk []byte, offset int64) []byte {
	place := binary.LittleEndian.AppendUint64(make([]byte, 0, s.gcm.NonceSize()), uint64(offset))
	return s.gcm.Seal(nil, place[:s.gcm.NonceSize()], nil, chunk)
}

// open puts the store in to. Every CPU takes a part.
func (s *sealed) open(to []byte) error {
	var all errgroup.Group
	cpus := int64(runtime.GOMAXPROCS(0))
	for cpu := range cpus {
		all.Go(func() error {
			for at := cpu * sealedChunk; at < s.size; at += cpus * sealedChunk {
				if err := s.openChunk(to[at:min(at+sealedChunk, s.size)], at); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// openChunk puts the chunk at an offset in to. What is compared is what is there then, whatever becomes of the file.
func (s *sealed) openChunk(to []byte, at int64) error {
	seal := make([]byte, s.gcm.Overhead())
	_, err := s.f.ReadAt(to, s.at(at))
	if err == nil {
		_, err = s.f.ReadAt(seal, s.at(at)+int64(len(to)))
	}
	if err != nil {
		return fmt.Errorf("reading translations: %w", err)
	}
	if !hmac.Equal(seal, s.seal(to, at)) {
		return ErrSeal
	}
	return nil
}

// Save writes the translations that are kept to an empty file, sealed with a key of 32
// bytes. Only between runs.
func (t *Translations) Save(f io.Writer, key []byte) error {
	store, _ := t.m.engine.Kept()
	head := binary.LittleEndian.AppendUint64([]byte(translationsMagic), uint64(len(store)))
	once := make([]byte, onceSize)
	rand.Read(once)
	head = append(append(head, once...), unicorn.KeptIdentity()...)
	head = append(head, make([]byte, pageSize-len(head))...)
	s, err := newSealed(nil, key, head)
	if err == nil {
		_, err = f.Write(head)
	}
	for at := 0; at < len(store) && err == nil; at += sealedChunk {
		part := store[at:min(at+sealedChunk, len(store))]
		if _, err = f.Write(part); err == nil {
			_, err = f.Write(s.seal(part, int64(at)))
		}
	}
	if err != nil {
		return fmt.Errorf("writing translations: %w", err)
	}
	return nil
}

// Check compares kept translations with what the emulator makes now instead of using them, to find out
// whether they are right. Only between runs.
func (t *Translations) Check() { t.m.engine.CheckKept() }

// TranslationCounts are numbers of blocks of guest code.
type TranslationCounts struct {
	Known   uint64 // were in the file
	Learned uint64 // have been added since
	Placed  uint64 // did not have to be translated; with Check, were compared
	Differ  uint64 // of those, and were not the same
	At      uint64 // address of the first that was not
}

// Counts returns the counts so far.
func (t *Translations) Counts() TranslationCounts {
	_, blocks := t.m.engine.Kept()
	n := TranslationCounts{Known: t.known, Learned: blocks - t.known}
	n.Differ, n.At = t.m.engine.KeptDiffering()
	for _, c := range t.m.cpus {
		n.Placed += c.Placed()
	}
	return n
}
