package images

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	archive "trapline/images/debian"
	"trapline/images/job"
)

// built is a Linux kernel and a busybox compiled here from Debian's sources, for an
// architecture that this Debian has no packages of.
type built struct {
	arch   string // as Linux's makefiles call it: "riscv"
	cross  string // what the names of the cross tools begin with: "riscv64-linux-gnu-"
	config string // options of the kernel on top of its tinyconfig
	init   []byte // our init for that architecture
}

// fileImage is the kernel as boot loaders take it.
const fileImage = "Image"

func (b *built) verb() string { return "build" }

func (b *built) place(spec *Spec, dir string) {
	spec.Kernel = filepath.Join(dir, fileVmlinux)
	spec.DebugFile = spec.Kernel
}

func (b *built) initrd(s Store, dir string) (Initrd, error) { return s.initrd(dir, b.init) }

// A tool is a program that a build calls, and the package that Debian has it in.
type tool struct{ name, pkg string }

// hostTools are those of every build.
var hostTools = []tool{
	{"bc", "bc"}, {"bison", "bison"}, {"bzip2", "bzip2"}, {"flex", "flex"},
	{"gcc", "gcc"}, {"make", "make"}, {"tar", "tar"}, {"xz", "xz-utils"},
}

// sourceTool unpacks a source package.
func sourceTool() tool {
	if archive.HasApt() {
		return tool{"dpkg-source", "dpkg-dev"}
	}
	return tool{"patch", "patch"}
}

// needs names everything that is missing, to be installed at once.
func (b *built) needs(ctx context.Context) error {
	var missing []tool
	need := func(there bool, t tool) {
		if !there {
			missing = append(missing, t)
		}
	}
	for _, t := range append([]tool{sourceTool()}, hostTools...) {
		_, err := exec.LookPath(t.name)
		need(err == nil, t)
	}
	target := strings.TrimSuffix(b.cross, "-")
	_, err := exec.LookPath(b.cross + "ld")
	need(err == nil, tool{b.cross + "ld", "binutils-" + target})
	libc := tool{"libc.a of " + b.cross + "gcc", b.libc()}
	if cc, err := b.compiler(); err != nil {
		need(false, tool{b.cross + "gcc", "gcc-12-" + target})
		need(false, libc)
	} else {
		out, _ := job.Run(ctx, "", cc, "-print-file-name=libc.a") // as it is, if it finds none
		need(filepath.IsAbs(strings.TrimSpace(out)), libc)
	}
	return missingTools(missing)
}

// missingTools is the error of tools that are not there.
func missingTools(missing []tool) error {
	var names, pkgs []string
	for _, t := range missing {
		names, pkgs = append(names, t.name), append(pkgs, t.pkg)
	}
	switch {
	case len(missing) == 0:
		return nil
	case archive.HasApt():
		return fmt.Errorf("packages are missing here: apt-get install %s", strings.Join(pkgs, " "))
	}
	return fmt.Errorf("programs are missing here: %s", strings.Join(names, ", "))
}

func (b *built) libc() string {
	cpu, _, _ := strings.Cut(b.cross, "-")
	return "libc6-dev-" + cpu + "-cross"
}

// compiler returns the cross compiler's name. The one with a version comes first:
// it is what the committed programs are built with.
func (b *built) compiler() (string, error) {
	for _, name := range []string{b.cross + "gcc-12", b.cross + "gcc"} {
		if _, err := exec.LookPath(name); err == nil {
			return name, nil
		}
	}
	return "", fmt.Errorf("%sgcc is not installed here", b.cross)
}

// recipe is the compiler with its version and a sum of the kernel's options.
func (b *built) recipe(ctx context.Context) (string, error) {
	cc, err := b.compiler()
	if err != nil {
		return "", err
	}
	out, err := job.Run(ctx, "", cc, "--version")
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(out, "\n")
	return fmt.Sprintf("%s; config %.16x", version, sha256.Sum256([]byte(b.config))), nil
}

func (b *built) make(ctx context.Context, s Store, tmp, name string, p Progress) error {
	dirs, err := makeDirs(tmp, "debs", "image", "linux", "busybox")
	if err != nil {
		return err
	}
	debs, out, linux, busybox := dirs[0], dirs[1], dirs[2], dirs[3]
	m := manifest{Format: manifestFormat, Name: name}
	if m.Recipe, err = b.recipe(ctx); err != nil {
		return err
	}
	w := archive.Workplace{Tmp: tmp, Debs: debs, Parts: partsDir(tmp, name)}
	if m.Packages, err = b.sources(ctx, s, w, linux, p); err != nil {
		return err
	}
	m.Version = m.Packages[0].Version
	pkg, err := s.fetcher().Source(ctx, w, busybox, busyboxSourcePackage, p)
	if err != nil {
		return err
	}
	m.Packages = append(m.Packages, pkg)
	if err := b.compileLinux(ctx, linux, p); err != nil {
		return err
	}
	if err := b.compileBusybox(ctx, filepath.Join(busybox, "source"), p); err != nil {
		return err
	}
	release, err := os.ReadFile(filepath.Join(linux, "include/config/kernel.release"))
	if err != nil {
		return err
	}
	m.Release = strings.TrimSpace(string(release))
	for _, f := range []struct{ path, name string }{
		{filepath.Join(linux, "vmlinux"), fileVmlinux},
		{filepath.Join(linux, "arch", b.arch, "boot/Image"), fileImage},
		{filepath.Join(linux, "System.map"), fileSystemMap},
		{filepath.Join(linux, ".config"), fileConfig},
		{filepath.Join(busybox, "source/busybox"), fileBusybox},
	} {
		stored, err := s.keep(ctx, f.path, out, f.name, p)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, stored)
	}
	return m.write(out)
}

