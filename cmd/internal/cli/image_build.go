package cli

import (
	"fmt"

	"trapline/images"
)

// buildImage makes an image from Debian's sources, which takes minutes.
func (e *env) buildImage(name string, again bool) error {
	var store images.Store
	build := store.Build
	if again {
		build = store.Rebuild
	}
	err := build(e.ctx, name, e.progress())
	if err != nil && e.ctx.Err() != nil {
		return &exit{statusSignal, err}
	}
	if err != nil {
		return err
	}
	s, err := store.Lookup(name)
	if err == nil {
		fmt.Fprintf(e.stdout, "%s %s %s\n", s.Name, s.State, orDash(s.Version))
	}
	return err
}

// buildModule builds a module in a directory, and lists the files that it made.
func (e *env) buildModule(name, dir string) error {
	built, err := (images.Store{}).BuildModule(e.ctx, name, dir, e.progress())
	switch {
	case err != nil && e.ctx.Err() != nil:
		return &exit{statusSignal, err}
	case err != nil:
		return err
	}
	for _, path := range built {
		fmt.Fprintln(e.stdout, path)
	}
	return nil
}
