package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"

	"trapline/emu"
	"trapline/kernel"
	"trapline/verify"
)

const verifyNotes = `verify executes each instruction of the kernel's functions twice from one state of the machine, in
place and displaced by its breakpoint, and compares the results: registers, flags, memory, faults,
accesses to devices, time, and where the guest continues. It makes the states from --seed. It
verifies functions that the kernel frees after its boot at the beginning of start_kernel, the others
where init waits for its first command.

With -c the states are real: init runs the line, and each instruction is verified when the kernel
reaches it for the first time, also with an interrupt pending.

With --footprint it compares a run of the guest with probes to one without instead: see
'trapline verify --footprint --help'.

The exit status is 0 if nothing differs.
`

// verifyOptions are what is verified, and how.
type verifyOptions struct {
	guest  guestOptions
	Func   string
	Sample uint64
	Seed   uint64
	States int
	jobs   int
	json   string
	resume string
	part   part
	live   bool
}

// runVerify proves displaced instructions against the emulator.
func runVerify(e *env, args []string) error {
	if slices.Contains(args, "--footprint") {
		return runFootprint(e, args)
	}
	var o verifyOptions
	f := e.newFlags("verify", verifyNotes)
	f.VarP(&o.guest.command, "command", "c", "take the states that the shell `LINE` brings the kernel into")
	f.StringVar(&o.Func, "func", "*", "verify functions that match `PATTERN` only")
	f.Uint64Var(&o.Sample, "sample", 1, "verify one instruction in `N`, chosen by the seed")
	f.Uint64Var(&o.Seed, "seed", 1, "make the states and the sample from the seed `N`")
	f.IntVar(&o.States, "states", verify.States, "try `N` states of each instruction")
	f.IntVar(&o.jobs, "jobs", defaultJobs(), "run `N` processes at a time")
	f.StringVar(&o.json, "json", "", "write the report, with a row for each mnemonic, to `FILE`")
	f.StringVar(&o.resume, "resume", "", "keep what is done in `FILE`, and continue from there")
	footprint := f.Bool("footprint", false, "compare runs without and with probes")
	o.guest.bootFlags(f)
	o.guest.sandboxFlag(f)
	f.Var(&o.part, "part", "")
	f.Lookup("part").Hidden = true
	if err := parse(f, args); err != nil {
		return err
	}
	switch {
	case *footprint:
		return usagef("verify: --footprint takes no value")
	case f.NArg() > 1:
		return usagef("verify: one IMAGE at a time, not %d", f.NArg())
	case o.Sample == 0 || o.States < 1 || o.jobs < 1:
		return usagef("verify: --sample, --states and --jobs must be at least 1")
	case o.guest.command != "" && (o.resume != "" || f.Changed("states")):
		return usagef("verify: -c takes each instruction once, in one go: no --resume, no --states")
	}
	o.guest.image = defaultImage()
	if f.NArg() == 1 {
		o.guest.image = f.Arg(0)
	}
	o.live = o.guest.command != ""
	if !o.live {
		o.guest.command = "true" // it is never run
	}
	switch {
	case o.part.of > 0 && o.live:
		return e.verifyLive(&o)
	case o.part.of > 0:
		return e.verifyPart(&o)
	}
	return e.verifyAll(&o, args)
}

// verifyAll verifies in several processes: there is one machine in each.
func (e *env) verifyAll(o *verifyOptions, args []string) error {
	if err := o.openable(); err != nil {
		return err
	}
	if err := writable(o.json); err != nil {
		return err
	}
	report, err := e.collect(o, args)
	if err != nil {
		return err
	}
	switch {
	case report.Functions == 0 && o.live:
		return fmt.Errorf("verify: %s does not bring %s to a function %s", o.guest.command, o.guest.image, o.Func)
	case report.Functions == 0:
		return fmt.Errorf("verify: there is no function %s in %s", o.Func, o.guest.image)
	}
	report.Sort()
	if o.json != "" {
		if err := writeReport(o.json, report); err != nil {
			return err
		}
	}
	if _, err := report.WriteTo(e.stdout); err != nil {
		return err
	}
	for i, m := range report.Mismatches {
		if i == 0 {
			fmt.Fprintln(e.stdout)
		}
		fmt.Fprintf(e.stdout, "again: trapline verify --func %s %s %s\n", m.Function, o.states(m), o.guest.image)
	}
	if _, n, _ := report.Totals(); n > 0 {
		return &exit{status: statusError, err: fmt.Errorf("verify: %d instructions do not do the same displaced as in place", n)}
	}
	return nil
}

