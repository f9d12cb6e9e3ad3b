/*
 * obituary.d: what the kernel knows of a process at its end, by the members of the
 * thread's structure.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/obituary.d -c 'renice -n 5 -p $$; sleep 0.1; seq 2000 | md5sum'
 */
#pragma D option quiet

BEGIN
{
	printf("%-8s %5s %-8s %4s %6s %6s %8s %8s\n", "NAME", "PID", "PARENT", "NICE", "SLEEPS",
	    "TAKEN", "CPU(US)", "PAGES");
}

kinst::do_exit:0
/curthread->mm/
{
	printf("%-8s %5d %-8s %4d %6d %6d %8d %8d\n", stringof(curthread->comm), curthread->pid,
	    stringof(curthread->real_parent->comm), curthread->static_prio - 120, curthread->nvcsw,
	    curthread->nivcsw, curthread->se.sum_exec_runtime / 1000, curthread->mm->total_vm);
}
