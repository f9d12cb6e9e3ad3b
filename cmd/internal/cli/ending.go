package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"trapline/emu"
)

// ending says how a guest's run ended, in the words of --stats.
type ending string

const (
	endPowerOff    ending = "poweroff"
	endReboot      ending = "reboot"
	endPanic       ending = "panic"
	endTriple      ending = "triple-fault"
	endHang        ending = "hang"
	endLimit       ending = "limit"
	endInterrupted ending = "interrupted"
	endStopped     ending = "stopped" // by the tracer: exit()
	endFailed      ending = "error"
)

// classify returns the ending for the machine's end. A guest that has panicked may then halt, hang or
// reset the machine; the ending is endPanic all the same.
func (g *guest) classify(end emu.End) ending {
	switch {
	case end == emu.Stopped && g.limits.ctx.Err() != nil:
		return endInterrupted
	case end == emu.Stopped && g.limits.timedOut.Load():
		return endLimit
	case end == emu.Stopped:
		return endStopped
	case g.log.panicked:
		return endPanic
	}
	switch end {
	case emu.Halt, emu.PowerOff:
		return endPowerOff
	case emu.Reset:
		return endReboot
	case emu.Hang:
		return endHang
	case emu.Triple:
		return endTriple
	case emu.Limit:
		if g.options.until == 0 {
			return endHang
		}
		return endLimit
	}
	return endFailed
}

// at returns the guest's time in words.
func (g *guest) at() string {
	return fmt.Sprintf("at %.6f s of its time", float64(g.machine.Now())/1e9)
}

// trouble returns the error for an ending that is not a normal one, nil otherwise.
func (g *guest) trouble(end ending) error {
	switch end {
	case endPanic:
		return &exit{statusPanic, fmt.Errorf("the guest's kernel panicked %s%s", g.at(), g.hint())}
	case endTriple:
		return &exit{statusTriple, fmt.Errorf("the guest triple-faulted %s", g.at())}
	case endHang:
		if g.options.until == 0 && g.machine.Now() >= longestSilence {
			return &exit{statusHang, fmt.Errorf("the guest hangs %s: it has said nothing for %d s and only waits; --until lets it", g.at(), longestSilence/1e9)}
		}
		return &exit{statusHang, fmt.Errorf("the guest hangs %s: it waits, and no interrupt can come", g.at())}
	case endLimit:
		return &exit{statusLimit, fmt.Errorf("the guest was stopped %s: limit reached", g.at())}
	case endInterrupted:
		return &exit{status: statusSignal}
	}
	return nil
}

// hint says how to see the kernel's log, if it is not shown.
func (g *guest) hint() string {
	if g.log.out != io.Discard {
		return ""
	}
	return ": --console shows its log"
}

// status returns the exit status of the command of -c, 0 without a command. It is an error if the guest
// ended before the command did.
func (g *guest) status(end ending) (int, error) {
	if g.init.host == nil || g.options.command == "" {
		return 0, nil
	}
	if s, ok := g.init.host.Status(); ok {
		return s, nil
	}
	if !g.init.host.Ready() {
		return 0, fmt.Errorf("the guest ended (%s) without asking for its command: does its initrd hold trapline's init?", end)
	}
	return 0, fmt.Errorf("the guest ended (%s) before its command did", end)
}

// finish completes a run: it shows the rest of the console and makes the line of --stats.
func (g *guest) finish(e *env, end ending) error {
	g.log.flush()
	if l := g.options.order.listener; l != nil {
		l.ended(g)
	}
	err := g.log.err
	if err == nil {
		err = g.turns.finish(end == endStopped || end == endLimit || end == endInterrupted)
	}
	if !g.options.stats {
		return err
	}
	state, hashing := g.machine.StateHash()
	if hashing != nil {
		return cmp.Or(err, hashing)
	}
	clock := g.machine.Now()
	e.last = fmt.Sprintf("end=%s clock=%d virtual=%d.%09d wall=%.3f hits=%d state=sha256:%x",
		end, clock, clock/1e9, clock%1e9, time.Since(g.start).Seconds(), g.machine.Counters().Hits-g.watched, state)
	if g.machine.CPUs() > 1 {
		e.last += " schedule=" + g.turns.String()
	}
	e.last += "\n"
	return err
}
