package sdt

import (
	"trapline/kernel/ctypes"
	"trapline/probes"
	"trapline/probes/ktext"
)

// A known probe is a tracepoint under the name that people know from other systems.
type known struct {
	provider, name string
	point          string
	args           []int // of the tracepoint, in their order here
}

// knownProbes are those that a tracepoint makes.
var knownProbes = []known{
	{"sched", "off-cpu", "sched_switch", []int{2}},
	{"proc", "create", "sched_process_fork", []int{1}},
	{"proc", "exec-success", "sched_process_exec", nil},
	{"proc", "exit", "sched_process_exit", []int{0}},
	{"io", "start", "block_rq_issue", []int{0}},
	{"io", "done", "block_rq_complete", []int{0, 1, 2}},
}

// KnownProviders are the providers of known probes.
var KnownProviders = []string{"sched", "proc", "io"}

// switched is the function with which a thread begins to run again, and a new one to run:
// the probe sched:::on-cpu is its first instruction. Compilers add to its name.
const switched = "finish_task_switch"

// known are the places of one provider's known probes.
func (t *Tracepoints) known(provider string) []Place {
	var out []Place
	for _, x := range t.find() {
		for _, k := range knownProbes {
			if k.provider == provider && k.point == x.Name {
				x.Name, x.Args = k.name, &chosen{x.Args, k.args}
				out = append(out, x)
			}
		}
	}
	if provider != "sched" || len(out) == 0 {
		return out
	}
	for _, s := range t.symbols.Glob(switched + "*") {
		out = append(out, Place{Module: ktext.Module, Name: "on-cpu", Addr: s.Addr, Args: nothing{}})
	}
	return out
}

// chosen are some of the arguments of a tracepoint.
type chosen struct {
	all  Args
	args []int
}

// Select implements Args.
func (c *chosen) Select(f *probes.Firing) bool {
	fires := c.all.Select(f)
	all := f.Args
	f.Args = [10]uint64{}
	for i, n := range c.args {
		f.Args[i] = all[n]
	}
	return fires
}

// Types implements Args.
func (c *chosen) Types() (out []*ctypes.Type) {
	all := c.all.Types()
	for _, n := range c.args {
		if n < len(all) {
			out = append(out, all[n])
		}
	}
	return out
}

// nothing is no arguments.
type nothing struct{}

// Select implements Args.
func (nothing) Select(f *probes.Firing) bool {
	f.Args = [10]uint64{}
	return true
}

// Types implements Args.
func (nothing) Types() []*ctypes.Type { return nil }
