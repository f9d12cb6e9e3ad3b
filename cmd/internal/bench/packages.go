package main

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"

	"trapline/images"
)

// packaged is a cpio archive with a package of Debian's, as the host's lists have it, and what
// it depends on: a root file system in which its programs run. It is made once, in the cache;
// apt compares what it fetches with Debian's signed lists.
func (b *bench) packaged(name string) ([]byte, error) {
	version, err := b.versionOf(name)
	if err != nil {
		return nil, err
	}
	cache, err := images.Store{}.Path()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "bench")
	file := filepath.Join(dir, name+"_"+version+".cpio")
	archive, err := os.ReadFile(file)
	if !errors.Is(err, os.ErrNotExist) {
		return archive, err
	}
	fmt.Fprintf(b.log, "bench: fetching %s and what it depends on\n", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(dir, ".get-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "cpio")
	if err := b.fetch(name, tmp, whole); err != nil {
		return nil, err
	}
	if err := os.Rename(whole, file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// versionOf is the version of a package that apt would install.
func (b *bench) versionOf(name string) (string, error) {
	out, err := b.ask("", "apt-cache", "show", "--no-all-versions", name+":amd64")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(line, "Version: "); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", fmt.Errorf("package %s has no version", name)
}

// fetch downloads a package and what it depends on into dir, and makes an archive of them.
func (b *bench) fetch(name, dir, archive string) error {
	out, err := b.ask("", "apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests",
		"--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances", name+":amd64")
	if err != nil {
		return err
	}
	args := append([]string{"-q", "-o", "APT::Sandbox::User=root", "download"}, packageNames(out)...)
	if _, err := b.ask(dir, "apt-get", args...); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	return cmp.Or(b.pack(f, debs), f.Close())
}

// packageNames reads what apt-cache depends says: a line for each package, and behind it, indented,
// what it depends on. Those in <> are names that several packages stand for.
func packageNames(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		if line[0] != ' ' && line[0] != '<' {
			names = append(names, strings.TrimSpace(line))
		}
	}
	return names
}

// ask runs a program in a directory and returns what it writes.
func (b *bench) ask(dir, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w: %s", program, args[0], err, lastLine(string(exit.Stderr)))
	}
	return string(out), err
}

// pack makes an archive of what is in packages.
func (b *bench) pack(w io.Writer, debs []string) error {
	archive := cpio.Newc.Writer(w)
	ino := uint64(1)
	for _, deb := range debs {
		cmd := exec.CommandContext(b.ctx, "dpkg-deb", "--fsys-tarfile", deb)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		packed := packTar(archive, out, &ino)
		io.Copy(io.Discard, out) // so that it ends
		if err := cmp.Or(packed, cmd.Wait()); err != nil {
			return fmt.Errorf("unpacking %s: %w", filepath.Base(deb), err)
		}
	}
	return cpio.WriteTrailer(archive)
}

// packTar adds directories, files and symbolic links of a tar archive; not the documentation,
// which is half of the files.
func packTar(archive cpio.RecordWriter, r io.Reader, ino *uint64) error {
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rec, ok, err := record(h, tr)
		if err != nil {
			return err
		}
		if !ok || strings.HasPrefix(rec.Name, "usr/share/") {
			continue
		}
		rec.Ino, *ino = *ino, *ino+1
		if err := archive.WriteRecord(rec); err != nil {
			return err
		}
	}
}

// record is an entry of a tar archive as one of a cpio archive.
func record(h *tar.Header, r io.Reader) (rec cpio.Record, ok bool, err error) {
	name := path.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return cpio.Directory(name, 0o755), name != ".", nil
	case tar.TypeSymlink:
		return cpio.Symlink(name, h.Linkname), true, nil
	case tar.TypeReg:
		contents, err := io.ReadAll(r)
		mode := cpio.S_IFREG | uint64(h.Mode)&0o777
		return cpio.StaticRecord(contents, cpio.Info{Name: name, Mode: mode}), true, err
	}
	return rec, false, fmt.Errorf("%s: an entry of type %q", h.Name, h.Typeflag)
}
