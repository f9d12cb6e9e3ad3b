package cli

import (
	"fmt"
	"os"

	"trapline/cmd/internal/guests"
	"trapline/images/initramfs"
	"trapline/kernel/guestos"
)

// openModules opens the files of --module.
func (g *guest) openModules() (err error) {
	if dir := g.options.moduleDir; dir != "" {
		if _, err := os.ReadDir(dir); err != nil {
			return fmt.Errorf("--module-dir: %w", err)
		}
	}
	g.modules, err = g.OpenModules(g.options.modules)
	return err
}

// openText opens what disas and inline look at: the kernel of an image, or the file of a module.
func (o *guestOptions) openText() (*guests.Kernel, error) {
	if _, is := guestos.ModuleFile(o.image); is {
		return guests.OpenText(o.image)
	}
	return o.openKernel(true)
}

// addModules puts the modules into the guest's root directory.
func (g *guest) addModules() error {
	if len(g.modules) == 0 {
		return nil
	}
	if g.origin.root.ID() == "" {
		return usagef("--module: %s has no root file system to put it in", g.Spec.Name)
	}
	var files []initramfs.File
	for _, m := range g.modules {
		files = append(files, initramfs.File{Path: m.Path, Contents: m.File})
	}
	g.origin.root = g.origin.root.With(files)
	return nil
}
