package images

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	archive "trapline/images/debian"
)

// makeTree unpacks the kernel's source, prepares it with the image's configuration, and keeps what
// modules are built with.
func (b *built) makeTree(ctx context.Context, s Store, m manifest, image, tmp, debs, out string, p Progress) error {
	if err := b.needs(ctx); err != nil {
		return err
	}
	pkgs, err := b.sources(ctx, s, archive.Workplace{Tmp: tmp, Debs: debs, Parts: partsDir(tmp, m.Name)}, out, p)
	if err != nil {
		return err
	}
	if pkgs[0].Version != m.Version {
		return fmt.Errorf("the image is built from %s, Debian has %s by now: 'trapline image build --again %s'", m.Version, pkgs[0].Version, m.Name)
	}
	config, err := os.ReadFile(filepath.Join(image, fileConfig))
	if err == nil {
		err = os.WriteFile(filepath.Join(out, ".config"), config, 0o644)
	}
	if err != nil {
		return err
	}
	args, err := b.makeArgs()
	if err != nil {
		return err
	}
	if err := runMake(ctx, out, "preparing the kernel's source", p, append(args, jobs(), "olddefconfig", "modules_prepare")...); err != nil {
		return err
	}
	table, err := symvers(filepath.Join(image, fileVmlinux))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "Module.symvers"), table, 0o644); err != nil {
		return err
	}
	return prune(out, b.arch)
}

func (b *built) tree(_ manifest, dir string) (tree, error) {
	args, err := b.makeArgs()
	return tree{dir: dir, args: args}, err
}

// makeArgs are those of make on which what is compiled depends.
func (b *built) makeArgs() ([]string, error) {
	cc, err := b.compiler()
	if err != nil {
		return nil, err
	}
	return []string{
		"ARCH=" + b.arch, "CROSS_COMPILE=" + b.cross, "CC=" + cc,
		// Nothing of this host gets into the kernel.
		"KBUILD_BUILD_USER=trapline", "KBUILD_BUILD_HOST=trapline", "KBUILD_BUILD_VERSION=1",
		"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
	}, nil
}

// symvers is the table of the symbols that a kernel without CONFIG_MODVERSIONS has for modules
// (Linux, Documentation/kbuild/modules.rst, 6.1), from its symbol table.
func symvers(vmlinux string) ([]byte, error) {
	const prefix = "__ksymtab_"
	f, err := elf.Open(vmlinux)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", vmlinux, err)
	}
	kinds := map[string]string{"__ksymtab": "EXPORT_SYMBOL", "__ksymtab_gpl": "EXPORT_SYMBOL_GPL"}
	var lines []string
	for _, s := range symbols {
		name, ok := strings.CutPrefix(s.Name, prefix)
		if !ok || int(s.Section) >= len(f.Sections) {
			continue
		}
		if kind := kinds[f.Sections[s.Section].Name]; kind != "" {
			lines = append(lines, fmt.Sprintf("0x00000000\t%s\tvmlinux\t%s\t%s\n", name, kind, namespace(f, symbols, name)))
		}
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "")), nil
}

// namespace is the one that a symbol is exported into, mostly "".
func namespace(f *elf.File, symbols []elf.Symbol, name string) string {
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "__kstrtabns_"+name })
	if i < 0 || int(symbols[i].Section) >= len(f.Sections) {
		return ""
	}
	s := f.Sections[symbols[i].Section]
	var text [64]byte
	n, _ := s.ReadAt(text[:], int64(symbols[i].Value-s.Addr))
	value, _, _ := bytes.Cut(text[:n], []byte{0})
	return string(value)
}
