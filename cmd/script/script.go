// Package script runs suites of test scripts that trace guests: txtar files in the language
// of testscript, in which trapline is a program on the path.
//
//	files --Find--> names in order --Shard.Of--> this machine's part
//	      --Suite.Run--> a Result for each, in that order --WriteText, WriteTAP, WriteJUnit-->
//
// Scripts run side by side, each with its directory and its processes. Nothing of the
// machine, of the time or of the other scripts comes into a Result.
package script

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A Suite is scripts to run, and how.
type Suite struct {
	Files   []string      // paths of scripts, each once
	Program string        // path of the trapline that they run
	Env     []string      // NAME=VALUE, for every script
	Update  bool          // rewrite golden text in scripts where a cmp differs
	Verbose bool          // keep the log of scripts that pass
	Workers int           // scripts at a time; 0 for one on each of the host's CPUs
	Timeout time.Duration // of the host's time, for one script; 0 for none
}

// Status is what became of a script.
type Status string

// What may become of a script.
const (
	Passed  Status = "ok"
	Failed  Status = "FAIL"
	Skipped Status = "skip"
)

// A Result is what became of one script.
type Result struct {
	Name   string // the script's path without its ending, with slashes
	Status Status
	Log    string // what it did, from the phase that failed on; why it was skipped
}

// Params are the parameters of testscript that every script of ours runs with: the
// commands and the condition of this package.
func Params() testscript.Params {
	return testscript.Params{
		Condition:           condition,
		Cmds:                commands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	}
}

// Run runs the scripts and calls yield with each result, in the order of Files. When ctx
// is done no more scripts are started, and its error is returned.
func (s *Suite) Run(ctx context.Context, yield func(Result)) error {
	bin, err := os.MkdirTemp("", "trapline-script")
	if err != nil {
		return fmt.Errorf("making a directory for the scripts: %w", err)
	}
	defer os.RemoveAll(bin)
	if err := os.Symlink(s.Program, filepath.Join(bin, "trapline")); err != nil {
		return fmt.Errorf("making a directory for the scripts: %w", err)
	}
	results := make([]chan Result, len(s.Files))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	next := make(chan int)
	for range cmp.Or(s.Workers, runtime.NumCPU()) {
		workers.Go(func() {
			for i := range next {
				results[i] <- s.script(s.Files[i], bin)
			}
		})
	}
	go deal(ctx, len(s.Files), next)
	return collect(ctx, results, yield)
}

// deal hands out the numbers of n scripts until ctx is done.
func deal(ctx context.Context, n int, next chan<- int) {
	defer close(next)
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			return
		}
	}
}

func collect(ctx context.Context, results []chan Result, yield func(Result)) error {
	for _, c := range results {
		select {
		case r := <-c:
			yield(r)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// script runs one script; bin is where its trapline is.
func (s *Suite) script(file, bin string) Result {
	p := Params()
	p.Files = []string{file}
	p.UpdateScripts = s.Update
	if s.Timeout > 0 {
		p.Deadline = time.Now().Add(s.Timeout)
	}
	p.Setup = func(env *testscript.Env) error { return s.setup(env, file, bin) }
	t := &recorder{verbose: s.Verbose, status: Passed}
	t.Run("", func(testscript.T) { testscript.RunT(t, p) })
	return Result{Name: Name(file), Status: t.status, Log: t.text()}
}

// UseCache gives a script the images and snapshots of the user that runs it.
func UseCache(env *testscript.Env) {
	for _, name := range []string{"XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env.Setenv(name, v)
		}
	}
}

func (s *Suite) setup(env *testscript.Env, file, bin string) error {
	UseCache(env)
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	env.Setenv("SCRIPTDIR", dir)
	env.Vars = append(env.Vars, s.Env...)
	return nil
}

// A recorder is the testing.T of one script. It ends a failed or skipped script by ending
// the goroutine that runs it.
type recorder struct {
	verbose bool
	status  Status
	reason  string // for which it was skipped
	log     strings.Builder
}

func (t *recorder) Run(_ string, f func(testscript.T)) {
	var done sync.WaitGroup
	done.Go(func() { f(t) })
	done.Wait()
}

func (t *recorder) Parallel()     {}
func (t *recorder) Verbose() bool { return t.verbose }

func (t *recorder) Log(args ...any) {
	t.log.WriteString(strings.TrimSuffix(fmt.Sprint(args...), "\n") + "\n")
}

func (t *recorder) FailNow() {
	t.status = Failed
	runtime.Goexit()
}

func (t *recorder) Fatal(args ...any) {
	t.Log(args...)
	t.FailNow()
}

func (t *recorder) Skip(args ...any) {
	t.status, t.reason = Skipped, fmt.Sprintln(args...)
	runtime.Goexit()
}

// elapsed is the host's time that a phase took, as testscript logs it.
var elapsed = regexp.MustCompile(`(?m)^(#.*) \(\d+\.\d+s\)$`)

// text is what there is to say of a script: if it has not failed, why it was skipped, unless
// verbose.
func (t *recorder) text() string {
	if t.status != Failed && !t.verbose {
		return t.reason
	}
	return elapsed.ReplaceAllString(t.log.String(), "$1")
}
