package images

import (
	"archive/tar"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"trapline/images/job"
)

// The root file system of an image is a selection of the base system, the kernel's modules and our
// init, in a UFS1 file system made by makefs(8). Everything in it belongs to root and has the same
// time, so that equal sets give equal bytes.

// omitted are parts of the base system that no shell line needs: manuals, headers, what programs are
// built with and tested by. Of the rest, files larger than largeFile stay out: compilers, debuggers.
var omitted = []string{
	"rescue", "usr/include", "usr/lib32", "usr/libdata", "usr/obj", "usr/share", "usr/src", "usr/tests", "usr/lib/debug", "boot/kernel/kernel",
}

const largeFile = 8 << 20 // bytes

// wanted reports whether an entry of the base system goes into the root.
func wanted(name string, h *tar.Header) bool {
	for _, o := range omitted {
		if name == o || strings.HasPrefix(name, o+"/") {
			return false
		}
	}
	return !strings.HasSuffix(name, ".a") && h.Size <= largeFile
}

// A rootTree is the root file system on its way: files in a directory, and what they are to be in the
// root.
type rootTree struct {
	root  *os.Root
	modes map[string]string // a line of mtree(5) for each path
}

func (f *freebsd) makeRoot(ctx context.Context, s Store, sets *sets, dir, out string, p Progress) (StoredFile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return StoredFile{}, err
	}
	defer root.Close()
	t := &rootTree{root, map[string]string{".": mtreeLine(".", "dir", 0o755)}}
	for _, set := range []string{setBase, setKernel} {
		if err := sets.walk(ctx, set, p, t.add); err != nil {
			return StoredFile{}, err
		}
	}
	if _, ok := t.modes["sbin/init"]; !ok {
		return StoredFile{}, fmt.Errorf("%s.txz has no sbin/init: it is not the base system", setBase)
	}
	for _, name := range []string{"dev/x", "tmp/x", freebsdInit[1:]} {
		if err := t.above(name); err != nil {
			return StoredFile{}, err
		}
	}
	if err := t.file(freebsdInit[1:], 0o755, strings.NewReader(string(f.init))); err != nil {
		return StoredFile{}, err
	}
	image := filepath.Join(filepath.Dir(dir), fileRoot)
	if err := t.write(ctx, dir, image, p); err != nil {
		return StoredFile{}, err
	}
	return s.keep(ctx, image, out, fileRoot, p)
}

// add takes an entry of a set.
func (t *rootTree) add(name string, h *tar.Header, r io.Reader) error {
	if name == "" || !wanted(name, h) {
		return nil
	}
	if err := t.above(name); err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode) & 0o7777
	switch h.Typeflag {
	case tar.TypeDir:
		return t.directory(name, mode)
	case tar.TypeReg:
		return t.file(name, mode, r)
	case tar.TypeSymlink:
		t.modes[name] = mtreeLine(name, "link", 0o755)
		return t.replace(name, func() error { return t.root.Symlink(h.Linkname, name) })
	case tar.TypeLink:
		old := strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")
		if _, ok := t.modes[old]; !ok {
			return nil // a name of what stays out
		}
		t.modes[name] = mtreeLine(name, "file", mode)
		return t.replace(name, func() error { return t.root.Link(old, name) })
	}
	return nil // devices, which the kernel's own file system has
}

func (t *rootTree) directory(name string, mode fs.FileMode) error {
	t.modes[name] = mtreeLine(name, "dir", mode)
	return t.root.MkdirAll(name, 0o755)
}

// above makes the directories in which a file is, where the set has not brought them.
func (t *rootTree) above(name string) error {
	dir := path.Dir(name)
	if _, ok := t.modes[dir]; ok {
		return nil
	}
	if err := t.above(dir); err != nil {
		return err
	}
	return t.directory(dir, 0o755)
}

func (t *rootTree) file(name string, mode fs.FileMode, r io.Reader) error {
	t.modes[name] = mtreeLine(name, "file", mode)
	return t.replace(name, func() error {
		w, err := t.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, w.Close())
	})
}

// replace makes a file; a name that comes twice is what it is last.
func (t *rootTree) replace(name string, make func() error) error {
	if err := t.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return make()
}

// mtreeLine describes a file of the root (mtree(5)): names have no spaces there.
func mtreeLine(name, kind string, mode fs.FileMode) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c <= ' ' || c == '\\' || c == '#' || c == '*' || c == '?' || c == '[' || c >= 0x7f {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	text := b.String()
	if text != "." {
		text = "./" + text
	}
	return fmt.Sprintf("%s type=%s mode=%#o uid=0 gid=0 time=0.0\n", text, kind, mode)
}

// write makes the file system of the directory.
func (t *rootTree) write(ctx context.Context, dir, image string, p Progress) error {
	p.Start("making the root file system", -1)
	defer p.Done()
	names := make([]string, 0, len(t.modes))
	for name := range t.modes {
		names = append(names, name)
	}
	// A directory comes before what is in it.
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(mtreeOrder(a), mtreeOrder(b)) })
	var spec strings.Builder
	spec.WriteString("#mtree\n")
	for _, name := range names {
		spec.WriteString(t.modes[name])
	}
	file := image + ".mtree"
	if err := os.WriteFile(file, []byte(spec.String()), 0o644); err != nil {
		return err
	}
	if _, err := job.Run(ctx, "", "makefs", "-x", "-F", file, "-T", "0", "-t", "ffs", "-o", "version=1", "-B", "little", "-M", "16m",
		"-b", "20%", "-f", "500", image, dir); err != nil {
		return err
	}
	return settle(image)
}

func mtreeOrder(name string) string {
	if name == "." {
		return ""
	}
	return "./" + strings.ReplaceAll(name, "/", "\x00")
}

// Where UFS1 keeps what settle needs (FreeBSD, sys/ufs/ffs/fs.h), in bytes.
const (
	ufsSuperblock = 8192
	ufsSize       = 1376
	ufsMagicAt    = 1372
	ufsMagic      = 0x011954
	ufsPointers   = 0x340 // of the program that made it
	ufsPointerEnd = 0x360
)

// settle clears what makefs leaves of its own memory in the superblock and its copies.
func settle(image string) error {
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	super := make([]byte, ufsSize)
	if _, err := f.ReadAt(super, ufsSuperblock); err != nil {
		f.Close()
		return fmt.Errorf("reading the root file system: %w", err)
	}
	word := func(at int) int64 { return int64(int32(binary.LittleEndian.Uint32(super[at:]))) }
	if word(ufsMagicAt) != ufsMagic {
		f.Close()
		return errors.New("makefs has not made a UFS1 file system")
	}
	sblkno, offset, mask := word(8), word(24), word(28)
	groups, fragment, perGroup := word(44), word(52), word(188)
	places := []int64{ufsSuperblock}
	for g := range groups {
		places = append(places, (perGroup*g+offset*(g&^mask)+sblkno)*fragment)
	}
	for _, at := range places {
		if _, err := f.WriteAt(make([]byte, ufsPointerEnd-ufsPointers), at+ufsPointers); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
