package images

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// unpack takes the files that w wants out of a .deb file and writes them into dir.
// The package may hold gigabytes: they stream through, and once the wanted files
// are there the rest is not unpacked at all.
func (s Store) unpack(ctx context.Context, deb, dir string, w want, p Progress) ([]StoredFile, error) {
	runtime.LockOSThread() // see run
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var stderr strings.Builder
	cmd := command(ctx, "", "dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, wrapCommand(ctx, "dpkg-deb", "", err)
	}
	files, err := s.extract(ctx, stdout, dir, w, p)
	if err == nil {
		cancel() // it may still be at it
		cmd.Wait()
		return files, nil
	}
	// A stream that ends too early is dpkg-deb's error rather than tar's.
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errNotThere) {
		if werr := cmd.Wait(); werr != nil {
			err = wrapCommand(ctx, "dpkg-deb", stderr.String(), werr)
		}
		return nil, err
	}
	cancel()
	cmd.Wait()
	return nil, err
}

// errNotThere is for a package that lacks a file.
var errNotThere = errors.New("is not in the package")

// extract reads a tar stream up to the last of the wanted files.
func (s Store) extract(ctx context.Context, r io.Reader, dir string, w want, p Progress) ([]StoredFile, error) {
	missing := map[string]bool{}
	for _, name := range w.files {
		missing[name] = true
	}
	var files []StoredFile
	tr := tar.NewReader(r)
	for len(missing) > 0 {
		hdr, err := tr.Next()
		if err == io.EOF {
			return nil, fmt.Errorf("%s %w %s", firstKey(missing), errNotThere, w.pkg)
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking %s: %w", w.pkg, err)
		}
		name, ok := w.files[path.Clean(hdr.Name)]
		if !ok || hdr.Typeflag != tar.TypeReg || !missing[name] {
			continue
		}
		delete(missing, name)
		f, err := s.store(ctx, tr, dir, name, hdr.Size, p)
		if err != nil {
			return nil, fmt.Errorf("unpacking %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// store writes one file of the image.
func (s Store) store(ctx context.Context, r io.Reader, dir, name string, size int64, p Progress) (StoredFile, error) {
	p.Start("unpacking "+name, size)
	defer p.Done()
	out, err := s.createFile(filepath.Join(dir, name))
	if err != nil {
		return StoredFile{}, err
	}
	hash := sha256.New()
	err = copyCounted(ctx, io.MultiWriter(out, hash), r, p)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return StoredFile{name, size, hex.EncodeToString(hash.Sum(nil))}, err
}

func firstKey(m map[string]bool) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys[0]
}