// keep copies a file that was built into the image.
func (s Store) keep(ctx context.Context, path, dir, name string, p Progress) (StoredFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return StoredFile{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return StoredFile{}, err
	}
	return s.store(ctx, f, dir, name, st.Size(), p)
}

// compileLinux configures the kernel in dir and compiles it.
func (b *built) compileLinux(ctx context.Context, dir string, p Progress) error {
	args, err := b.makeArgs()
	if err != nil {
		return err
	}
	args = append(args, "KCFLAGS=-fdebug-prefix-map="+dir+"=.", "KAFLAGS=-fdebug-prefix-map="+dir+"=.")
	if err := runMake(ctx, dir, "configuring the kernel", p, append(args, "tinyconfig")...); err != nil {
		return err
	}
	if err := appendFile(filepath.Join(dir, ".config"), b.config); err != nil {
		return err
	}
	if err := runMake(ctx, dir, "configuring the kernel", p, append(args, "olddefconfig")...); err != nil {
		return err
	}
	if err := checkConfig(filepath.Join(dir, ".config"), b.config); err != nil {
		return err
	}
	return runMake(ctx, dir, "compiling the kernel", p, append(args, jobs(), "vmlinux", "Image")...)
}

// compileBusybox compiles what Debian's package busybox-static has in it.
func (b *built) compileBusybox(ctx context.Context, dir string, p Progress) error {
	cc, err := b.compiler()
	if err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(dir, "debian/config/pkg/static"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ".config"), config, 0o644); err != nil {
		return err
	}
	args := []string{
		"ARCH=" + b.arch, "CROSS_COMPILE=" + b.cross, "CC=" + cc,
		"KCONFIG_NOTIMESTAMP=1", "SOURCE_DATE_EPOCH=0",
	}
	// Options that this Debian's configuration does not know get their defaults.
	if err := runMake(ctx, dir, "configuring busybox", p, append(args, "oldconfig")...); err != nil {
		return err
	}
	return runMake(ctx, dir, "compiling busybox", p, append(args, jobs(), "busybox")...)
}

func jobs() string { return fmt.Sprintf("-j%d", runtime.NumCPU()) }

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// checkConfig compares what was asked for with the configuration that came of it:
// an option that has been renamed is dropped without a word.
func checkConfig(path, want string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var missing []string
	for group := range strings.SplitSeq(want, "\n\n") {
		missing = append(missing, missingOptions(group, strings.Split(string(text), "\n"))...)
	}
	if len(missing) > 0 {
		return fmt.Errorf("this Linux does not take the options %s", strings.Join(missing, ", "))
	}
	return nil
}

// missingOptions returns the options of a group that a configuration does not have. Releases of Linux have
// other names for some: lines that begin with "# or" part what is the same, of which one is enough, and what
// the first lacks is returned.
func missingOptions(group string, have []string) (missing []string) {
	for i, same := range orLine.Split(group, -1) {
		var lacks []string
		for line := range strings.Lines(same) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "CONFIG_") && !slices.Contains(have, line) {
				lacks = append(lacks, line)
			}
		}
		if len(lacks) == 0 {
			return nil
		}
		if i == 0 {
			missing = lacks
		}
	}
	return missing
}

var orLine = regexp.MustCompile(`(?m)^# or\b.*$`)

// runMake runs make, which says a line for each step.
func runMake(ctx context.Context, dir, what string, p Progress, args ...string) error {
	runtime.LockOSThread() // see job.Run
	defer runtime.UnlockOSThread()
	p.Start(what, -1)
	defer p.Done()
	var stderr strings.Builder
	cmd := job.Command(ctx, dir, "make", args...)
	cmd.Env = append(cmd.Env, "MAKEFLAGS=", "MAKELEVEL=")
	cmd.Stdout, cmd.Stderr = stepCounter{p}, &stderr
	err := job.Wrap(ctx, "make", stderr.String(), cmd.Run())
	if e, ok := err.(*job.Error); ok {
		return fmt.Errorf("%s: make: %s", what, errorLine(stderr.String(), e.Err.Error()))
	}
	return err
}

// A stepCounter counts lines.
type stepCounter struct{ p Progress }

func (c stepCounter) Write(data []byte) (int, error) {
	c.p.Add(int64(strings.Count(string(data), "\n")))
	return len(data), nil
}

// errorLine finds the line that says why, among warnings before it and what make
// has to say behind it.
func errorLine(text, otherwise string) string {
	for _, mark := range []string{"No space left on device", "error: ", "rror:", ": not found", "*** "} {
		for line := range strings.Lines(text) {
			if strings.Contains(line, mark) {
				return strings.TrimSpace(line)
			}
		}
	}
	return otherwise
}
