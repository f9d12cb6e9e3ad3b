package cli

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"trapline/images/initramfs"
	"trapline/kernel"
	"trapline/kernel/callsite"
	"trapline/kernel/debuginfo"
	"trapline/kernel/guestos"
	"trapline/kernel/source"
	"trapline/probes/copies"
	"trapline/probes/session"
)

// module is the file of a loadable module.
type module struct {
	image *kernel.Image
	path  string // in the guest, without the leading slash; "" for one that is not put there
	file  []byte // as it is put there
}

// openModules opens the files of --module. They must be for the guest's kernel.
func (g *guest) openModules() error {
	if dir := g.options.moduleDir; dir != "" {
		if _, err := os.ReadDir(dir); err != nil {
			return fmt.Errorf("--module-dir: %w", err)
		}
	}
	for _, path := range g.options.modules {
		file, err := kernel.ReadModule(path)
		if err != nil {
			return err
		}
		m := &module{file: slices.Clone(file)}
		if m.image, err = kernel.NewModule(file, path); err != nil {
			return err
		}
		if err := m.stub(); err != nil {
			return err
		}
		if err := g.fits(m.image); err != nil {
			return err
		}
		name, _ := guestos.ModuleFile(filepath.Base(path))
		m.path = name + guestos.Loadable
		if slices.ContainsFunc(g.modules, func(o *module) bool { return o.path == m.path || o.image.Module() == m.image.Module() }) {
			return fmt.Errorf("module %s is given twice", path)
		}
		g.modules = append(g.modules, m)
	}
	return nil
}

// openText opens what disas and inline look at: the kernel of an image, or the file of a module.
func (g *guest) openText() error {
	path := g.options.image
	if _, is := guestos.ModuleFile(path); !is {
		_, err := g.openImage(true)
		return err
	}
	var err error
	if g.image, err = kernel.OpenModule(path); err != nil {
		return err
	}
	g.spec.Name = path
	g.closers = append(g.closers, g.image)
	return nil
}

// fits says why the guest's kernel would not load a module.
func (g *guest) fits(m *kernel.Image) error {
	release, _, _ := strings.Cut(m.VersionMagic(), " ")
	switch a := g.arch(); {
	case a != nil && m.Arch() != a:
		return fmt.Errorf("module %s is for %s, the guest is %s", m.Name(), m.Arch(), a)
	case release != "" && g.spec.Release != "" && release != g.spec.Release:
		return fmt.Errorf("module %s is for %s %s, the guest is %[2]s %[4]s", m.Name(), g.title(), release, g.spec.Release)
	}
	return nil
}

// title is the guest's operating system, as people write it.
func (g *guest) title() string { return cmp.Or(g.system, guestos.Bare).Title }

// stub makes the calls of static probes no-operations in the file that the guest gets, which
// is the same whether it is traced or not.
func (m *module) stub() error {
	f, err := elf.NewFile(bytes.NewReader(m.file))
	if err == nil {
		_, err = callsite.Stub(f, m.file)
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", m.image.Name(), err)
	}
	return nil
}

// addModules puts the modules into the guest's root directory.
func (g *guest) addModules() error {
	if len(g.modules) == 0 {
		return nil
	}
	if g.root.ID() == "" {
		return usagef("--module: %s has no root file system to put it in", g.spec.Name)
	}
	var files []initramfs.File
	for _, m := range g.modules {
		files = append(files, initramfs.File{Path: m.path, Contents: m.file})
	}
	g.root = g.root.With(files)
	return nil
}

// traced is a module as a session needs it. Types that it only names are the kernel's.
func (m *module) traced(outer debuginfo.Named) (*session.Module, error) {
	sites, err := m.image.StaticProbes()
	types := debuginfo.NewModule(m.image, outer)
	index := sync.OnceValues(func() (*debuginfo.Index, error) { return debuginfo.OpenIndex(m.image, cacheDir(), nil) })
	return &session.Module{Image: m.image, Types: types, Static: sites, Debug: session.Debug{
		At: m.image,
		Functions: func() (*session.Functions, error) {
			x, err := index()
			if err != nil {
				return nil, err
			}
			f, err := copies.New(m.image)
			return &session.Functions{Index: x, Finder: f}, err
		},
		Locals: func() (session.Locals, error) {
			x, err := index()
			if err == nil && !debuginfo.HasDWARF(m.image) { // the index was kept
				err = debuginfo.ErrNoDebugInfo
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.image.Name(), err)
			}
			return debuginfo.NewLocals(m.image, x, types, m.image), nil
		},
		Source: func() (*copies.Source, error) {
			info, err := source.OpenLinked(m.image)
			if err != nil {
				return nil, err
			}
			return copies.NewSource(info, m.image.Symtab()), nil
		},
	}}, err
}

// sessionModules are the modules of --module.
func (g *guest) sessionModules(outer debuginfo.Named) (all []*session.Module, err error) {
	for _, m := range g.modules {
		traced, err := m.traced(outer)
		if err != nil {
			return nil, err
		}
		all = append(all, traced)
	}
	return all, nil
}

// moduleFinder looks for modules below the directory of --module-dir; nil without one.
func (g *guest) moduleFinder(outer debuginfo.Named) func(name string) (*session.Module, error) {
	if g.options.moduleDir == "" {
		return nil
	}
	return func(name string) (*session.Module, error) {
		path, err := findModule(g.options.moduleDir, name)
		if path == "" || err != nil {
			return nil, err
		}
		image, err := kernel.OpenModule(path)
		if err != nil {
			return nil, err
		}
		return (&module{image: image}).traced(outer)
	}
}

// findModule is the path of a module's file below a directory, "" if there is none. In the
// names of files a dash stands for an underscore.
func findModule(dir, name string) (found string, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		base, ok := guestos.ModuleFile(entry.Name())
		if ok && strings.ReplaceAll(base, "-", "_") == name {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("--module-dir: %w", err)
	}
	return found, nil
}
