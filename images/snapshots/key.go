package snapshots

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"trapline/owned"
)

// KeySize is the bytes of a Key.
const KeySize = 32

const keyName = "key"

// Key is a secret of this user's on this machine, KeySize bytes, which is made the first time:
// $XDG_STATE_HOME/trapline/key, or ~/.local/state/trapline/key. It is not in the cache, so that what is
// sealed with it is worth nothing elsewhere. A key that others can read or write is refused with an
// error that wraps [owned.ErrForeign]; where there is no place for one the error says so.
func Key() ([]byte, error) {
	dir, err := stateDir()
	if err != nil {
		return nil, err
	}
	key, err := readKey(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(dir); err == nil {
			key, err = readKey(dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key to what is kept: %w", err)
	}
	return key, nil
}

func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "trapline"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for a key: %w", err)
	}
	return filepath.Join(home, ".local", "state", "trapline"), nil
}

func readKey(dir string) ([]byte, error) {
	f, err := owned.Open(dir, keyName, owned.OthersAny)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, KeySize+1))
	if err == nil && len(key) != KeySize {
		err = fmt.Errorf("%s: it is damaged; remove it, and there will be another", f.Name())
	}
	return key, err
}

// makeKey makes a key, unless another process has been faster. It has its name when it is whole.
func makeKey(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".key-") // with O_EXCL, and mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	key := make([]byte, KeySize)
	rand.Read(key)
	if _, err := f.Write(key); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	err = os.Link(f.Name(), filepath.Join(dir, keyName))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
