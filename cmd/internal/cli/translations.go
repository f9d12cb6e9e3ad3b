package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"trapline/emu"
	"trapline/images"
	"trapline/images/snapshots"
	"trapline/owned"
)

// ofBoot ends the key of translations that go with a boot, not with the snapshot behind it.
const ofBoot = ".boot"

// translationLimit is the disk space that kept translations may take, in bytes.
const translationLimit = 1 << 30

// translationCache is where translations of guests' code are kept, under the keys of the snapshots
// that the guests have gone on from, or would have: those say all that a translation depends on.
func translationCache() (snapshots.Cache, error) {
	dir, err := (images.Store{}).Path()
	return snapshots.Cache{Dir: filepath.Join(dir, "translations"), Limit: translationLimit}, err
}

// A secret is the key to what is kept, which is read once. Nil reads it each time.
type secret struct {
	once  sync.Once
	bytes []byte
	err   error
}

func (s *secret) key() ([]byte, error) {
	if s == nil {
		return snapshots.Key()
	}
	s.once.Do(func() { s.bytes, s.err = snapshots.Key() })
	return s.bytes, s.err
}

// keepTranslations spares the guest what former runs of it have translated.
// What it learns is kept when it ends.
func (g *guest) keepTranslations(e *env, key string) {
	cache, err := translationCache()
	if err != nil || g.config.kept == "none" {
		return
	}
	secret, err := e.secret.key()
	if err != nil {
		g.passedOver(e, fmt.Errorf("translations are not kept: %w", err))
		return
	}
	if !g.openTranslations(e, cache, key, secret) && g.machine.Translations().Keep(nil, nil) != nil {
		return
	}
	if g.config.kept == "check" {
		g.machine.Translations().Check()
	}
	g.atEnd = append(g.atEnd, func() { g.saveTranslations(cache, key, secret) })
}

// openTranslations makes the machine use those in the cache and reports whether there are any. Those
// that cannot be used are discarded. Those that another user or another key has made are passed over,
// and -v has a line about it.
func (g *guest) openTranslations(e *env, cache snapshots.Cache, key string, secret []byte) bool {
	f, err := cache.Open(key)
	if err == nil {
		defer f.Close()
		err = g.machine.Translations().Keep(f, secret)
	}
	switch {
	case errors.Is(err, owned.ErrForeign), errors.Is(err, emu.ErrSeal):
		g.passedOver(e, fmt.Errorf("translations %s not used: %w", key, err))
	case errors.Is(err, emu.ErrTranslations):
		e.complain(fmt.Errorf("translations %s discarded: %w", key, err))
		cache.Remove(key)
	}
	return err == nil
}

// saveTranslations keeps what has been learned, if it is worth while. Where that cannot be done the
// next run is no faster, and that is all.
func (g *guest) saveTranslations(cache snapshots.Cache, key string, secret []byte) {
	if t := g.machine.Translations().Counts(); t.Learned > t.Known/32 && t.Differ == 0 {
		cache.Create(key, func(f *os.File) error { return g.machine.Translations().Save(f, secret) })
	}
}

// passedOver reports, with -v, what is in the cache and not used. The run is the
// same.
func (g *guest) passedOver(e *env, err error) {
	if g.config.verbose {
		e.complain(err)
	}
}

// checkTranslations says with the option translations=check whether those that were kept were right.
func (g *guest) checkTranslations() error {
	t := g.machine.Translations().Counts()
	if t.Differ == 0 {
		return nil
	}
	return fmt.Errorf("option translations: %d of %d translations of former runs are not what they would be now, the first at 0x%x", t.Differ, t.Placed, t.At)
}

// sizeOfTranslations is in bytes.
func sizeOfTranslations(key string) int64 {
	cache, err := translationCache()
	if err != nil {
		return 0
	}
	f, err := cache.Peek(key)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// removeTranslations removes those that go with a snapshot and with its boot, or with no key all there are. There need
// not be any.
func removeTranslations(key string) {
	cache, err := translationCache()
	if err != nil {
		return
	}
	if key != "" {
		cache.Remove(key)
		cache.Remove(key + ofBoot)
		return
	}
	all, _ := cache.List()
	for _, e := range all {
		cache.Remove(e.Key)
	}
}
