package cli

import (
	"errors"
	"io"
)

// runBoot runs a guest with its console on stdout.
func runBoot(e *env, args []string) (err error) {
	var o guestOptions
	var quiet bool
	f := e.newFlags("boot", kernelFiles())
	o.imageFlag(f)
	f.BoolVarP(&quiet, "quiet", "q", false, "show what the command writes, not the console")
	o.add(f)
	if err := parse(f, args); err != nil {
		return err
	}
	switch n := f.NArg(); {
	case n > 1 || n == 1 && f.Changed("image"):
		return usagef("boot: one IMAGE at a time, as an argument or with -k")
	case n == 1:
		o.image = f.Arg(0)
	}
	console := e.stdout
	switch {
	case quiet && o.console:
		console = e.stderr
	case quiet:
		console = io.Discard
	}
	stop, err := o.profiling.start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	g, err := e.newGuest(o, guestConfig{console: console})
	if err != nil {
		return err
	}
	defer g.close()
	return e.bootGuest(g)
}

// bootGuest runs a guest to its end.
func (e *env) bootGuest(g *guest) error {
	ready, end, err := g.boot(e)
	if err == nil && ready {
		stop := e.screen.busy(elapsed("running " + g.Spec.Name))
		end, err = g.resume()
		stop()
	}
	if done := g.finish(e, end); err == nil {
		err = done
	}
	if err != nil {
		return err
	}
	return g.verdict(end)
}

// verdict is the status of boot: the guest's trouble, or that of its command.
func (g *guest) verdict(end ending) error {
	if err := g.trouble(end); err != nil {
		return err
	}
	status, err := g.status(end)
	if err != nil || status == 0 {
		return err
	}
	return &exit{status: status}
}
