package sdt

import (
	"trapline/kernel/ctypes"
	"trapline/probes"
)

// A known probe is a tracepoint, or the first instruction of a function, under the name that
// people know from other systems. What its arguments are called and translated to is declared in
// package library.
type known struct {
	provider, name string
	point          string   // a tracepoint, or
	functions      []string // patterns of functions; compilers add to names
	// args are those of the tracepoint or of the function, in their order here.
	args []int
	// when, if not nil, reports whether it fires. f.Args are those that it has here; it may
	// change them.
	when func(t *Tracepoints, f *probes.Firing) bool
}

var knownProbes = []known{
	{provider: "sched", name: "on-cpu", functions: []string{"finish_task_switch*"}},
	{provider: "sched", name: "off-cpu", point: "sched_switch", args: []int{2}},
	{provider: "sched", name: "sleep", point: "sched_switch", args: []int{0, 3}, when: sleeps},
	{provider: "sched", name: "preempt", point: "sched_switch", args: []int{0, 3}, when: preempted},
	{provider: "sched", name: "wakeup", point: "sched_wakeup", args: []int{0}},
	{provider: "sched", name: "enqueue", functions: []string{"enqueue_task_fair", "enqueue_task_rt", "enqueue_task_dl"}, args: []int{1, 0}},
	{provider: "sched", name: "dequeue", functions: []string{"dequeue_task_fair", "dequeue_task_rt", "dequeue_task_dl"}, args: []int{1, 0}},
	{provider: "proc", name: "create", point: "sched_process_fork", args: []int{1}, when: leads},
	{provider: "proc", name: "exec", functions: []string{"bprm_execve"}, args: []int{0}, when: path},
	{provider: "proc", name: "exec-success", point: "sched_process_exec"},
	{provider: "proc", name: "exit", point: "sched_process_exit", args: []int{0}, when: ends},
	{provider: "proc", name: "start", functions: []string{"schedule_tail"}, when: currentLeads},
	{provider: "proc", name: "lwp-create", point: "sched_process_fork", args: []int{1}},
	{provider: "proc", name: "lwp-start", functions: []string{"schedule_tail"}},
	{provider: "proc", name: "lwp-exit", point: "sched_process_exit"},
	{provider: "proc", name: "signal-send", point: "signal_generate", args: []int{2, 0}},
	{provider: "proc", name: "signal-discard", point: "signal_generate", args: []int{2, 0, 4}, when: ignored},
	{provider: "proc", name: "signal-handle", point: "signal_deliver", args: []int{0}},
	{provider: "io", name: "start", point: "block_rq_issue", args: []int{0}},
	{provider: "io", name: "done", point: "block_rq_complete", args: []int{0, 1, 2}},
}

// KnownProviders are the providers of known probes.
var KnownProviders = []string{"sched", "proc", "io"}

// known are the places of one provider's known probes. A kernel without tracepoints has none.
func (t *Tracepoints) known(provider string) (out []Place) {
	points := t.find()
	if len(points) == 0 {
		return nil
	}
	for i := range knownProbes {
		k := &knownProbes[i]
		if k.provider != provider {
			continue
		}
		for _, x := range points {
			if k.point == x.Name {
				out = append(out, Place{Module: x.Module, Name: k.name, Addr: x.Addr, Args: &chosen{t, k, x.Args}})
			}
		}
		for _, pattern := range k.functions {
			for _, s := range t.symbols.Glob(pattern) {
				out = append(out, Place{Module: t.module, Name: k.name, Addr: s.Addr, Args: &chosen{t, k, passed{t}}})
			}
		}
	}
	return out
}

// chosen are some of the arguments of a tracepoint or a function.
type chosen struct {
	t *Tracepoints
	*known
	all Args
}

// Select implements Args.
func (c *chosen) Select(f *probes.Firing) bool {
	fires := c.all.Select(f)
	all := f.Args
	f.Args = [10]uint64{}
	for i, n := range c.args {
		f.Args[i] = all[n]
	}
	return fires && (c.when == nil || c.when(c.t, f))
}

// Types implements Args. Those of a function are declared in package library.
func (c *chosen) Types() (out []*ctypes.Type) {
	all := c.all.Types()
	for _, n := range c.args {
		if n < len(all) {
			out = append(out, all[n])
		}
	}
	return out
}

// passed are the arguments of a function at its first instruction.
type passed struct{ t *Tracepoints }

// Select implements Args.
func (p passed) Select(f *probes.Firing) bool {
	for i, r := range p.t.walk.arch.Args {
		f.Args[i] = f.CPU.Reg(r)
	}
	return true
}

// Types implements Args.
func (passed) Types() []*ctypes.Type { return nil }
