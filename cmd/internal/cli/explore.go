package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"trapline/emu/interleave"
	"trapline/probes/d/option"
)

const exploreNotes = `explore runs the command of -c under one order of the CPUs after the other, each time from the
guest's boot on, until something goes wrong:

  a D program ends with exit(N), N other than 0
  the command ends with another status than 0
  the kernel panics, or reports a bug, a warning or a stall on the console
  the guest hangs: it waits for an interrupt that cannot come, or it has not ended after
  twice the time of the first run plus 20 ms of its own time (--until VSEC)

Then it removes switches from the order as long as the same goes wrong, and prints a command that
shows it again. The first run gives the CPUs equal turns, as without explore. --schedule, --quantum
and --seed choose the others. --record writes the schedule to a file.

Exit status: 0 nothing found, 1 something found, 2 the runs could not be started, 130 interrupted.
`

const (
	statusFound  = 1
	statusNoRuns = 2
)

// exploring is the command line of explore.
type exploring struct {
	*env
	t          tracing
	given      []string // flags of each run
	runs, jobs int
	tries      int // to make the schedule shorter
	asJSON     bool
	tmp        string // directory for schedules
}

// runExplore looks for an order of the CPUs in which something goes wrong.
func runExplore(e *env, args []string) error {
	x := &exploring{env: e, t: tracing{options: option.New()}}
	if err := x.parse(args); err != nil {
		return err
	}
	found, err := x.explore()
	switch {
	case e.ctx.Err() != nil:
		return &exit{status: statusSignal}
	case err != nil:
		return &exit{statusNoRuns, err}
	case found:
		return &exit{status: statusFound}
	}
	return nil
}

func (x *exploring) flags() *pflag.FlagSet {
	return x.t.flags(x.env, "explore", exploreNotes, func(f *pflag.FlagSet) {
		f.IntVar(&x.runs, "runs", 500, "give up after `N` runs")
		f.IntVarP(&x.jobs, "jobs", "j", runtime.NumCPU(), "run `N` guests side by side")
		f.IntVar(&x.tries, "tries", 500, "try `N` schedules to find a shorter one")
		f.BoolVar(&x.asJSON, "json", false, "print what was found as JSON")
	})
}

// own are the flags that are not passed on to the runs as they are.
var exploreOwn = map[string]bool{
	"runs": true, "jobs": true, "tries": true, "json": true, "schedule": true, "seed": true, "quantum": true,
	"record": true, "until": true, "stats": true, "console": true,
}

func (x *exploring) parse(args []string) error {
	f := x.flags()
	if err := x.t.parse(f, args); err != nil {
		return err
	}
	again := exploring{env: x.env, t: tracing{options: option.New()}}
	again.flags().ParseAll(args, func(flag *pflag.Flag, value string) error { // it has been parsed before
		if !exploreOwn[flag.Name] && flag.Name != "image" {
			x.given = append(x.given, oneFlag(flag, value)...)
		}
		return nil
	})
	o := &x.t.guest
	switch {
	case len(x.t.args) > 1 || len(x.t.args) == 1 && f.Changed("image"):
		return usagef("explore: one IMAGE at a time, as an argument or with -k")
	case len(x.t.args) == 1:
		o.image = x.t.args[0]
	}
	x.t.args = nil
	x.given = append([]string{"-k", o.image}, x.given...)
	switch {
	case x.t.list || x.t.compile || x.t.version || x.t.output != "":
		return usagef("explore: -l, -e, -V and -o are for dtrace")
	case o.command == "":
		return usagef("explore: nothing to run: give a command with -c")
	case o.cpus < 2:
		return usagef("explore: one CPU has no order: give --cpus 2 or more")
	case x.runs < 1 || x.jobs < 1 || x.tries < 0:
		return usagef("explore: --runs and --jobs must be 1 or more")
	case strings.HasPrefix(o.order.order, "replay:"):
		return usagef("explore: --schedule must be roundrobin, random or pct")
	}
	if len(x.t.sources) == 0 && len(x.given) > 0 {
		return x.bootFlags(f)
	}
	return nil
}

