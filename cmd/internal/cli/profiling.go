package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/pflag"
)

// profiling is the options that show where trapline itself spends its time and memory, in
// files for 'go tool pprof' and 'go tool trace'.
type profiling struct {
	cpu, memory, trace string // names of files, "" for none
}

func (p *profiling) add(f *pflag.FlagSet) {
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of trapline itself to `FILE`, for 'go tool pprof'")
	f.StringVar(&p.memory, "memprofile", "", "write a memory profile of trapline itself to `FILE`, for 'go tool pprof'")
	f.StringVar(&p.trace, "trace", "", "write an execution trace of trapline itself to `FILE`, for 'go tool trace'")
}

// start begins to profile. The caller calls stop, once.
func (p *profiling) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	for _, x := range []struct {
		file  string
		start func(*os.File) (finish func() error, err error)
	}{
		{p.cpu, profileCPU}, {p.memory, profileMemory}, {p.trace, traceExecution},
	} {
		if x.file == "" {
			continue
		}
		s, err := profileInto(x.file, x.start)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("profiling: %w", err), stop())
		}
		stops = append(stops, s)
	}
	return stop, nil
}

// profileInto makes a file and begins to profile into it.
func profileInto(name string, start func(*os.File) (func() error, error)) (stop func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	finish, err := start(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		if err := errors.Join(finish(), f.Close()); err != nil {
			return fmt.Errorf("profiling: %w", err)
		}
		return nil
	}, nil
}

func profileCPU(f *os.File) (func() error, error) {
	finish := func() error { pprof.StopCPUProfile(); return nil }
	return finish, pprof.StartCPUProfile(f)
}

// profileMemory profiles what is in use at the end.
func profileMemory(f *os.File) (func() error, error) {
	return func() error {
		runtime.GC()
		return pprof.WriteHeapProfile(f)
	}, nil
}

func traceExecution(f *os.File) (func() error, error) {
	finish := func() error { trace.Stop(); return nil }
	return finish, trace.Start(f)
}
