package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"trapline/images"
	"trapline/kernel"
	"trapline/probes/ktext"
)

// advice says what to do about an error that newcomers meet, "" if there is nothing to say.
func advice(err error) string {
	var file *fs.PathError
	switch {
	case errors.Is(err, images.ErrNetwork):
		return ": check your network and http_proxy; tiny/* images need no download"
	case errors.As(err, &file) && (file.Op == "mkdir" || fullCache(file)), errors.Is(err, images.ErrNoCache):
		return ": XDG_CACHE_HOME names another directory for images and snapshots"
	}
	return ""
}

// fullCache reports whether an error is of a file of the cache for which there is no room.
func fullCache(err *fs.PathError) bool {
	dir, failed := images.Store{}.Path()
	return failed == nil && errors.Is(err, syscall.ENOSPC) && strings.HasPrefix(err.Path, dir+"/")
}

// nearestImage adds to the error of an image nobody knows the one that may have been meant.
func nearestImage(name string, err error) error {
	if !errors.Is(err, images.ErrUnknown) {
		return err
	}
	if near := kernel.Nearest(imageNames(), name, 1); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return err
}

// inlinedOnly adds to the error of a function that has no code of its own that it is
// inlined, if the debug information says so.
func (g *guest) inlinedOnly(e *env, err error) error {
	var unknown *ktext.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	index, failed := g.debug(e).Functions()
	if failed != nil {
		return err
	}
	if f, ok := index.Function(unknown.Function); ok && len(f.Copies) > 0 {
		return fmt.Errorf("%w: it is inlined, in %d places: 'trapline inline %s' shows them", err, len(f.Copies), unknown.Function)
	}
	return err
}
