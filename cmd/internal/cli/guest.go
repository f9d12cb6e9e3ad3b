package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"trapline/emu"
	"trapline/emu/boot"
	"trapline/images"
	"trapline/images/control"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/debuginfo"
	"trapline/kernel/guestos"
)

// A guest is an image on a machine, ready to run, and the conversation with its init.
type guest struct {
	ctx         context.Context
	options     guestOptions
	spec        images.Spec
	system      *guestos.System  // nil if it is not known
	bare        *arch.Arch       // of a kernel without symbols
	image       *kernel.Image    // symbols; nil without any
	os          guestos.OS       // nil without symbols
	funcs       *debuginfo.Index // once asked for
	needSymbols bool
	kernel      *os.File // nil for an embedded one
	modules     []*module
	watched     uint64 // hits that are of no probe
	machine     *emu.Machine
	placing     emu.Boot // but for the initrd, which is
	root        images.Initrd
	saved       *saved // once looked for
	placed      bool   // what is to be booted is in memory, or a snapshot is
	moves       bool   // the kernel decides where it runs; known when it is placed
	host        *control.Host

	turns     turns // from the command on; a boot is always round robin
	log       consoleLog
	command   []byte // the frame that answers the guest's ready
	said      []byte // on the console, up to then, if recording
	recording bool
	panicked  bool
	timedOut  atomic.Bool
	clock     atomic.Uint64 // a recent virtual time, for show
	ioErr     error
	closers   []io.Closer
	stops     []func() bool
	kept      string   // guestConfig's, as are
	verbose   bool     // this
	mustSave  bool     // and this
	atEnd     []func() // while the machine is still there
	start     time.Time
}

// guestConfig is what a command wants of a guest besides the user's options.
type guestConfig struct {
	console io.Writer // the kernel's log
	own     io.Writer // what the image's own workload writes, if it runs that; nil means as a command does
	inPlace bool
	hooked  bool   // probes fire by the emulator's code hook
	shared  bool   // breakpoints share trampolines, which the guest sees
	symbols bool   // fail without symbols
	ahead   bool   // it will go on from a snapshot, if there is one
	kept    string // the option translations; "" is "keep"
	verbose bool   // tell of what is in the cache and not used

	mustSave bool // fail if no snapshot can be saved
}

// newGuest opens the image and puts it on a machine. The guest has not run yet.
func (e *env) newGuest(o guestOptions, c guestConfig) (*guest, error) {
	e.allow(o.policy())
	g := &guest{ctx: e.ctx, options: o, kept: c.kept, verbose: c.verbose, mustSave: c.mustSave, start: time.Now()}
	err := g.open(e, c)
	if err != nil {
		g.close()
		return nil, err
	}
	g.stops = append(g.stops, context.AfterFunc(e.ctx, g.machine.Stop))
	if o.timeout > 0 {
		t := time.AfterFunc(o.timeout.duration(), func() { g.timedOut.Store(true); g.machine.Stop() })
		g.stops = append(g.stops, t.Stop)
	}
	return g, nil
}

func (g *guest) open(e *env, c guestConfig) error {
	file, err := g.openImage(c.symbols)
	if err != nil {
		return err
	}
	if g.turns, err = g.options.order.turns(int(max(g.options.cpus, 1))); err != nil {
		return err
	}
	if l := g.options.order.listener; l != nil {
		l.attend(g)
	}
	if err := g.outfit(); err != nil {
		return err
	}
	if err := g.openModules(); err != nil {
		return err
	}
	if err := g.converse(e, c.own); err != nil {
		return err
	}
	if err := g.makeMachine(c); err != nil {
		return err
	}
	if err := g.choose(file); err != nil {
		return err
	}
	if c.ahead {
		if err := g.look(); err != nil {
			return err
		}
	}
	return g.detect()
}

// openImage finds the image, its kernel and its symbols. No machine is needed for that.
func (g *guest) openImage(symbols bool) (boot.File, error) {
	var err error
	if g.spec, err = (images.Store{}).Open(g.options.image); err != nil {
		return nil, nearestImage(g.options.image, err)
	}
	file, err := g.kernelFile()
	if err != nil {
		return nil, err
	}
	return file, g.openSymbols(file, symbols || len(g.options.order.split) > 0)
}

