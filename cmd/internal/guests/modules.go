package guests

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"trapline/kernel"
	"trapline/kernel/callsite"
	"trapline/kernel/debuginfo"
	"trapline/kernel/guestos"
	"trapline/kernel/source"
	"trapline/probes/copies"
	"trapline/probes/modules"
)

// A Module is the file of a loadable module.
type Module struct {
	Image *kernel.Image
	Path  string // in the guest, without the leading slash; "" for one that is not put there
	File  []byte // as it is put there
}

// OpenModules opens the files of loadable modules. They must be for the guest's kernel.
func (k *Kernel) OpenModules(paths []string) (all []*Module, err error) {
	for _, path := range paths {
		file, err := kernel.ReadModule(path)
		if err != nil {
			return nil, err
		}
		m := &Module{File: slices.Clone(file)}
		if m.Image, err = kernel.NewModule(file, path); err != nil {
			return nil, err
		}
		if err := m.stub(); err != nil {
			return nil, err
		}
		if err := k.fits(m.Image); err != nil {
			return nil, err
		}
		name, _ := guestos.ModuleFile(filepath.Base(path))
		m.Path = name + guestos.Loadable
		if slices.ContainsFunc(all, func(o *Module) bool { return o.Path == m.Path || o.Image.Module() == m.Image.Module() }) {
			return nil, fmt.Errorf("module %s is given twice", path)
		}
		all = append(all, m)
	}
	return all, nil
}

// fits says why the guest's kernel would not load a module.
func (k *Kernel) fits(m *kernel.Image) error {
	release, _, _ := strings.Cut(m.VersionMagic(), " ")
	switch a := k.Arch(); {
	case a != nil && m.Arch() != a:
		return fmt.Errorf("module %s is for %s, the guest is %s", m.Name(), m.Arch(), a)
	case release != "" && k.Spec.Release != "" && release != k.Spec.Release:
		return fmt.Errorf("module %s is for %s %s, the guest is %[2]s %[4]s", m.Name(), k.title(), release, k.Spec.Release)
	}
	return nil
}

// title is the guest's operating system, as people write it.
func (k *Kernel) title() string { return cmp.Or(k.System, guestos.Bare).Title }

// stub makes the calls of static probes no-operations in the file that the guest gets, which
// is the same whether it is traced or not.
func (m *Module) stub() error {
	f, err := elf.NewFile(bytes.NewReader(m.File))
	if err == nil {
		_, err = callsite.Stub(f, m.File)
	}
	if err != nil {
		return fmt.Errorf("module %s: %w", m.Image.Name(), err)
	}
	return nil
}

// Traced is a module as a session needs it. Types that it only names are the kernel's.
func (m *Module) Traced(outer debuginfo.Named) (*modules.Module, error) {
	sites, err := m.Image.StaticProbes()
	types := debuginfo.NewModule(m.Image, outer)
	index := sync.OnceValues(func() (*debuginfo.Index, error) { return debuginfo.OpenIndex(m.Image, CacheDir(), nil) })
	return &modules.Module{Image: m.Image, Types: types, Static: sites, Debug: modules.Debug{
		At: m.Image,
		Functions: func() (*modules.Functions, error) {
			x, err := index()
			if err != nil {
				return nil, err
			}
			f, err := copies.New(m.Image)
			return &modules.Functions{Index: x, Finder: f}, err
		},
		Locals: func() (modules.Locals, error) {
			x, err := index()
			if err == nil && !debuginfo.HasDWARF(m.Image) { // the index was kept
				err = debuginfo.ErrNoDebugInfo
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Image.Name(), err)
			}
			return debuginfo.NewLocals(m.Image, x, types, m.Image), nil
		},
		Source: func() (*copies.Source, error) {
			info, err := source.OpenLinked(m.Image)
			if err != nil {
				return nil, err
			}
			return copies.NewSource(info, m.Image.Symtab()), nil
		},
	}}, err
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

// Traced are modules as a session needs them.
func Traced(modules []*Module, outer debuginfo.Named) (all []*modules.Module, err error) {
	for _, m := range modules {
		traced, err := m.Traced(outer)
		if err != nil {
			return nil, err
		}
		all = append(all, traced)
	}
	return all, nil
}

// Finder looks for modules below a directory; nil for "".
func Finder(dir string, outer debuginfo.Named) func(name string) (*modules.Module, error) {
	if dir == "" {
		return nil
	}
	return func(name string) (*modules.Module, error) {
		path, err := findModule(dir, name)
		if path == "" || err != nil {
			return nil, err
		}
		image, err := kernel.OpenModule(path)
		if err != nil {
			return nil, err
		}
		return (&Module{Image: image}).Traced(outer)
	}
}
