package cli

import (
	"errors"
	"fmt"
	"io"

	"trapline/emu"
	"trapline/kernel/arch"
)

// afterPanic is how long, in virtual nanoseconds, a guest may go on after it has logged
// its panic: long enough to say more, and to reset the machine if it wants to.
const afterPanic = 2e9

// console hears the guest's console.
func (g *guest) console(b byte) {
	g.heard()
	if g.init.command == nil && g.log.recording {
		g.log.said = append(g.log.said, b)
	}
	if !g.log.byte(b) {
		g.machine.Stop()
	}
}

// control hears the guest's init.
func (g *guest) control(b byte) {
	g.heard()
	if g.init.host == nil || g.init.err != nil {
		return
	}
	if g.init.err = g.init.host.Byte(b); g.init.err != nil {
		g.machine.Stop()
	}
}

// longestSilence is how long a guest may say nothing, in nanoseconds of its time: more than a day. One
// that only wakes up for its timer waits for something that does not come. A test makes it shorter.
var longestSilence uint64 = 100000e9

// heard takes note that the guest says something. Without a limit of the user's, silence is one.
func (g *guest) heard() {
	if g.options.until == 0 && !g.log.panicked && !g.init.sending {
		g.machine.SetLimit(g.machine.Now() + longestSilence)
	}
}

// ready stops the run: the guest waits for its command.
func (g *guest) ready(frame []byte) {
	g.init.command = frame
	if g.machine.Running() {
		g.machine.Stop()
	}
}

// logLine hears the kernel's log.
func (g *guest) logLine(line string) {
	if g.log.panicked || !g.panicLine(line) {
		return
	}
	g.log.panicked = true
	limit := g.machine.Now() + afterPanic
	if until := g.options.until; until > 0 {
		limit = min(limit, until.nanoseconds())
	}
	g.machine.SetLimit(limit)
}

func (g *guest) panicLine(line string) bool {
	return g.System != nil && g.System.PanicLine != nil && g.System.PanicLine(line)
}

// boot brings the guest to where its init waits for a command: from a snapshot, or by
// running it and taking one. ready is false if the run has ended before that, as end says.
// On a terminal it shows that it takes its time.
func (g *guest) boot(e *env) (ready bool, end ending, err error) {
	if err := g.look(); err != nil {
		return false, endFailed, err
	}
	if err := e.confine(&g.options); err != nil {
		return false, endFailed, err
	}
	if g.restore(e) {
		g.keepTranslations(e, g.origin.saved.key)
		return true, endStopped, nil
	}
	key := g.origin.saved.key
	if err := g.begin(e, key != ""); err != nil {
		return false, endFailed, err
	}
	defer g.wait(e)()
	g.log.recording = key != ""
	end, err = g.run()
	if err != nil || g.init.command == nil {
		return false, end, err
	}
	if key != "" {
		if err := g.save(e, key); err != nil {
			return false, endFailed, err
		}
	}
	g.machine.Flush()
	if key != "" {
		g.keepTranslations(e, key)
	}
	return true, end, nil
}

// begin places the guest for its boot. What a former boot has translated is used, unless the user
// wants nothing that was saved; and this one's is kept, unless it leaves a snapshot, from which the next
// ones go on.
func (g *guest) begin(e *env, leavesSnapshot bool) error {
	if err := e.confine(&g.options); err != nil {
		return err
	}
	if leavesSnapshot || g.options.noSnapshot {
		return g.place()
	}
	key, err := g.key()
	if err == nil {
		err = g.place()
	}
	if err == nil {
		g.keepTranslations(e, key+ofBoot)
	}
	return err
}

// resume gives a waiting init its command and runs the guest on.
func (g *guest) resume() (ending, error) {
	if g.halted() {
		g.init.command = nil
		return g.classify(emu.Stopped), nil
	}
	if g.init.command != nil {
		if err := g.interleave(); err != nil {
			return endFailed, err
		}
		command := g.init.command
		g.init.command = nil
		if end, err := g.sendCommand(command, g.Needs().Burst()); end != emu.Limit || err != nil {
			return g.ended(end, err)
		}
	}
	return g.run()
}

// burstPause is how long a guest has, in ns of its time, to take a burst from its serial line.
const burstPause = 2_000_000

// sendCommand sends init its command, in bursts where the guest takes no more at once. The end is
// emu.Limit unless the run has ended meanwhile.
func (g *guest) sendCommand(command []byte, burst int) (emu.End, error) {
	g.init.sending = true
	defer func() { g.init.sending = false; g.machine.SetLimit(g.until()) }()
	for burst > 0 && len(command) > burst {
		pause := g.machine.Now() + burstPause
		if pause >= g.until() {
			break
		}
		g.machine.Send(1, command[:burst])
		command = command[burst:]
		g.machine.SetLimit(pause)
		if end, err := g.machine.Run(); end != emu.Limit || err != nil {
			return end, err
		}
	}
	g.machine.Send(1, command)
	return emu.Limit, nil
}

