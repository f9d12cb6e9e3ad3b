package images

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"trapline/owned"
)

// A digestRecord remembers the digest of a file, and which file in which state it is of.
// Whoever changes the file changes its ctime, which cannot be set back.
type digestRecord struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // ns since 1970
	SHA256       string
}

// settled is how old a change must be, in nanoseconds, before a digest is remembered: the
// clock of a file system is coarse, and a change just after could have the same time.
const settled = 2e9

// Digest is the SHA-256 of an open file. It is remembered in the store, so that a file
// that has not changed since is not read again.
func (s Store) Digest(f *os.File) (sum [sha256.Size]byte, err error) {
	state, err := stateOf(f)
	if err != nil {
		return sum, fmt.Errorf("hashing %s: %w", f.Name(), err)
	}
	memo := s.digestPath(f.Name())
	if known, ok := recall(memo, state); ok {
		return known, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, state.Size)); err != nil {
		return sum, fmt.Errorf("hashing %s: %w", f.Name(), err)
	}
	sum = [sha256.Size]byte(h.Sum(nil))
	if now, err := stateOf(f); err == nil && now == state && memo != "" &&
		time.Now().UnixNano()-max(state.Mtime, state.Ctime) > settled {
		state.SHA256 = hex.EncodeToString(sum[:])
		remember(memo, state)
	}
	return sum, nil
}

// stateOf is the record of a file whose digest is not known.
func stateOf(f *os.File) (digestRecord, error) {
	info, err := f.Stat()
	if err != nil {
		return digestRecord{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return digestRecord{}, fmt.Errorf("no identity of %s", f.Name())
	}
	return digestRecord{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano()}, nil
}

// digestPath is where the digest of a file is remembered, "" for nowhere.
func (s Store) digestPath(name string) string {
	dir, err := s.Path()
	if err != nil {
		return ""
	}
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	key := sha256.Sum256([]byte(name))
	return filepath.Join(dir, "digests", hex.EncodeToString(key[:16]))
}

func recall(memo string, state digestRecord) (sum [sha256.Size]byte, ok bool) {
	text, err := owned.ReadFile(memo)
	if err != nil {
		return sum, false
	}
	var known digestRecord
	if json.Unmarshal(text, &known) != nil {
		return sum, false
	}
	raw, err := hex.DecodeString(known.SHA256)
	known.SHA256 = ""
	if err != nil || len(raw) != len(sum) || known != state {
		return sum, false
	}
	return [sha256.Size]byte(raw), true
}

// remember writes a record. Where that is not possible the file is read again next time.
func remember(memo string, r digestRecord) {
	if text, err := json.Marshal(r); err == nil {
		_ = owned.WriteFile(memo, text)
	}
}
