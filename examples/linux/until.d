/*
 * until.d: to stop the moment that something happens, and tell a shell script of it: what
 * exit() gets is the status of the command. Here it is the number of processes so far.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/until.d -c 'uname; uname; cat /etc/none; uname'; echo status $?
 */
#pragma D option quiet

kinst::wake_up_new_task:0
{
	processes++;
}

kinst::do_sys_openat2:0
/copyinstr(arg1) == "/etc/none"/
{
	printf("%s looks for it, after %d processes\n", execname, processes);
	stack(4);
	exit(processes);
}