// halted says that the guest is not to run any more.
func (g *guest) halted() bool { return g.limits.ctx.Err() != nil || g.limits.timedOut.Load() }

// run runs the machine and says what ended it.
func (g *guest) run() (ending, error) {
	g.heard()
	return g.ended(g.machine.Run())
}

// ended says what has ended a run of the machine.
func (g *guest) ended(end emu.End, err error) (ending, error) {
	switch {
	case g.init.err != nil:
		return endFailed, g.init.err
	case g.log.err != nil:
		return endFailed, g.log.err
	case err != nil:
		return endFailed, &exit{statusTriple, fmt.Errorf("the emulator failed %s: %w", g.at(), err)}
	}
	if err := g.checkTranslations(); err != nil {
		return endFailed, err
	}
	return g.classify(end), nil
}

// findSlide learns by how much a kernel has moved itself.
func (g *guest) findSlide() error {
	slide, known := g.OS.Slide(g.machine.Regs())
	if !known {
		return fmt.Errorf("cannot tell where the kernel runs: %s may not belong to it", g.Image.Name())
	}
	g.Image.SetSlide(slide)
	g.machine.AvoidSlots(g.Image.Symtab().Span())
	return nil
}

// runToSlide runs the guest until it is known by how much it has moved itself, to within a
// microsecond of its time.
func (g *guest) runToSlide() (found bool, end ending, err error) {
	const step = 1000
	var look func(arch.CPU)
	look = func(cpu arch.CPU) {
		if _, found = g.OS.Slide(cpu); found && g.decided() {
			g.machine.Stop()
			return
		}
		g.machine.OnTick(g.machine.Now()+step, look)
	}
	g.machine.OnTick(step, look)
	end, err = g.run()
	g.machine.OnTick(emu.Never, nil)
	return found, end, err
}

// approach runs the guest to where tracing starts: to its waiting for a command, or
// nowhere, if it has none or fromBoot, or as early as the place of a kernel that moves
// itself, and the functions that it chooses, are known. It reports whether probes have to be found again.
func (g *guest) approach(e *env, fromBoot bool) (moved bool, err error) {
	run, choice := func() (bool, ending, error) { return g.boot(e) }, g.undecided()
	if fromBoot || g.options.command == "" {
		if err := g.begin(e, false); err != nil || !g.origin.moves && !choice {
			return false, err
		}
		run = g.runToSlide
	}
	if ready, end, err := run(); err != nil || !ready {
		return false, g.unready(e, end, err)
	}
	if !g.decided() {
		return false, errors.New("the kernel has not chosen the function for which a name of a probe stands")
	}
	if !g.origin.moves {
		return choice, nil
	}
	return true, g.findSlide()
}

// undecided reports whether a function has been asked for that the kernel chooses when it boots.
func (g *guest) undecided() bool { return g.Image != nil && g.Image.Symtab().Undecided() }

// decided reports whether there is none left, and learns which the kernel has chosen.
func (g *guest) decided() bool {
	return !g.undecided() || g.Image.Symtab().Resolve(g.machine.ReadMem)
}

// unready says why tracing could not start.
func (g *guest) unready(e *env, end ending, err error) error {
	if done := g.finish(e, end); err == nil {
		err = done
	}
	if err == nil {
		err = g.trouble(end)
	}
	if err == nil {
		_, err = g.status(end)
	}
	if err == nil {
		err = fmt.Errorf("the guest ended (%s) before tracing could start", end)
	}
	return err
}

// follow runs the traced guest until it ends, the trace is over, or the user interrupts.
// One that is traced from its boot on waits for its command in between. On a terminal it shows
// that it takes its time.
func (g *guest) follow(e *env, over func() bool) (ending, error) {
	defer e.screen.busy(elapsed("tracing " + g.Spec.Name))()
	for !over() {
		end, err := g.resume()
		if err != nil || g.init.command == nil {
			return end, err
		}
		g.machine.Flush()
	}
	return endStopped, nil
}

// pass lets time go on for a guest that has switched itself off, unless the end of its command is that
// of the trace.
func (g *guest) pass() ending {
	if g.options.command != "" {
		return endPowerOff
	}
	return g.classify(g.machine.Pass())
}

// observed makes a guest that is looked at, not listened to: what its command writes goes nowhere. It
// runs the guest to where tracing starts. silent is the environment that it runs in.
func (e *env) observed(o guestOptions) (g *guest, silent *env, err error) {
	own := *e
	own.stdout = io.Discard
	log := io.Discard
	if o.console {
		log = e.stderr
	}
	if g, err = own.newGuest(o, guestConfig{console: log, symbols: true}); err != nil {
		return nil, nil, err
	}
	if _, err := g.approach(e, false); err != nil {
		g.close()
		return nil, nil, err
	}
	return g, &own, nil
}

// rest runs the guest to its end, or until over.
func (g *guest) rest(e *env, over func() bool) (ending, error) {
	end, err := g.follow(e, over)
	if done := g.finish(e, end); err == nil {
		err = done
	}
	return end, err
}
