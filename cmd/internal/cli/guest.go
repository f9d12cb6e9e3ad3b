package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"trapline/cmd/internal/guests"
	"trapline/emu"
	"trapline/images"
	"trapline/images/control"
)

// A guest is an image on a machine, ready to run, and the conversation with its init.
type guest struct {
	*guests.Kernel
	options guestOptions
	config  guestConfig
	limits  limits
	modules []*guests.Module
	machine *emu.Machine
	origin  origin
	init    conversation
	log     consoleLog
	turns   turns         // from the command on; a boot is always round robin
	watched uint64        // hits that are of no probe
	clock   atomic.Uint64 // a recent virtual time, for show
	atEnd   []func()      // while the machine is still there
	start   time.Time
}

// limits end a guest that would go on.
type limits struct {
	ctx      context.Context
	timedOut atomic.Bool
	stops    []func() bool
}

// An origin is what a guest starts from: a kernel that is placed in memory, or a snapshot.
type origin struct {
	placing emu.Boot // but for the initrd, which is
	root    images.Initrd
	saved   *saved // once looked for
	placed  bool   // what is to be booted is in memory, or a snapshot is
	moves   bool   // the kernel decides where it runs; known when it is placed
}

// A conversation is that with a guest's init.
type conversation struct {
	host    *control.Host // nil without one
	command []byte        // the frame that answers the guest's ready
	sending bool          // the command, of which there is more
	err     error         // the first of writing what the guest has sent
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
	g := &guest{options: o, config: c, limits: limits{ctx: e.ctx}, start: time.Now()}
	err := g.open(e, c)
	if err != nil {
		g.close()
		return nil, err
	}
	g.limits.stops = append(g.limits.stops, context.AfterFunc(e.ctx, g.machine.Stop))
	if o.timeout > 0 {
		t := time.AfterFunc(o.timeout.duration(), func() { g.limits.timedOut.Store(true); g.machine.Stop() })
		g.limits.stops = append(g.limits.stops, t.Stop)
	}
	return g, nil
}

// openKernel opens the image that the options name.
func (o *guestOptions) openKernel(symbols bool) (*guests.Kernel, error) {
	k, err := guests.OpenKernel(guests.Config{
		Image: o.image, DebugFile: o.debugFile, OSFile: o.osFile, Symbols: symbols || len(o.order.split) > 0,
	})
	return k, nearestImage(o.image, err)
}

func (g *guest) open(e *env, c guestConfig) error {
	var err error
	if g.Kernel, err = g.options.openKernel(c.symbols); err != nil {
		return err
	}
	if g.turns, err = g.options.order.turns(int(max(g.options.cpus, 1))); err != nil {
		return err
	}
	if l := g.options.order.listener; l != nil {
		l.attend(g)
	}
	if err := g.Outfit(g.options.command != "" && g.options.initrd == ""); err != nil {
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
	if err := g.choose(); err != nil {
		return err
	}
	if c.ahead {
		if err := g.look(); err != nil {
			return err
		}
	}
	return g.Detect()
}

// converse prepares what the guest's init gets to run: the user's command, or the image's own
// workload, whose output goes to own if that is not nil.
func (g *guest) converse(e *env, own io.Writer) error {
	command, stdout, stderr := string(g.options.command), e.stdout, e.stderr
	if command == "" {
		command = g.Spec.Workload
		if own != nil {
			stdout, stderr = own, own
		}
	}
	if command == "" {
		return nil
	}
	var err error
	if g.init.host, err = control.NewHost(command, stdout, stderr, g.ready); err != nil {
		return usagef("-c: %w", err)
	}
	return nil
}

func (g *guest) makeMachine(c guestConfig) error {
	memory := g.Spec.Memory
	if g.options.memory != 0 {
		memory = uint64(g.options.memory)
	}
	g.log = consoleLog{out: c.console, line: g.logLine}
	disks, err := g.openDisks()
	if err != nil {
		return err
	}
	g.machine, err = emu.New(g.Arch(), emu.Config{
		Memory: memory, Console: g.console, Control: g.control,
		InPlace: c.inPlace, Hooked: c.hooked, Shared: c.shared, Disks: disks, CPUs: int(g.options.cpus),
		IOAPIC:     g.Needs().IOAPIC(g.Arch().Name),
		NoFirmware: g.Spec.NoFirmware || g.options.firmware != "",
	})
	if err == nil && g.init.host == nil {
		return g.interleave()
	}
	return err
}

// choose says what is to be booted. It is placed when no snapshot of it can be had.
func (g *guest) choose() error {
	var err error
	if g.origin.root, err = g.initrd(); err == nil {
		err = g.addModules()
	}
	if err != nil {
		return err
	}
	g.origin.placing = emu.Boot{Kernel: g.File, CommandLine: join(g.Needs().AppendFor(g.machine.CPUs(), g.Spec.Append), g.options.cmdline)}
	if g.origin.placing.Firmware, err = g.options.firmware.load(); err != nil {
		return err
	}
	g.machine.SetLimit(g.until())
	return g.feed()
}

// until is the user's limit of the guest's time in nanoseconds, emu.Never if there is none.
func (g *guest) until() uint64 {
	if g.options.until == 0 {
		return emu.Never
	}
	return g.options.until.nanoseconds()
}

// place puts the kernel, its command line and its initrd into memory, unless something is there.
func (g *guest) place() error {
	if g.origin.placed {
		return nil
	}
	var err error
	if g.origin.placing.Initrd, err = g.origin.root.Data(); err != nil {
		return fmt.Errorf("%s: making the root file system: %w", g.Spec.Name, err)
	}
	placed, err := g.machine.Boot(g.origin.placing)
	if err != nil {
		return fmt.Errorf("%s: %w", g.Spec.Name, err)
	}
	g.origin.placed, g.origin.moves = true, placed.Image == nil
	return nil
}

func (g *guest) initrd() (images.Initrd, error) {
	if g.options.initrd == "" {
		return g.Spec.Initrd, nil
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
	for _, stop := range g.limits.stops {
		stop()
	}
	for _, f := range g.atEnd {
		f()
	}
	if g.machine != nil {
		g.machine.Close()
	}
	g.Kernel.Close()
}
