package guestos

// linuxKnown are the known probes of Linux.
var linuxKnown = []Known{
	{Provider: "sched", Name: "on-cpu", Functions: []string{"finish_task_switch*"}},
	{Provider: "sched", Name: "off-cpu", Point: "sched_switch", Args: []int{2}},
	{Provider: "sched", Name: "sleep", Point: "sched_switch", Args: []int{0, 3}, When: sleeps},
	{Provider: "sched", Name: "preempt", Point: "sched_switch", Args: []int{0, 3}, When: preempted},
	{Provider: "sched", Name: "wakeup", Point: "sched_wakeup", Args: []int{0}},
	{Provider: "sched", Name: "enqueue", Functions: []string{"enqueue_task_fair", "enqueue_task_rt", "enqueue_task_dl"}, Args: []int{1, 0}},
	{Provider: "sched", Name: "dequeue", Functions: []string{"dequeue_task_fair", "dequeue_task_rt", "dequeue_task_dl"}, Args: []int{1, 0}},
	{Provider: "proc", Name: "create", Point: "sched_process_fork", Args: []int{1}, When: leads},
	{Provider: "proc", Name: "exec", Functions: []string{"bprm_execve"}, Args: []int{0}, When: path},
	{Provider: "proc", Name: "exec-success", Point: "sched_process_exec"},
	{Provider: "proc", Name: "exit", Point: "sched_process_exit", Args: []int{0}, When: ends},
	{Provider: "proc", Name: "start", Functions: []string{"schedule_tail"}, When: currentLeads},
	{Provider: "proc", Name: "lwp-create", Point: "sched_process_fork", Args: []int{1}},
	{Provider: "proc", Name: "lwp-start", Functions: []string{"schedule_tail"}},
	{Provider: "proc", Name: "lwp-exit", Point: "sched_process_exit"},
	{Provider: "proc", Name: "signal-send", Point: "signal_generate", Args: []int{2, 0}},
	{Provider: "proc", Name: "signal-discard", Point: "signal_generate", Args: []int{2, 0, 4}, When: ignored},
	{Provider: "proc", Name: "signal-handle", Point: "signal_deliver", Args: []int{0}},
	{Provider: "io", Name: "start", Point: "block_rq_issue", Args: []int{0}},
	{Provider: "io", Name: "done", Point: "block_rq_complete", Args: []int{0, 1, 2}},
}

// Conditions of known probes, on the arguments that these have. Where the image does not tell
// where the kernel keeps what a condition is about, the probe fires as if it held.

// sleeps reports whether the thread of a switch (preempt, state) waits for something.
func sleeps(_ Kernel, args *[10]uint64) bool {
	preempt, state := args[0]&1 != 0, args[1]
	*args = [10]uint64{}
	return !preempt && state != 0
}

// preempted reports whether the thread of a switch would go on.
func preempted(k Kernel, args *[10]uint64) bool { return !sleeps(k, args) }

// leads reports whether a thread is the first of its process.
func leads(k Kernel, args *[10]uint64) bool {
	leader, ok := k.Member(args[0], "task_struct", "group_leader")
	return !ok || leader == args[0]
}

func currentLeads(k Kernel, args *[10]uint64) bool {
	*args = [10]uint64{k.Current()}
	first := leads(k, args)
	*args = [10]uint64{}
	return first
}

// Reasons of the end of a process: the manual's CLD_EXITED, CLD_KILLED, CLD_DUMPED.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// ends reports whether a thread is the last of its process to end, and why that ends: its wait
// status has the number of a signal, and a bit if there is a core file.
func ends(k Kernel, args *[10]uint64) bool {
	task := args[0]
	live, ok := k.Member(task, "task_struct", "signal", "live", "counter")
	status, _ := k.Member(task, "task_struct", "exit_code")
	*args = [10]uint64{cldExited}
	switch {
	case status&0x80 != 0:
		args[0] = cldDumped
	case status&0x7f != 0:
		args[0] = cldKilled
	}
	return !ok || uint32(live) == 0
}

// path gives, of a program that is about to be executed, its name.
func path(k Kernel, args *[10]uint64) bool {
	args[0], _ = k.Member(args[0], "linux_binprm", "filename")
	return true
}

// ignored reports whether nothing comes of a signal that is sent (task, signal, result).
func ignored(_ Kernel, args *[10]uint64) bool {
	const resultIgnored = 1 // TRACE_SIGNAL_IGNORED, include/trace/events/signal.h
	result := args[2]
	args[2] = 0
	return uint32(result) == resultIgnored
}