// kernelFile is the kernel as it is booted.
func (g *guest) kernelFile() (boot.File, error) {
	if g.spec.KernelData != nil {
		return bytes.NewReader(g.spec.KernelData), nil
	}
	f, err := g.openFile(g.spec.Kernel)
	if err != nil {
		return nil, openingKernel(g.spec.Kernel, err)
	}
	return f, nil
}

// openFile opens a file that the guest needs as long as it runs.
func (g *guest) openFile(name string) (*io.SectionReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, f)
	g.kernel = f
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f, 0, info.Size()), nil
}

// openSymbols opens the image with the kernel's symbols.
func (g *guest) openSymbols(file boot.File, need bool) error {
	if s := guestos.Named(g.spec.OS); !need && s != nil && g.spec.KernelData == nil {
		return g.known(s)
	}
	kind, err := boot.Identify(file)
	if err != nil {
		return fmt.Errorf("%s: %w", g.spec.Name, err)
	}
	if g.system = guestos.InFormat(kind.String()); g.system != nil {
		machine, err := boot.Machine(file)
		if err != nil {
			return fmt.Errorf("%s: %w", g.spec.Name, err)
		}
		if g.bare, err = arch.ForELF(machine); err != nil {
			return fmt.Errorf("%s: %w", g.spec.Name, err)
		}
	}
	switch g.image, err = g.symbolImage(file, kind); {
	case err != nil:
		return err
	case g.image == nil && need:
		return fmt.Errorf("%s is a compressed kernel, without symbols: give its %s with --debug-file", g.spec.Name, g.system.Debug)
	case g.image == nil:
		return nil
	}
	g.closers = append(g.closers, g.image)
	g.needSymbols = need
	g.image.Prefetch()
	return nil
}

// detect finds out whose kernel it is, by its symbols. It is put off, for they take a while
// to read, to where it matters.
func (g *guest) detect() error {
	if g.image == nil || g.os != nil {
		return nil
	}
	var err error
	if g.os, err = guestos.Detect(g.image, cacheDir()); err != nil {
		return fmt.Errorf("%s: %w", g.image.Name(), err)
	}
	if s := g.os.System(); g.system == nil || s != guestos.Bare {
		g.system = s
	}
	if g.needSymbols {
		return g.image.Symtab().Err()
	}
	return nil
}

// known does without the symbols of an image that is known to be of a system: to read and
// sort them would take a twentieth of a boot.
func (g *guest) known(s *guestos.System) error {
	g.system = s
	i := slices.IndexFunc(arch.All, func(a *arch.Arch) bool { return a.Name == g.spec.Arch })
	if i < 0 {
		return fmt.Errorf("%s: no machine for %s guests", g.spec.Name, g.spec.Arch)
	}
	g.bare = arch.All[i]
	return nil
}

// symbolImage is the debug file, or the kernel itself, or nil if that is compressed.
func (g *guest) symbolImage(file boot.File, kind boot.Kind) (*kernel.Image, error) {
	switch {
	case g.options.debugFile != "":
		return g.debugImage(kind)
	case g.spec.DebugFile != "":
		return kernel.Open(g.spec.DebugFile)
	case g.spec.KernelData != nil:
		return kernel.New(file, file.Size(), g.spec.Name)
	case kind == boot.ELF:
		return kernel.Open(g.spec.Kernel)
	}
	return nil, nil
}

// debugImage opens the user's debug file. It must have been built with the kernel, where
// both say so.
func (g *guest) debugImage(kind boot.Kind) (*kernel.Image, error) {
	debug, err := kernel.Open(g.options.debugFile)
	if err != nil || kind != boot.ELF || g.spec.KernelData != nil {
		return debug, err
	}
	own, err := kernel.Open(g.spec.Kernel)
	if err != nil {
		debug.Close()
		return nil, err
	}
	defer own.Close()
	if err := debuginfo.SameBuild(own, debug); err != nil {
		debug.Close()
		return nil, fmt.Errorf("--debug-file %w", err)
	}
	return debug, nil
}

// arch is the guest's architecture.
func (g *guest) arch() *arch.Arch {
	if g.image != nil {
		return g.image.Arch()
	}
	return g.bare
}

