package images

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// freebsd says how an image is made of the sets of a FreeBSD release.
type freebsd struct {
	arch string
	init []byte // our init for that architecture
	disk bool   // the root file system is a disk, and no memory disk
}

var (
	//go:embed init/freebsd/init-amd64
	freebsdInitAMD64 []byte
	//go:embed init/freebsd/init-arm64
	freebsdInitARM64 []byte
	//go:embed init/freebsd/init-riscv64
	freebsdInitRISCV64 []byte
)

var (
	freebsdAMD64   = freebsdImage(freebsd{arch: "amd64", init: freebsdInitAMD64})
	freebsdARM64   = freebsdImage(freebsd{arch: "arm64", init: freebsdInitARM64, disk: true})
	freebsdRISCV64 = freebsdImage(freebsd{arch: "riscv64", init: freebsdInitRISCV64, disk: true})
)

func freebsdImage(f freebsd) image {
	return image{
		spec: Spec{
			Name:        "freebsd/" + f.arch,
			Arch:        f.arch,
			OS:          freebsdNeeds.OS,
			Description: "FreeBSD, from the sets of a release (--from DIR)",
			Append:      freebsdNeeds.Append(f.arch),
			Memory:      512 << 20,
			Workload:    "true",
		},
		origin: &f,
	}
}

// The files of such an image.
const (
	fileKernel      = "kernel"
	fileKernelDebug = "kernel.debug"
	fileRoot        = "root.img"
)

func (f *freebsd) verb() string { return "get" }

// recipe changes with our init, which is in the root file system.
func (f *freebsd) recipe(context.Context) (string, error) {
	return fmt.Sprintf("init %.16x", sha256.Sum256(f.init)), nil
}

func (f *freebsd) needs(context.Context) error {
	if _, err := exec.LookPath("makefs"); err != nil {
		return missingTools([]tool{{"makefs", "makefs"}})
	}
	return nil
}

func (f *freebsd) place(spec *Spec, dir string) {
	spec.Kernel = filepath.Join(dir, fileKernel)
	spec.DebugFile = filepath.Join(dir, fileKernelDebug)
	if f.disk {
		spec.Disk = filepath.Join(dir, fileRoot)
	}
}

// initrd is the memory disk.
func (f *freebsd) initrd(s Store, dir string) (Initrd, error) {
	if f.disk {
		return Initrd{}, nil
	}
	return s.fileInitrd(filepath.Join(dir, fileRoot), os.ReadFile)
}

func (f *freebsd) makeTree(context.Context, Store, manifest, string, string, string, string, Progress) error {
	return errNoTree
}

func (f *freebsd) tree(manifest, string) (tree, error) { return tree{}, errNoTree }

var errNoTree = errors.New("modules of FreeBSD are built with its own source, not here")

func (f *freebsd) make(ctx context.Context, s Store, tmp, name string, p Progress) error {
	if s.From == "" {
		return fmt.Errorf("download MANIFEST, kernel.txz, kernel-dbg.txz and base.txz of a release from %s, and say where they are: --from DIR", freebsdSite)
	}
	dirs, err := makeDirs(tmp, "image", "root")
	if err != nil {
		return err
	}
	out, root := dirs[0], dirs[1]
	m := manifest{Format: manifestFormat, Name: name}
	if m.Recipe, err = f.recipe(ctx); err != nil {
		return err
	}
	sets, err := readSets(ctx, s.From, p)
	if err != nil {
		return err
	}
	m.Packages = sets.packages
	for _, w := range []struct{ set, path, name string }{
		{setKernel, "boot/kernel/kernel", fileKernel},
		{setDebug, "usr/lib/debug/boot/kernel/kernel.debug", fileKernelDebug},
	} {
		file, err := sets.file(ctx, s, w.set, w.path, out, w.name, p)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, file)
	}
	if m.Release, err = freebsdRelease(filepath.Join(out, fileKernel)); err != nil {
		return err
	}
	m.Version = m.Release
	rootFile, err := f.makeRoot(ctx, s, sets, root, out, p)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, rootFile)
	return m.write(out)
}

// freebsdSite is where the project publishes its releases.
const freebsdSite = "https://download.freebsd.org/releases"

// freebsdBanner is what a kernel calls itself.
var freebsdBanner = regexp.MustCompile(`FreeBSD (\d+\.\d+-[A-Z]+[-\w.]*)`)

// freebsdRelease reads what the kernel calls its release.
func freebsdRelease(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSetFile))
	if err != nil {
		return "", err
	}
	m := freebsdBanner.FindSubmatch(data)
	if m == nil {
		return "", fmt.Errorf("the kernel in %s.txz is not FreeBSD's: it does not say which release it is", setKernel)
	}
	return string(m[1]), nil
}