// bootFlags says which flags are of no use without a program.
func (x *exploring) bootFlags(f *pflag.FlagSet) (err error) {
	var o guestOptions
	boot := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.imageFlag(boot)
	o.add(boot)
	f.Visit(func(flag *pflag.Flag) {
		if boot.Lookup(flag.Name) == nil && !exploreOwn[flag.Name] {
			err = usagef("explore: --%s is for a program, and there is none: give one with -n or -s", flag.Name)
		}
	})
	return err
}

// oneFlag is a flag as words of a command line.
func oneFlag(flag *pflag.Flag, value string) []string {
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand
	}
	if flag.NoOptDefVal != "" {
		return []string{name}
	}
	return []string{name, value}
}

// plans are the kinds of order that are tried in turn: switches that are near to each other and
// that are not, CPUs that keep up and that do not.
var plans = []interleave.Schedule{
	{Name: "random", Quantum: 2000},
	{Name: "random", Quantum: interleave.Quantum},
	{Name: "random", Quantum: 500},
	{Name: "pct", Quantum: 2000},
}

// plan is the order of run i.
func (x *exploring) plan(i int) []string {
	o := x.t.guest.order
	if i == 0 {
		return scheduleFlags("roundrobin", interleave.Quantum, 0)
	}
	seed := uint64(i - 1)
	p := plans[seed%uint64(len(plans))]
	if o.order != "" {
		p.Name = o.order
	}
	if o.quantum != interleave.Quantum {
		p.Quantum = o.quantum
	}
	return scheduleFlags(p.Name, p.Quantum, max(o.seed, 1)+seed)
}

func scheduleFlags(name string, quantum, seed uint64) []string {
	return []string{"--schedule", name, "--quantum", fmt.Sprint(quantum), "--seed", fmt.Sprint(seed)}
}

// A discovery is what has been found.
type discovery struct {
	Finding  finding `json:"found"`
	Run      int     `json:"run"`
	Schedule string  `json:"schedule"` // in which it was found
	Tried    int     `json:"tried"`    // to make that shorter
	Switches int     `json:"switches"` // that are left
	Command  string  `json:"command"`  // that shows it
	Story    []step  `json:"story"`    // its switches, and the one after each
	Ends     []place `json:"ends"`     // where the CPUs are in the end
}

// explore finds a schedule, makes it shorter, and reports it.
func (x *exploring) explore() (found bool, err error) {
	d, err := x.look()
	switch {
	case err != nil:
		return false, err
	case d != nil:
		return true, x.tell(d)
	case x.asJSON:
		_, err = fmt.Fprintf(x.stdout, "{\"found\":null,\"runs\":%d}\n", x.runs)
	default:
		_, err = fmt.Fprintf(x.stdout, "nothing found in %d runs\n", x.runs)
	}
	return false, err
}

// look looks and makes shorter; it returns nil if there is nothing. Its guests run in processes of
// their own. Its files are gone when it returns: in the process of what comes then, a guest runs.
func (x *exploring) look() (found *discovery, err error) {
	if x.tmp, err = os.MkdirTemp("", "trapline-explore"); err != nil {
		return nil, fmt.Errorf("making room for schedules: %w", err)
	}
	defer os.RemoveAll(x.tmp)
	run, first, err := x.search()
	if err != nil || run < 0 {
		return nil, err
	}
	d := &discovery{Finding: first.finding, Run: run + 1, Schedule: first.schedule}
	return d, x.shorten(d)
}

