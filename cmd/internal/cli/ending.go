package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"trapline/emu"
	"trapline/kernel/arch"
)

// ending is how a guest came to its end, in the words of --stats.
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

func (g *guest) arch() *arch.Arch {
	if g.image != nil {
		return g.image.Arch()
	}
	return arch.AMD64 // the only one with compressed kernels
}

// classify tells the ends of a guest apart. A guest that has panicked may halt, hang or
// reset the machine: what counts is the panic.
func (g *guest) classify(end emu.End) ending {
	switch {
	case end == emu.Stopped && g.command != nil:
		return endStopped
	case g.timedOut.Load():
		return endLimit
	case g.panicked:
		return endPanic
	}
	switch end {
	case emu.Halt:
		return endPowerOff
	case emu.Reset:
		return endReboot
	case emu.Hang:
		return endHang
	case emu.Triple:
		return endTriple
	case emu.Limit:
		return endLimit
	case emu.Stopped:
		return endStopped
	}
	return endFailed
}

// trouble is the error of a guest that did not come to a good end, or nil.
func (g *guest) trouble(end ending) error {
	at := fmt.Sprintf("at %.6f s of its time", float64(g.machine.Now())/1e9)
	switch end {
	case endPanic:
		return &exit{statusPanic, fmt.Errorf("the guest's kernel panicked %s%s", at, g.hint())}
	case endTriple:
		return &exit{statusTriple, fmt.Errorf("the guest triple-faulted %s", at)}
	case endHang:
		return &exit{statusHang, fmt.Errorf("the guest hangs %s: it waits, and no interrupt can come", at)}
	case endLimit:
		return &exit{statusLimit, fmt.Errorf("the guest was stopped %s: limit reached", at)}
	}
	return nil
}

func (g *guest) hint() string {
	if g.log.out != io.Discard {
		return ""
	}
	return ": --console shows its log"
}

// status is the exit status of the command that the guest was given with -c. It is an
// error if the guest has gone without one.
func (g *guest) status(end ending) (int, error) {
	if g.host == nil || g.options.command == "" {
		return 0, nil
	}
	if s, ok := g.host.Status(); ok {
		return s, nil
	}
	if !g.host.Ready() {
		return 0, errors.New("the guest ended without asking for its command: does its initrd hold trapline's init?")
	}
	return 0, fmt.Errorf("the guest ended (%s) before its command did", end)
}

// figures writes the line of --stats.
func (g *guest) figures(w io.Writer, end ending) error {
	state, err := g.machine.StateHash()
	if err != nil {
		return err
	}
	clock := g.machine.Now()
	_, err = fmt.Fprintf(w, "end=%s clock=%d virtual=%d.%09d wall=%.3f hits=%d state=sha256:%x\n",
		end, clock, clock/1e9, clock%1e9, time.Since(g.start).Seconds(), g.machine.Counters().Hits, state)
	return err
}
