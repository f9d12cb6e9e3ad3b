/*
 * syscalls.d: which process makes which system calls, and how often. Every system call
 * of Linux has a function of its own; the glob probes all of them.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/syscalls.d -c 'ls / | wc -l'
 */
#pragma D option quiet

kinst::__x64_sys_*:0
/pid > 1/
{
	@[execname, substr(probefunc, strlen("__x64_sys_"))] = count();
}

END
{
	printa("%-10s %-20s %@8d\n", @);
}