// openable says what is wrong with the image, which otherwise each of the processes would.
func (o *verifyOptions) openable() error {
	k, err := o.guest.openKernel(true)
	k.Close()
	return err
}

// states are the flags for those of a mismatch.
func (o *verifyOptions) states(m verify.Mismatch) string {
	if o.live {
		return fmt.Sprintf("-c %q", o.guest.command)
	}
	return fmt.Sprintf("--seed %d --states %d", o.Seed, m.State+1)
}

// writable says before a long run what would be said behind it: that there can be no report of
// that name. None is asked for by "".
func writable(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("verify: the report: %w", err)
	}
	return f.Close()
}

// writeReport writes a report as JSON.
func writeReport(name string, report any) error {
	text, err := json.MarshalIndent(report, "", "\t")
	if err == nil {
		err = os.WriteFile(name, append(text, '\n'), 0o666)
	}
	if err != nil {
		return fmt.Errorf("verify: the report: %w", err)
	}
	return nil
}

// functions are those to verify, in the order of their addresses.
func (o *verifyOptions) functions(img *kernel.Image, early bool) (list []kernel.Symbol) {
	for _, s := range img.Symtab().Funcs() {
		if s.Size > 0 && !s.Label && s.Init == early && kernel.Match(o.Func, s.Name) {
			list = append(list, s)
		}
	}
	return list
}

// verifyPart verifies the batches of one process, and writes a line for each.
func (e *env) verifyPart(o *verifyOptions) error {
	out := json.NewEncoder(e.stdout)
	done, err := readDone(o)
	if err != nil {
		return err
	}
	for _, early := range []bool{true, false} {
		if err := e.verifyState(o, early, done, out); err != nil {
			return err
		}
	}
	return nil
}

// verifyState verifies what is there in one state of the guest.
func (e *env) verifyState(o *verifyOptions, early bool, done map[string]bool, out *json.Encoder) error {
	g, err := e.newGuest(o.guest, guestConfig{console: io.Discard, symbols: true})
	if err != nil {
		return err
	}
	defer g.close()
	funcs := o.functions(g.Image, early)
	if len(funcs) == 0 {
		return nil
	}
	if err := g.approachVerify(e, early); err != nil {
		return err
	}
	v, err := verify.New(verify.Config{Machine: g.machine, States: o.States, Seed: o.Seed, Pick: o.pick})
	if err != nil {
		return err
	}
	defer v.Close()
	for i := 0; i*batchSize < len(funcs); i++ {
		b := batch{Name: fmt.Sprintf("%t %d", early, i), Report: new(verify.Report)}
		if i%o.part.of != o.part.number || done[b.Name] {
			continue
		}
		for _, fn := range funcs[i*batchSize : min((i+1)*batchSize, len(funcs))] {
			if err := v.Function(fn, b.Report); err != nil {
				return err
			}
		}
		if err := out.Encode(b); err != nil {
			return err
		}
		if e.ctx.Err() != nil {
			return &exit{status: statusSignal}
		}
	}
	return nil
}

// pick samples.
func (o *verifyOptions) pick(pc uint64) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %x", o.Seed, pc)
	return h.Sum64()%o.Sample == 0
}

// approachVerify brings the guest into a state in which instructions can be executed.
func (g *guest) approachVerify(e *env, early bool) error {
	if !early {
		ready, end, err := g.boot(e)
		if err == nil && !ready {
			err = fmt.Errorf("verify: the guest ended (%s) before its init was there", end)
		}
		return err
	}
	if err := g.begin(e, true); err != nil {
		return err
	}
	name := g.OS.System().Start
	start := g.Image.Symtab().Lookup(name)
	if len(start) == 0 {
		return fmt.Errorf("verify: a kernel with text that it frees, but without %s", cmp.Or(name, "a known function that it begins with"))
	}
	code := make([]byte, g.Arch().MaxInstr)
	if err := g.Image.Text(start[0].Addr, code); err != nil {
		return err
	}
	if err := verify.StopAt(g.machine, start[0].Addr, code); err != nil {
		return err
	}
	if end, err := g.machine.Run(); err != nil || end != emu.Stopped {
		return fmt.Errorf("verify: the guest ended before %s: %v", name, err)
	}
	return g.machine.ClearBreaks([]uint64{start[0].Addr})
}
