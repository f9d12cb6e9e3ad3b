/*
 * execs.d: the programs that are started, in the guest's milliseconds, with the parent
 * and what is to run. It is a system administrator's first question: what is going on?
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/execs.d -c '/bin/ls /etc; sh -c "exec /bin/uname" | tail -n 1; find /etc -name group -exec basename {} \;'
 */
#pragma D option quiet

BEGIN
{
	start = timestamp;
	printf("%6s %5s %5s %-8s %s\n", "MS", "PID", "PPID", "BY", "PROGRAM");
}

kinst::begin_new_exec:0
{
	this->program = (struct linux_binprm *)arg0;
	printf("%6d %5d %5d %-8s %s\n", (timestamp - start) / 1000000, pid, ppid, execname,
	    stringof(this->program->filename));
}
