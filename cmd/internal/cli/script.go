package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/spf13/pflag"

	"trapline/cmd/script"
)

var scriptNotes = `A script is a .txtar file in the language of testscript
(pkg.go.dev/github.com/rogpeppe/go-internal/testscript): commands, followed by the files that they
need and the texts to compare with. A directory means all scripts in it and below it. These commands
are added to testscript's own:

` + script.Usage() + `
The condition [image:NAME] holds if that image is in the cache. $SCRIPTDIR is the script's directory.

A report does not depend on the machine or on time, so the reports of the parts 1/N to N/N make that
of the whole. In an indexed Job of Kubernetes, JOB_COMPLETION_INDEX and JOB_COMPLETION_COUNT choose
the part. The exit status is 1 if a script fails.
`

// suiteRun is the command line of script.
type suiteRun struct {
	suite               script.Suite
	env                 []string
	shard, format, file string // of --shard, --format and --junit
	timeout             seconds
	count               map[script.Status]int
	all                 []script.Result
}

func (s *suiteRun) flags(e *env) *pflag.FlagSet {
	f := e.newFlags("script", scriptNotes)
	f.BoolVarP(&s.suite.Update, "update", "u", false, "put the output into scripts whose cmp differs")
	f.BoolVarP(&s.suite.Verbose, "verbose", "v", false, "show what passing scripts do")
	f.IntVarP(&s.suite.Workers, "jobs", "j", 0, "run `N` scripts at a time (0: one on each CPU)")
	f.StringArrayVarP(&s.env, "env", "e", nil, "set the variable `NAME=VALUE` for the scripts, or pass NAME of the environment; the path of a file, with a slash in it, is from here")
	f.StringVar(&s.shard, "shard", "", "run part `I/N` of the scripts: 1/4 to 4/4")
	f.StringVar(&s.format, "format", "text", "report in `FORMAT`: text or tap")
	f.StringVar(&s.file, "junit", "", "write a JUnit report to `FILE`, too")
	f.Var(&s.timeout, "timeout", "fail a script after `SEC` seconds of the host's time (0: never)")
	return f
}

// runScript runs test scripts and reports what became of them.
func runScript(e *env, args []string) error {
	s := suiteRun{count: map[script.Status]int{}}
	f := s.flags(e)
	if err := parse(f, args); err != nil {
		return err
	}
	if err := s.prepare(f.Args()); err != nil {
		return err
	}
	if err := s.run(e); err != nil {
		return err
	}
	if err := s.writeJUnit(); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%d passed, %d failed, %d skipped\n",
		s.count[script.Passed], s.count[script.Failed], s.count[script.Skipped])
	if s.count[script.Failed] > 0 {
		return &exit{status: statusError}
	}
	return nil
}

// fromHere makes the path of a file in NAME=VALUE absolute: scripts run in directories of their own.
func fromHere(v string) string {
	name, path, _ := strings.Cut(v, "=")
	if _, err := os.Stat(path); err != nil || !strings.Contains(path, "/") {
		return v
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return v
	}
	return name + "=" + abs
}

// prepare finds out which scripts to run, and how.
func (s *suiteRun) prepare(paths []string) error {
	switch {
	case len(paths) == 0:
		return usagef("script: name the scripts, or the directories with scripts, to run")
	case s.format != "text" && s.format != "tap":
		return usagef("script: --format %q: it must be text or tap", s.format)
	case s.suite.Workers < 0:
		return usagef("script: --jobs %d: it must not be negative", s.suite.Workers)
	}
	for _, v := range s.env {
		if !strings.Contains(v, "=") {
			v += "=" + os.Getenv(v)
		}
		s.suite.Env = append(s.suite.Env, fromHere(v))
	}
	s.suite.Timeout = s.timeout.duration()
	shard, err := script.JobShard(os.Getenv)
	if s.shard != "" {
		shard, err = script.ParseShard(s.shard)
	}
	if err != nil {
		return usagef("script: %w", err)
	}
	files, err := script.Find(paths)
	if err != nil {
		return err
	}
	s.suite.Files = shard.Of(files)
	s.suite.Program, err = os.Executable()
	return err
}

// run runs the suite; each result is shown when those before it have been.
func (s *suiteRun) run(e *env) error {
	write := func(r script.Result) error { return script.WriteText(e.stdout, r) }
	if s.format == "tap" {
		tap := &script.TAP{W: e.stdout}
		if err := tap.Start(len(s.suite.Files)); err != nil {
			return err
		}
		write = tap.Write
	}
	var done atomic.Int64
	stop := e.screen.busy(func() string { return fmt.Sprintf("%d of %d scripts", done.Load(), len(s.suite.Files)) })
	err := s.suite.Run(e.ctx, func(r script.Result) {
		s.count[r.Status]++
		s.all = append(s.all, r)
		write(r) // stdout remembers its error
		done.Add(1)
	})
	stop()
	if e.ctx.Err() != nil {
		return &exit{status: statusSignal}
	}
	return err
}

func (s *suiteRun) writeJUnit() error {
	if s.file == "" {
		return nil
	}
	f, err := os.Create(s.file)
	if err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	err = script.WriteJUnit(f, s.all)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("writing the JUnit report: %w", cerr)
	}
	return err
}