// outfit gives a kernel of the user's what every guest of its system needs here.
func (g *guest) outfit() error {
	if g.spec.State != images.File {
		return nil
	}
	if err := g.detect(); err != nil {
		return err
	}
	needs := g.needs()
	if needs == nil {
		return nil
	}
	g.spec.Append = needs.Append(g.arch().Name)
	if g.options.command == "" || g.options.initrd != "" {
		return nil
	}
	var err error
	g.spec.Initrd, err = (images.Store{}).InitrdOf(g.system.Name, g.arch().Name)
	if errors.Is(err, images.ErrNotFetched) {
		return fmt.Errorf("-c needs trapline's init in the guest: give --initrd, or use the one of an image: %w", err)
	}
	return err
}

// needs are what all guests of its system need, nil if that is nothing.
func (g *guest) needs() *images.Needs {
	if g.system == nil {
		return nil
	}
	return images.NeedsOf(g.system.Name)
}

// converse prepares what the guest's init gets to run: the user's command, or the image's own
// workload, whose output goes to own if that is not nil.
func (g *guest) converse(e *env, own io.Writer) error {
	command, stdout, stderr := string(g.options.command), e.stdout, e.stderr
	if command == "" {
		command = g.spec.Workload
		if own != nil {
			stdout, stderr = own, own
		}
	}
	if command == "" {
		return nil
	}
	var err error
	if g.host, err = control.NewHost(command, stdout, stderr, g.ready); err != nil {
		return usagef("-c: %w", err)
	}
	return nil
}

func (g *guest) makeMachine(c guestConfig) error {
	memory := g.spec.Memory
	if g.options.memory != 0 {
		memory = uint64(g.options.memory)
	}
	g.log = consoleLog{out: c.console, line: g.logLine}
	disks, err := g.openDisks()
	if err != nil {
		return err
	}
	g.machine, err = emu.New(g.arch(), emu.Config{
		Memory: memory, Console: g.console, Control: g.control,
		InPlace: c.inPlace, Hooked: c.hooked, Shared: c.shared, Disks: disks, CPUs: int(g.options.cpus),
		NoFirmware: g.spec.NoFirmware || g.options.firmware == "none",
	})
	if err == nil && g.host == nil {
		return g.interleave()
	}
	return err
}

// choose says what is to be booted. It is placed when no snapshot of it can be had.
func (g *guest) choose(file boot.File) error {
	var err error
	if g.root, err = g.initrd(); err == nil {
		err = g.addModules()
	}
	if err != nil {
		return err
	}
	g.placing = emu.Boot{Kernel: file, CommandLine: join(g.needs().AppendFor(g.machine.CPUs(), g.spec.Append), g.options.cmdline)}
	g.machine.SetLimit(emu.Never)
	if g.options.until > 0 {
		g.machine.SetLimit(g.options.until.nanoseconds())
	}
	return g.feed()
}

// place puts the kernel, its command line and its initrd into memory, unless something is there.
func (g *guest) place() error {
	if g.placed {
		return nil
	}
	var err error
	if g.placing.Initrd, err = g.root.Data(); err != nil {
		return fmt.Errorf("%s: making the root file system: %w", g.spec.Name, err)
	}
	placed, err := g.machine.Boot(g.placing)
	if err != nil {
		return fmt.Errorf("%s: %w", g.spec.Name, err)
	}
	g.placed, g.moves = true, placed.Image == nil
	return nil
}

func (g *guest) initrd() (images.Initrd, error) {
	if g.options.initrd == "" {
		return g.spec.Initrd, nil
	}
	data, err := os.ReadFile(g.options.initrd)
	if err != nil {
		return images.Initrd{}, fmt.Errorf("reading the initrd: %w", err)
	}
	return images.NewInitrd(data), nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// feed gives the console its input.
func (g *guest) feed() error {
	if g.options.input == "" {
		return nil
	}
	input, err := os.ReadFile(g.options.input)
	if err != nil {
		return fmt.Errorf("reading the console's input: %w", err)
	}
	g.machine.Send(0, input)
	return nil
}

func (g *guest) close() {
	for _, stop := range g.stops {
		stop()
	}
	for _, f := range g.atEnd {
		f()
	}
	if g.machine != nil {
		g.machine.Close()
	}
	for _, c := range g.closers {
		c.Close()
	}
}
