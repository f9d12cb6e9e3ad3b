// Package guests opens what a guest is made of, for the commands that run one or look at one: a kernel
// with its symbols and debug information, and its modules.
//
//	name or path --OpenKernel--> Kernel: Spec, File to boot, Image with symbols, System and OS
//	                               |--Debug--> functions, locals, lines
//	                               '--OpenModules--> Modules: what the guest gets, and what a session traces
//
// No machine is needed for any of it.
package guests

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"trapline/emu/boot"
	"trapline/images"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/debuginfo"
	"trapline/kernel/guestos"
	"trapline/probes/osfile"
)

// A Config says which kernel is wanted.
type Config struct {
	Image     string // a name of package images, or a path
	DebugFile string // of the user's, "" for none
	OSFile    string // D file that describes the kernel, "" for none
	Symbols   bool   // fail without symbols
}

// A Kernel is one that is opened. It must be closed.
type Kernel struct {
	Spec   images.Spec
	System *guestos.System // nil if it is not known
	File   boot.File       // as it is booted
	Image  *kernel.Image   // symbols; nil without any
	OS     guestos.OS      // nil without symbols, and before Detect

	debugFile   string
	osFile      string
	file        *os.File   // nil for an embedded one
	bare        *arch.Arch // of a kernel without symbols
	needSymbols bool
	index       *debuginfo.Index // once asked for
	closers     []io.Closer
}

// OpenKernel finds an image, its kernel and its symbols.
func OpenKernel(c Config) (*Kernel, error) {
	k := &Kernel{debugFile: c.DebugFile, osFile: c.OSFile}
	if err := k.open(c); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

func (k *Kernel) open(c Config) (err error) {
	if k.Spec, err = (images.Store{}).Open(c.Image); err != nil {
		return err
	}
	if k.File, err = k.kernelFile(); err != nil {
		return err
	}
	return k.openSymbols(k.File, c.Symbols || c.OSFile != "")
}

// OpenText opens a file that has text and symbols, and is not booted: that of a module.
func OpenText(path string) (*Kernel, error) {
	img, err := kernel.OpenModule(path)
	if err != nil {
		return nil, err
	}
	return &Kernel{Spec: images.Spec{Name: path}, Image: img, closers: []io.Closer{img}}, nil
}

// Close closes all files.
func (k *Kernel) Close() {
	if k == nil {
		return
	}
	for _, c := range k.closers {
		c.Close()
	}
}

// Keep closes something with the kernel.
func (k *Kernel) Keep(c io.Closer) { k.closers = append(k.closers, c) }

// Digest is the SHA-256 of the kernel's file.
func (k *Kernel) Digest() ([sha256.Size]byte, error) {
	if k.Spec.KernelData != nil {
		return sha256.Sum256(k.Spec.KernelData), nil
	}
	return images.Store{}.Digest(k.file)
}

// Types are the C types of the kernel. Indexes are kept beside the images.
func (k *Kernel) Types() *debuginfo.Types {
	return debuginfo.New(k.Image, CacheDir(), k.OS.System().ThreadTag)
}

// kernelFile is the kernel as it is booted.
func (k *Kernel) kernelFile() (boot.File, error) {
	if k.Spec.KernelData != nil {
		return bytes.NewReader(k.Spec.KernelData), nil
	}
	f, r, err := k.openFile(k.Spec.Kernel)
	if err != nil {
		return nil, openingKernel(k.Spec.Kernel, err)
	}
	k.file = f
	return plain(r, k.Spec.Kernel)
}

// plain is a kernel's file without the compression that builds and distributions put around it.
func plain(r *io.SectionReader, name string) (boot.File, error) {
	var head [8]byte
	if n, _ := r.ReadAt(head[:], 0); !kernel.Compressed(head[:n]) {
		return r, nil
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, openingKernel(name, err)
	}
	if data, err = kernel.Decompress(data); err != nil {
		return nil, fmt.Errorf("%s: decompressing the kernel: %w", name, err)
	}
	return bytes.NewReader(data), nil
}

// OpenFile opens a file that the guest needs as long as it runs.
func (k *Kernel) OpenFile(name string) (*io.SectionReader, error) {
	_, r, err := k.openFile(name)
	return r, err
}

func (k *Kernel) openFile(name string) (*os.File, *io.SectionReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	k.Keep(f)
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	return f, io.NewSectionReader(f, 0, info.Size()), nil
}

// openSymbols opens the image with the kernel's symbols.
func (k *Kernel) openSymbols(file boot.File, need bool) error {
	k.System = guestos.Named(k.Spec.OS)
	if !need && k.System != nil && k.Spec.KernelData == nil {
		return k.known(k.System)
	}
	kind, err := boot.Identify(file)
	if err != nil {
		return fmt.Errorf("%s: %w", k.Spec.Name, err)
	}
	if format := guestos.InFormat(kind.String()); format != nil {
		k.System = format
		machine, err := boot.Machine(file)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Spec.Name, err)
		}
		if k.bare, err = arch.ForELF(machine); err != nil {
			return fmt.Errorf("%s: %w", k.Spec.Name, err)
		}
	}
	switch k.Image, err = k.symbolImage(file, kind); {
	case err != nil:
		return err
	case k.Image == nil && need:
		return fmt.Errorf("%s is a compressed kernel, without symbols: give its %s with --debug-file", k.Spec.Name, k.System.Debug)
	case k.Image == nil:
		return nil
	}
	k.closers = append(k.closers, k.Image)
	k.needSymbols = need
	k.Image.Prefetch()
	return nil
}