// search runs one order after the other, until something is found: in run i, -1 for nothing.
func (x *exploring) search() (i int, o outcome, err error) {
	stop := x.screen.busy(elapsed("exploring " + x.t.guest.image))
	defer stop()
	o, err = x.run(x.ctx, x.plan(0)) // makes the snapshot, and shows how long a run takes
	if err != nil || o.finding != (finding{}) {
		return 0, o, err
	}
	if x.t.guest.until == 0 {
		x.t.guest.until = seconds(2*float64(o.clock)/1e9 + 0.02)
	}
	i, o, err = x.first(x.runs-1, func(i int) []string { return x.plan(i + 1) }, func(o outcome) bool { return o.finding != finding{} })
	if i >= 0 {
		i++
	}
	return i, o, err
}

// shorten looks for fewer switches with which the same shows.
func (x *exploring) shorten(d *discovery) error {
	stop := x.screen.busy(elapsed("making the schedule shorter"))
	defer stop()
	file := x.tmp + "/found"
	again, err := x.run(x.ctx, append(x.plan(d.Run-1), "--record", file))
	if err != nil {
		return err
	}
	if again.finding != d.Finding {
		return errors.New("explore: what was found does not show again in the same order: this is a bug of trapline")
	}
	s, err := parseReplay("@"+file, int(x.t.guest.cpus))
	if err != nil {
		return err
	}
	s.Course = interleave.Course{}
	s.Switches, d.Tried = interleave.Shrink(s.Switches, x.tries, func(candidates [][]interleave.Switch) int {
		i, _, failed := x.first(len(candidates), func(i int) []string {
			c := s
			c.Switches = candidates[i]
			return x.replay(c, fmt.Sprint(i))
		}, func(o outcome) bool { return o.finding.like(d.Finding) })
		err = errors.Join(err, failed)
		return i
	})
	if err != nil {
		return err
	}
	return x.settle(d, s)
}

// settle runs the shortest schedule once more, for its course and what is said in it.
func (x *exploring) settle(d *discovery, s interleave.Schedule) error {
	file := x.t.guest.order.record
	if file == "" {
		file = x.tmp + "/settled"
	}
	o, err := x.run(x.ctx, append(x.replay(s, "short"), "--record", file))
	if err != nil {
		return err
	}
	d.Finding, d.Switches = o.finding, len(s.Switches)
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading a schedule: %w", err)
	}
	d.Command = x.command(d, strings.TrimSpace(string(text)))
	x.t.guest.order.order = "replay:" + strings.TrimSpace(string(text))
	return nil
}

// replay is the flag for a schedule of switches.
func (x *exploring) replay(s interleave.Schedule, name string) []string {
	file := x.tmp + "/" + name
	if err := os.WriteFile(file, []byte(s.String()), 0o600); err != nil {
		return []string{"--schedule", "replay:" + s.String()} // short enough, or the run fails
	}
	return []string{"--schedule", "replay:@" + file}
}

// longestSchedule is how much of a schedule a command line shows, in bytes.
const longestSchedule = 1000

// command is what shows the same again.
func (x *exploring) command(d *discovery, schedule string) string {
	words := append([]string{"trapline", x.program()}, x.given...)
	switch file := x.t.guest.order.record; {
	case len(schedule) <= longestSchedule:
		words = append(words, "--schedule", "replay:"+schedule)
	case file != "":
		words = append(words, "--schedule", "replay:@"+file)
	default:
		words = append(words, x.plan(d.Run-1)...)
	}
	if d.Finding.Kind == "hang" {
		words = append(words, "--until", fmt.Sprintf("%.3g", float64(x.t.guest.until)))
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// shellWord is a word as a shell reads it.
func shellWord(w string) string {
	plain := func(r rune) bool {
		return !strings.ContainsRune("_-./:@,=+%", r) && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if w != "" && !strings.ContainsFunc(w, plain) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// tell shows what has been found.
func (x *exploring) tell(d *discovery) error {
	if err := x.listen(d); err != nil {
		return err
	}
	if x.asJSON {
		w := json.NewEncoder(x.stdout)
		w.SetEscapeHTML(false)
		return w.Encode(d)
	}
	d.write(x.stdout)
	return nil // stdout remembers its error
}
