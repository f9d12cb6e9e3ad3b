package main

import (
	"archive/tar"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"trapline/images/debian"
)

// A layout says where a file of a package belongs, "" if nowhere.
type layout func(name string) string

var layouts = map[string]layout{
	"library": func(name string) string {
		switch dir, base := path.Split(name); {
		case base == "libunicorn.so.2":
			return base
		case dir == "usr/share/doc/libunicorn2/" && base == "copyright":
			return base
		case dir == "usr/include/unicorn/":
			return "include/unicorn/" + base
		}
		return ""
	},
	"sysroot": func(name string) string {
		for _, dir := range []string{"lib/", "lib64/", "usr/lib/", "usr/include/"} {
			if strings.HasPrefix(name, dir) {
				return name
			}
		}
		return ""
	},
}

// unpack puts the files of a Debian package that keep wants into root.
func unpack(deb, root string, keep layout) error {
	f, err := os.Open(deb)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	files, err := debian.OpenPackage(f, st.Size())
	if err != nil {
		return err
	}
	defer files.Close()
	for {
		h, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if to := keep(path.Clean(h.Name)); to != "" {
			if err := put(filepath.Join(root, to), h, files); err != nil {
				return err
			}
		}
	}
}

// put writes one file. Links of a package that name a place by its path from the root stay within
// the tree.
func put(file string, h *tar.Header, data io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		to := h.Linkname
		if path.IsAbs(to) {
			up := strings.Repeat("../", strings.Count(path.Clean(h.Name), "/"))
			to = up + strings.TrimPrefix(to, "/")
		}
		return os.Symlink(to, file)
	case tar.TypeReg:
		content, err := io.ReadAll(data)
		if err != nil {
			return err
		}
		if filepath.Base(file) == "libunicorn.so.2" {
			if err := relax(content); err != nil {
				return err
			}
		}
		return os.WriteFile(file, content, 0o644)
	}
	return nil
}
