package cli

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"trapline/cmd/internal/guests"
	"trapline/cmd/internal/sandbox"
	"trapline/kernel/debuginfo"
	"trapline/probes/front"
)

// A confinement is what a process may still do once a guest is to run in it. It is decided before:
// commands add what they need, and the guest enters the sandbox.
type confinement struct {
	sandbox.Policy
	entered bool
}

// allow adds to what the process may do while a guest runs. It is called before that.
func (e *env) allow(p sandbox.Policy) {
	if e.confined != nil {
		e.confined.Add(p)
	}
}

// confine puts the process into its sandbox, once: the next thing is a guest that runs. A process
// that is not trapline's own has none.
func (e *env) confine(o *guestOptions) error {
	c := e.confined
	if c == nil || c.entered || o.sandbox == sandboxOff {
		return nil
	}
	c.entered = true
	e.secret.key() // it is out of reach from here on
	in, err := sandbox.Enter(c.Policy)
	if o.sandbox == sandboxRequire && !in.Whole() {
		return fmt.Errorf("--sandbox=require: %w", err)
	}
	return nil
}

// A sandboxing is when a guest's process is put into a sandbox.
type sandboxing string

const (
	sandboxAuto    sandboxing = "auto"    // as far as the host can
	sandboxOff     sandboxing = "off"     // never
	sandboxRequire sandboxing = "require" // wholly, or the guest does not run
)

func (s *sandboxing) String() string { return string(*s) }
func (s *sandboxing) Type() string   { return "when" }

func (s *sandboxing) Set(text string) error {
	switch w := sandboxing(text); w {
	case sandboxAuto, sandboxOff, sandboxRequire:
		*s = w
		return nil
	}
	return usagef("--sandbox %q: it must be auto, off or require", text)
}

func (o *guestOptions) sandboxFlag(f *pflag.FlagSet) {
	o.sandbox = sandboxAuto
	f.Var(&o.sandbox, "sandbox", "give up the rights that running a guest does not need, `HOW`: auto, as far as the host can; require, or fail; off")
}

// policy is what running a guest with these options needs.
func (o *guestOptions) policy() sandbox.Policy {
	p := sandbox.Policy{Read: []string{debuginfo.Root, o.image, o.debugFile, o.initrd, o.input, o.moduleDir}}
	p.Read = append(append(p.Read, o.disks...), o.modules...)
	p.Read = append(append(p.Read, linkedDebug(o.image)...), linkedDebug(o.debugFile)...)
	if exe, err := os.Executable(); err == nil { // snapshots are of this build of it
		p.Read = append(p.Read, exe)
	}
	if file, ok := strings.CutPrefix(o.order.order, "replay:@"); ok {
		p.Read = append(p.Read, file)
	}
	if o.order.record != "" {
		p.Files = []string{o.order.record}
	}
	if dir := guests.CacheDir(); dir != "" && os.MkdirAll(dir, 0o755) == nil {
		p.Write = append(links(dir), dir)
		p.Read = append(p.Read, links(filepath.Join(dir, "images"))...)
	}
	return p
}

// links are the symbolic links in a directory: what is behind them is not below it. Images may be
// shared that way.
func links(dir string) (names []string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if e.Type() == os.ModeSymlink {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}

// linkedDebug are the files beside an ELF file to which its debug information may have been moved.
func linkedDebug(path string) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	s := f.Section(".gnu_debuglink")
	if s == nil {
		return nil
	}
	data, err := s.Data()
	name, _, _ := strings.Cut(string(data), "\x00")
	if err != nil || name == "" {
		return nil
	}
	dir, name := filepath.Dir(path), filepath.Base(name)
	return []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
}

// policy is what tracing needs besides its guest. The preprocessor runs before the guest does, and again where the
// kernel moves itself or there are two guests.
func (t *tracing) policy() sandbox.Policy {
	p := sandbox.Policy{Read: slices.Clone(t.options.LibDirs), Children: t.options.Cpp.On}
	for _, s := range t.sources {
		p.Read = append(p.Read, s.File)
	}
	return p
}

// hostPolicy is what the actions of a program need. A name that is known only when it is used is one
// below the directory that it begins with.
func hostPolicy(e front.Effects) sandbox.Policy {
	p := sandbox.Policy{Children: e.System}
	for _, format := range e.Reopens {
		known, _, varies := strings.Cut(format, "%")
		if varies {
			p.Write = append(p.Write, filepath.Dir(known+"_"))
			continue
		}
		p.Files = append(p.Files, format)
	}
	return p
}
