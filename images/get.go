package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	archive "trapline/images/debian"
)

// Get makes sure that the image of that name is in the cache. One that is there is
// read and compared with its checksums, and fetched again only if it is damaged.
// Get waits while another process fetches the same image.
//
// When it fails, because of ctx or otherwise, the cache is as it was before. The
// error wraps ErrUnknown, ErrNetwork, syscall.ENOSPC or the error of ctx where
// that is the reason.
func (s Store) Get(ctx context.Context, name string, p Progress) error {
	return s.get(ctx, name, "get", p, false)
}

// Refetch is Get for an image that is to be replaced by what Debian has now.
func (s Store) Refetch(ctx context.Context, name string, p Progress) error {
	return s.get(ctx, name, "get", p, true)
}

// Build is Get for an image that is built here from Debian's sources. One that is
// there is built again if its configuration or the compiler has changed.
func (s Store) Build(ctx context.Context, name string, p Progress) error {
	return s.get(ctx, name, "build", p, false)
}

// Rebuild is Build from what Debian has now.
func (s Store) Rebuild(ctx context.Context, name string, p Progress) error {
	return s.get(ctx, name, "build", p, true)
}

func (s Store) get(ctx context.Context, name, verb string, p Progress, again bool) error {
	spec, err := s.Lookup(name)
	if err != nil {
		return err
	}
	if spec.State == Embedded || spec.State == File {
		return nil
	}
	dir, err := s.Path()
	if err != nil {
		return err
	}
	im, _ := find(name)
	if v := im.origin.verb(); v != verb {
		return fmt.Errorf("there is nothing to %s for %s: run 'trapline image %s %s'", verb, name, v, name)
	}
	doing := map[string]string{"get": "fetching", "build": "building"}[verb]
	if err := s.fetch(ctx, filepath.Join(dir, "images"), im, p, again); err != nil {
		return fmt.Errorf("%s %s: %w", doing, name, explain(ctx, err, dir))
	}
	return nil
}

// fetch does the work of get in the directory of all images.
func (s Store) fetch(ctx context.Context, root string, im image, p Progress, again bool) error {
	name := im.spec.Name
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(root, fileName(name)+".lock"), p)
	if err != nil {
		return err
	}
	defer unlock()
	prefix := workPrefix(name)
	if err := removeStale(root, prefix); err != nil {
		return err
	}
	final := filepath.Join(root, fileName(name))
	if !again {
		whole, err := isWhole(ctx, final, im, p)
		if err != nil {
			return err
		}
		if whole { // whoever made it may have been killed before it could clean up
			return os.RemoveAll(partsDir(final, name))
		}
	}
	if err := im.origin.needs(ctx); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(root, prefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := im.origin.make(ctx, s, tmp, name, p); err != nil {
		return err
	}
	if err := publish(filepath.Join(tmp, "image"), final); err != nil {
		return err
	}
	return os.RemoveAll(partsDir(tmp, name))
}

// partsDir is where downloads of an image are kept until it is whole. It lies beside the
// directory in which the image is made.
func partsDir(tmp, name string) string {
	return filepath.Join(filepath.Dir(tmp), ".parts-"+fileName(name))
}

// isWhole reads the image in dir and compares it with its checksums; it fails only
// if ctx is done. An image that cannot be made here is not asked for its recipe.
func isWhole(ctx context.Context, dir string, im image, p Progress) (bool, error) {
	m, err := readManifest(dir, im.spec.Name)
	if err == nil {
		err = m.verify(ctx, dir, p)
	}
	if err != nil {
		return false, ctx.Err()
	}
	recipe, err := im.origin.recipe(ctx)
	return err != nil || recipe == m.Recipe, ctx.Err()
}

// makeDirs makes directories in tmp and returns their paths.
func makeDirs(tmp string, names ...string) ([]string, error) {
	for i, name := range names {
		names[i] = filepath.Join(tmp, name)
		if err := os.Mkdir(names[i], 0o755); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (d *debian) make(ctx context.Context, s Store, tmp, name string, p Progress) error {
	dirs, err := makeDirs(tmp, "debs", "image")
	if err != nil {
		return err
	}
	debs, out := dirs[0], dirs[1]
	m := manifest{Format: manifestFormat, Name: name}
	resolve := func(from archive.Lists) (pkgs []Package, err error) {
		m.Release, m.Packages, err = d.resolve(ctx, from, p)
		return m.Packages, err
	}
	w := archive.Workplace{Tmp: tmp, Debs: debs, Parts: partsDir(tmp, name)}
	if err := s.fetcher().Packages(ctx, w, d.arch, d.suite, p, resolve); err != nil {
		return err
	}
	release, pkgs := m.Release, m.Packages
	for i, w := range d.wants(release) {
		deb, err := pkgs[i].In(debs)
		if err != nil {
			return err
		}
		if err := pkgs[i].Check(ctx, deb, p); err != nil {
			return err
		}
		files, err := s.unpack(ctx, deb, out, w, p)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, files...)
		if w.pkg == "linux-image-"+release {
			m.Version = pkgs[i].Version
		}
		os.Remove(deb)
	}
	return m.write(out)
}

// publish gives the complete image at tmp its final name, in one step where the
// file system can exchange two names. What was there ends up at tmp, or is removed.
func publish(tmp, final string) error {
	err := os.Rename(tmp, final)
	if err == nil || !errors.Is(err, syscall.EEXIST) && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	if unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, final, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	if err := os.Rename(final, tmp+".old"); err != nil {
		return err
	}
	return os.Rename(tmp, final)
}

// lock takes the lock of an image, waiting for another process if need be. The
// kernel gives it back when this process ends, however it ends.
func lock(ctx context.Context, path string, p Progress) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	try := func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	err = try()
	if err == unix.EWOULDBLOCK {
		p.Start("waiting for another trapline that fetches the image", -1)
		defer p.Done()
		for err == unix.EWOULDBLOCK {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(50 * time.Millisecond):
				err = try()
			}
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// workPrefix begins the names of the directories in which an image is made. No image's is
// the beginning of another's, as linux/riscv64's could be of linux/riscv64-full's.
func workPrefix(name string) string { return ".get-" + fileName(name) + "@" }

// removeStale removes everything in dir whose name begins with prefix.
func removeStale(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// createFile opens a file of an image for writing.
func (s Store) createFile(path string) (io.WriteCloser, error) {
	if s.create != nil {
		return s.create(path)
	}
	return os.Create(path)
}

// A reason is an error in words for the user that keeps what caused it.
type reason struct {
	text  string
	cause error
}

func (r reason) Error() string { return r.text }
func (r reason) Unwrap() error { return r.cause }

// explain puts the errors that are nobody's fault into words.
func explain(ctx context.Context, err error, dir string) error {
	full := []error{syscall.ENOSPC, syscall.EDQUOT}
	var site *archive.SiteError
	switch {
	case ctx.Err() != nil:
		return reason{"interrupted", context.Cause(ctx)}
	case errors.As(err, &site):
		return fmt.Errorf("%w (%s and %s name other sites)", err, archive.SiteVariable, archive.SecurityVariable)
	case slices.ContainsFunc(full, func(e error) bool { return errors.Is(err, e) }):
		return reason{fmt.Sprintf("no space left in the cache %s (1 GB is needed, 4 GB to build)", dir), err}
	}
	return err
}
