package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"trapline/emu"
	"trapline/emu/boot"
	"trapline/images"
	"trapline/images/control"
	"trapline/kernel"
	"trapline/kernel/guestos"
)

// afterPanic is how long, in virtual nanoseconds, a guest may go on after it has logged
// its panic: long enough to say more, and to reset the machine if it wants to.
const afterPanic = 2e9

// A guest is an image on a machine, ready to run, and the conversation with its init.
type guest struct {
	options guestOptions
	spec    images.Spec
	image   *kernel.Image // symbols; nil without any
	os      guestos.OS
	machine *emu.Machine
	placed  *emu.Placed
	host    *control.Host

	log      consoleLog
	command  []byte // the frame that answers the guest's ready
	panicked bool
	timedOut atomic.Bool
	ioErr    error
	closers  []io.Closer
	stops    []func() bool
	start    time.Time
}

// guestConfig is what a command wants of a guest besides the user's options.
type guestConfig struct {
	console io.Writer // the kernel's log
	inPlace bool
	symbols bool // fail without symbols
}

// newGuest opens the image and puts it on a machine. The guest has not run yet.
func (e *env) newGuest(o guestOptions, c guestConfig) (*guest, error) {
	g := &guest{options: o, start: time.Now()}
	err := g.open(e, c)
	if err != nil {
		g.close()
		return nil, err
	}
	g.stops = append(g.stops, context.AfterFunc(e.ctx, g.machine.Stop))
	if o.timeout > 0 {
		t := time.AfterFunc(seconds(o.timeout), func() { g.timedOut.Store(true); g.machine.Stop() })
		g.stops = append(g.stops, t.Stop)
	}
	return g, nil
}

func (g *guest) open(e *env, c guestConfig) error {
	var err error
	if err = g.options.check(); err != nil {
		return err
	}
	if g.spec, err = (images.Store{}).Open(g.options.image); err != nil {
		return err
	}
	file, err := g.kernelFile()
	if err != nil {
		return err
	}
	if err = g.openSymbols(file, c.symbols); err != nil {
		return err
	}
	if err = g.makeMachine(c); err != nil {
		return err
	}
	if err = g.place(file); err != nil {
		return err
	}
	return g.converse(e)
}

// kernelFile is the kernel as it is booted.
func (g *guest) kernelFile() (boot.File, error) {
	if g.spec.KernelData != nil {
		return bytes.NewReader(g.spec.KernelData), nil
	}
	f, err := os.Open(g.spec.Kernel)
	if err != nil {
		return nil, fmt.Errorf("opening the kernel: %w", err)
	}
	g.closers = append(g.closers, f)
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening the kernel: %w", err)
	}
	return io.NewSectionReader(f, 0, info.Size()), nil
}

// openSymbols finds the ELF image with the kernel's symbols: a debug file, or the kernel.
func (g *guest) openSymbols(file boot.File, need bool) error {
	var err error
	debug := g.options.debugFile
	if debug == "" {
		debug = g.spec.DebugFile
	}
	kind, identify := boot.Identify(file)
	switch {
	case identify != nil:
		return fmt.Errorf("%s: %w", g.spec.Name, identify)
	case debug != "":
		g.image, err = kernel.Open(debug)
	case g.spec.KernelData != nil:
		g.image, err = kernel.New(file, file.Size(), g.spec.Name)
	case kind == boot.ELF:
		g.image, err = kernel.Open(g.spec.Kernel)
	case need:
		return fmt.Errorf("%s is a compressed kernel, without symbols: give its vmlinux with --debug-file", g.spec.Name)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	g.closers = append(g.closers, g.image)
	if g.os, err = guestos.Detect(g.image); err != nil {
		return fmt.Errorf("%s: %w", g.image.Name(), err)
	}
	if need {
		return g.image.Symtab().Err()
	}
	return nil
}

func (g *guest) makeMachine(c guestConfig) error {
	var err error
	memory := g.spec.Memory
	if g.options.memory != "" {
		if memory, err = parseSize(g.options.memory); err != nil {
			return &exit{statusUsage, fmt.Errorf("--memory: %w", err)}
		}
	}
	g.log = consoleLog{out: c.console, line: g.logLine}
	g.machine, err = emu.New(g.arch(), emu.Config{
		Memory: memory, Console: g.log.byte, Control: g.control, InPlace: c.inPlace,
	})
	return err
}

// place puts the kernel, its command line and its initrd into memory.
func (g *guest) place(file boot.File) error {
	initrd := g.spec.Initrd
	var err error
	if g.options.initrd != "" {
		if initrd, err = os.ReadFile(g.options.initrd); err != nil {
			return fmt.Errorf("reading the initrd: %w", err)
		}
	}
	line := g.spec.Append
	if g.options.cmdline != "" {
		line = join(line, g.options.cmdline)
	}
	g.placed, err = g.machine.Boot(emu.Boot{Kernel: file, CommandLine: line, Initrd: initrd})
	if err != nil {
		return fmt.Errorf("%s: %w", g.spec.Name, err)
	}
	if p := g.placed.Image; p != nil {
		g.machine.AvoidSlots(p.Virt, p.Virt+p.Size)
	}
	g.machine.SetLimit(emu.Never)
	if g.options.until > 0 {
		g.machine.SetLimit(uint64(g.options.until * 1e9))
	}
	return nil
}

// converse prepares what the guest's init is told, and what the console is fed.
func (g *guest) converse(e *env) error {
	if g.options.input != "" {
		input, err := os.ReadFile(g.options.input)
		if err != nil {
			return fmt.Errorf("reading the console's input: %w", err)
		}
		g.machine.Send(0, input)
	}
	command := g.options.command
	if command == "" {
		command = g.spec.Workload
	}
	if command == "" {
		return nil
	}
	var err error
	g.host, err = control.NewHost(command, e.stdout, e.stderr, g.ready)
	return err
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// control hears the guest's init.
func (g *guest) control(b byte) {
	if g.host == nil || g.ioErr != nil {
		return
	}
	if g.ioErr = g.host.Byte(b); g.ioErr != nil {
		g.machine.Stop()
	}
}

// ready stops the run: the guest waits for its command.
func (g *guest) ready(frame []byte) {
	g.command = frame
	g.machine.Stop()
}

// logLine hears the kernel's log.
func (g *guest) logLine(line string) {
	if !g.panicked && g.os != nil && g.os.PanicLine(line) {
		g.panicked = true
		g.machine.SetLimit(g.machine.Now() + afterPanic)
	}
}

// boot runs the guest until its init waits for a command. ready is false if the run has
// ended before that, as end says.
func (g *guest) boot() (ready bool, end ending, err error) {
	end, err = g.run()
	if err == nil && g.command != nil {
		g.machine.Flush()
		return true, end, nil
	}
	return false, end, err
}

// resume gives a waiting init its command and runs the guest to its end.
func (g *guest) resume() (ending, error) {
	if g.command != nil {
		g.machine.Send(1, g.command)
		g.command = nil
	}
	return g.run()
}

// run runs the machine and says what ended it.
func (g *guest) run() (ending, error) {
	end, err := g.machine.Run()
	if err = errors.Join(g.ioErr, g.log.err, err); err != nil {
		return endFailed, err
	}
	return g.classify(end), nil
}

func (g *guest) close() {
	for _, stop := range g.stops {
		stop()
	}
	if g.machine != nil {
		g.machine.Close()
	}
	for _, c := range g.closers {
		c.Close()
	}
}