// Detect finds out whose kernel it is, by its symbols. It is put off, for they take a while
// to read, to where it matters.
func (k *Kernel) Detect() error {
	if k.Image == nil || k.OS != nil {
		return nil
	}
	var err error
	if k.OS, err = guestos.Detect(k.Image, CacheDir()); err != nil {
		return fmt.Errorf("%s: %w", k.Image.Name(), err)
	}
	if err := k.describe(); err != nil {
		return err
	}
	if s := k.OS.System(); k.System == nil || s != guestos.Bare {
		k.System = s
	}
	if k.needSymbols {
		return k.Image.Symtab().Err()
	}
	return nil
}

// describe lets the user's file say what the kernel is.
func (k *Kernel) describe() error {
	if k.osFile == "" {
		return nil
	}
	text, err := os.ReadFile(k.osFile)
	if err != nil {
		return fmt.Errorf("--os: %w", err)
	}
	k.OS, err = osfile.New(osfile.Config{
		File: k.osFile, Text: text, Arch: k.Arch(), Symbols: k.Image.Symtab(), Types: k.Types(), Base: k.OS,
	})
	if err != nil {
		return fmt.Errorf("--os: %w", err)
	}
	return nil
}

// known does without the symbols of an image that is known to be of a system: to read and
// sort them would take a twentieth of a boot.
func (k *Kernel) known(s *guestos.System) error {
	k.System = s
	i := slices.IndexFunc(arch.All, func(a *arch.Arch) bool { return a.Name == k.Spec.Arch })
	if i < 0 {
		return fmt.Errorf("%s: no machine for %s guests", k.Spec.Name, k.Spec.Arch)
	}
	k.bare = arch.All[i]
	return nil
}

// symbolImage is the debug file, or the kernel itself, or nil if that is compressed.
func (k *Kernel) symbolImage(file boot.File, kind boot.Kind) (*kernel.Image, error) {
	switch {
	case k.debugFile != "":
		return k.debugImage(k.debugFile, kind)
	case k.Spec.DebugFile == k.Spec.Kernel && k.Spec.Kernel != "":
		return kernel.Open(k.Spec.Kernel)
	case k.Spec.DebugFile != "":
		return k.debugImage(k.Spec.DebugFile, kind)
	case k.Spec.KernelData != nil:
		return kernel.New(file, file.Size(), k.Spec.Name)
	case kind == boot.ELF:
		return kernel.Open(k.Spec.Kernel)
	}
	return nil, nil
}

// debugImage opens a debug file. It must have been built with the kernel, where both say so. It may
// lack text and data.
func (k *Kernel) debugImage(file string, kind boot.Kind) (*kernel.Image, error) {
	debug, err := kernel.Open(file)
	if err != nil || kind != boot.ELF || k.Spec.KernelData != nil {
		return debug, err
	}
	own, err := kernel.Open(k.Spec.Kernel)
	if err != nil {
		debug.Close()
		return nil, err
	}
	k.Keep(own)
	if err := debuginfo.SameBuild(own, debug); err != nil {
		debug.Close()
		return nil, fmt.Errorf("--debug-file %w", err)
	}
	debug.Join(own)
	return debug, nil
}

// Arch is the guest's architecture.
func (k *Kernel) Arch() *arch.Arch {
	if k.Image != nil {
		return k.Image.Arch()
	}
	return k.bare
}

// Needs are what all guests of its system need, nil if that is nothing.
func (k *Kernel) Needs() *images.Needs {
	if k.System == nil { // an image's is known without a look at its kernel
		return images.NeedsOf(k.Spec.OS)
	}
	return images.NeedsOf(k.System.Name)
}

// Outfit gives a kernel of the user's what every guest of its system needs here: words of the command line and, if it is
// to run init, a root file system.
func (k *Kernel) Outfit(init bool) error {
	if k.Spec.State != images.File {
		return nil
	}
	if err := k.Detect(); err != nil {
		return err
	}
	needs := k.Needs()
	if needs == nil {
		return nil
	}
	k.Spec.Append = needs.Append(k.Arch().Name)
	if !init {
		return nil
	}
	root, err := (images.Store{}).RootOf(k.System.Name, k.Arch().Name)
	k.Spec.Initrd, k.Spec.Disk = root.Initrd, root.Disk
	if errors.Is(err, images.ErrNotFetched) {
		return fmt.Errorf("-c needs trapline's init in the guest: give --initrd, or use the one of an image: %w", err)
	}
	return err
}

// openingKernel is the error of a kernel's file that cannot be opened. Distributions let only
// root read theirs.
func openingKernel(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("opening the kernel: %w: make a copy that you may read: sudo install -m 644 -t . %s", err, path)
	}
	return fmt.Errorf("opening the kernel: %w", err)
}
