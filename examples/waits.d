/*
 * waits.d: how long programs wait for their children, in microseconds, from the system
 * call to the thread's next one: self-> is a variable of each thread.
 *
 *     trapline dtrace -s examples/waits.d -c 'forks 3; spin 500000'
 */
#pragma D option quiet

kinst::sys_wait:0
{
	self->since = timestamp;
}

kinst::syscall:0
/self->since/
{
	@number[execname] = count();
	@mean[execname] = avg((timestamp - self->since) / 1000);
	@most[execname] = max((timestamp - self->since) / 1000);
	self->since = 0;
}

END
{
	printf("%-8s %6s %6s %6s\n", "PROGRAM", "NUMBER", "MEAN", "MOST");
	printa("%-8s %@6d %@6d %@6d\n", @number, @mean, @most);
}
